//! The errors of RocksDB's calls.

use std::ffi::{CStr, c_char};

use anyhow::{Error, Result, anyhow};

use crate::api::Api;

/// Turns what a call has set into an error.
#[inline]
pub fn complaint(api: &Api, error: *mut c_char) -> Result<()> {
    if error.is_null() { Ok(()) } else { Err(explain(api, error)) }
}

/// The message of RocksDB.
#[cold]
fn explain(api: &Api, error: *mut c_char) -> Error {
    // SAFETY: the library made the string, which ends in NUL and is freed once.
    let text = unsafe {
        let text = CStr::from_ptr(error).to_string_lossy().into_owned();
        (api.free)(error.cast());
        text
    };
    anyhow!("{text} (RocksDB)")
}
