//! The file that LOAD DATA LOCAL INFILE reads: rows in memory, and never a file of this machine.
//!
//! It is the server that asks the client for a file, and one that is not what it seems could ask for any. So
//! a connection refuses from the beginning, and serves nothing but rows, while they are being loaded.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::{ptr, slice};

use anyhow::{Error, Result};

use super::api::{Api, InfileRead, Mysql};

/// The error message for a server that asks for a file when no rows are being loaded.
const REFUSAL: &CStr = c"dyno sends no files";
/// The error number for errors without one of MySQL's numbers.
const UNKNOWN_ERROR: c_int = 2000;

/// The source of the bytes that LOAD DATA reads.
struct File<F> {
    /// Fills memory and returns how many bytes it has put there, 0 at the end.
    fill: F,
    /// The error of the last call of `fill`.
    error: Option<Error>,
}

/// Sends no file, whatever the server asks for.
///
/// # Safety
/// The pointer is a connection of the library, open or not.
pub(super) unsafe fn refuse(api: &Api, mysql: *mut Mysql) {
    // SAFETY: as the caller promises; without a file nothing is kept.
    unsafe { set(api, mysql, read_nothing, ptr::null_mut()) };
}

/// Sends what `fill` gives, whatever the name of the file that the server asks for, while `load` executes the statement.
/// `fill` puts the next bytes into the memory that it is given and returns how many, 0 at the end. If it fails, the
/// error is that of `fill`.
///
/// # Safety
/// The pointer is an open connection of the library.
pub(super) unsafe fn serve<F: FnMut(&mut [u8]) -> Result<usize>, T>(
    (api, mysql): (&Api, *mut Mysql),
    fill: F,
    load: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let mut file = File { fill, error: None };
    let pointer: *mut File<F> = &mut file;
    // SAFETY: as the caller promises; the library has the pointer until files are refused again.
    unsafe { set(api, mysql, read::<F>, pointer.cast()) };
    let loaded = load();
    // SAFETY: the same.
    unsafe { refuse(api, mysql) };
    file.error.map_or(loaded, Err)
}

unsafe fn set(api: &Api, mysql: *mut Mysql, read: InfileRead, file: *mut c_void) {
    // SAFETY: the connection is there, and the functions take each other's pointers.
    unsafe { (api.set_local_infile_handler)(mysql, begin, read, end, explain, file) };
}

unsafe extern "C" fn begin(to: *mut *mut c_void, _name: *const c_char, file: *mut c_void) -> c_int {
    // SAFETY: the library gives a place for the pointer.
    unsafe { *to = file };
    file.is_null().into()
}

unsafe extern "C" fn read<F: FnMut(&mut [u8]) -> Result<usize>>(
    file: *mut c_void,
    buffer: *mut c_char,
    length: c_uint,
) -> c_int {
    // SAFETY: `begin` has left a pointer to a file of this type that lives while the server reads it, and
    // the library gives memory of that length.
    let (file, buffer) = unsafe {
        (&mut *file.cast::<File<F>>(), slice::from_raw_parts_mut(buffer.cast::<u8>(), length as usize))
    };
    match (file.fill)(buffer) {
        Ok(length) => length as c_int,
        Err(error) => {
            file.error = Some(error);
            -1
        }
    }
}

/// No file was begun.
unsafe extern "C" fn read_nothing(_file: *mut c_void, _buffer: *mut c_char, _length: c_uint) -> c_int {
    -1
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
