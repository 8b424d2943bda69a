//! The file that LOAD DATA LOCAL INFILE reads: rows in memory, and never a file of this machine.
//!
//! It is the server that asks the client for a file, and one that is not what it seems could ask for any. So
//! a connection refuses from the beginning, and serves nothing but rows, while they are being loaded.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::{ptr, slice};

use dyno_runner::server::Lines;

use crate::connection::Connection;

/// What a server is told that asks for a file at another time.
const REFUSAL: &CStr = c"dyno sends no files";
/// The number of an error that has none.
const UNKNOWN_ERROR: c_int = 2000;

/// Sends no file, whatever the server asks for.
pub fn refuse(connection: &Connection) {
    set(connection, ptr::null_mut());
}

/// Sends these lines while `work` goes on.
pub fn serve<T>(connection: &Connection, mut lines: Lines, work: impl FnOnce() -> T) -> T {
    let lines: *mut Lines = &mut lines;
    set(connection, lines.cast());
    let result = work();
    refuse(connection);
    result
}

fn set(connection: &Connection, lines: *mut c_void) {
    // SAFETY: the connection is there, and the functions take each other's pointers.
    unsafe {
        (connection.api().set_local_infile_handler)(connection.raw(), begin, read, end, explain, lines);
    }
}

unsafe extern "C" fn begin(file: *mut *mut c_void, _name: *const c_char, lines: *mut c_void) -> c_int {
    // SAFETY: the library gives a place for the pointer.
    unsafe { *file = lines };
    lines.is_null().into()
}

unsafe extern "C" fn read(file: *mut c_void, buffer: *mut c_char, length: c_uint) -> c_int {
    // SAFETY: `begin` has left a pointer to lines that live while the server reads them, and the library
    // gives memory of that length.
    unsafe {
        let buffer = slice::from_raw_parts_mut(buffer.cast::<u8>(), length as usize);
        (*file.cast::<Lines>()).read(buffer) as c_int
    }
}

unsafe extern "C" fn end(_file: *mut c_void) {}

unsafe extern "C" fn explain(_file: *mut c_void, buffer: *mut c_char, length: c_uint) -> c_int {
    let text = REFUSAL.to_bytes_with_nul();
    if text.len() <= length as usize {
        // SAFETY: the library gives memory of that length, and the text fits.
        unsafe { ptr::copy_nonoverlapping(text.as_ptr().cast(), buffer, text.len()) };
    }
    UNKNOWN_ERROR
}
