//! Rows to the server by LOAD DATA LOCAL INFILE, from memory and never from a file.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr;

use anyhow::{Error, Result};

use crate::api::OPT_LOCAL_INFILE;
use crate::connection::Connection;

/// Fills a buffer; 0 at the end.
pub type Fill<'a> = &'a mut dyn FnMut(&mut [u8]) -> Result<usize>;

struct Infile<'a> {
    fill: Fill<'a>,
    error: Option<Error>,
}

impl Connection {
    /// Executes a LOAD DATA LOCAL INFILE whose file is what `fill` gives, and returns how many rows came
    /// to the table.
    pub fn load_data(&self, sql: &str, fill: Fill) -> Result<u64> {
        let mut infile = Infile { fill, error: None };
        let pointer: *mut Infile = &mut infile;
        self.set_number(OPT_LOCAL_INFILE, 1)?;
        // SAFETY: the connection is open; the handlers use the pointer within the query alone.
        let code = unsafe {
            (self.api.set_local_infile_handler)(self.mysql, init, read, end, error, pointer.cast());
            (self.api.real_query)(self.mysql, sql.as_ptr().cast(), sql.len() as _)
        };
        // No other query may ask for anything.
        self.set_number(OPT_LOCAL_INFILE, 0)?;
        match infile.error {
            Some(error) => Err(error),
            None if code != 0 => Err(self.error()),
            // SAFETY: the connection is open.
            None => Ok(unsafe { (self.api.affected_rows)(self.mysql) }),
        }
    }
}

unsafe extern "C" fn init(to: *mut *mut c_void, _: *const c_char, infile: *mut c_void) -> c_int {
    // SAFETY: the library gives a place for what the other handlers get. The name does not matter.
    unsafe { *to = infile };
    0
}

unsafe extern "C" fn read(infile: *mut c_void, buffer: *mut c_char, length: c_uint) -> c_int {
    // SAFETY: what `init` gave, and a buffer of this length.
    let (infile, buffer) = unsafe {
        ptr::write_bytes(buffer, 0, length as usize);
        (&mut *infile.cast::<Infile>(), std::slice::from_raw_parts_mut(buffer.cast(), length as usize))
    };
    match (infile.fill)(buffer) {
        Ok(count) => count as c_int,
        Err(error) => {
            infile.error = Some(error);
            -1
        }
    }
}

unsafe extern "C" fn end(_: *mut c_void) {}

unsafe extern "C" fn error(_: *mut c_void, message: *mut c_char, length: c_uint) -> c_int {
    if length > 0 {
        // SAFETY: there is room for one byte. The reason itself is kept elsewhere.
        unsafe { *message = 0 };
    }
    2000
}
