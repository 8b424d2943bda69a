//! Texts that a library in C gives.

use std::ffi::{CStr, c_char};

/// A C string as text.
///
/// # Safety
/// It ends in NUL.
pub unsafe fn text(string: *const c_char) -> String {
    // SAFETY: as the caller promises.
    unsafe { CStr::from_ptr(string) }.to_string_lossy().into_owned()
}
