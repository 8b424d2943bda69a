//! The library's messages about calls that failed.

use std::ffi::{CStr, c_char, c_int};
use std::sync::Mutex;

use anyhow::Error;

use crate::api::{self, Api, Env};

/// The library's words on an error besides its code.
static SAID: Mutex<String> = Mutex::new(String::new());

/// An error of the library.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub struct BdbError {
    code: c_int,
    text: String,
}

impl BdbError {
    /// Returns true if it was in the way of others that were in its way, and may succeed if it is tried again.
    pub fn is_retryable(&self) -> bool {
        self.code == api::LOCK_DEADLOCK
    }
}

/// The meaning of a code, in the library's words, with advice.
#[cold]
pub fn explain(api: &Api, code: c_int) -> Error {
    // SAFETY: it returns a constant string or one of strerror's.
    let text = unsafe { CStr::from_ptr((api.strerror)(code)) }.to_string_lossy();
    let said = SAID.lock().map(|mut said| std::mem::take(&mut *said)).unwrap_or_default();
    let said = if said.is_empty() { said } else { format!(": {said}") };
    let advice = match code {
        api::OLD_VERSION | api::VERSION_MISMATCH => {
            "; another version wrote it: a trial begins in an empty folder"
        }
        _ if code == nix::Error::ENOMEM as c_int && said.to_lowercase().contains("lock") => {
            "; ask for more, as lk_max_locks=NUMBER"
        }
        _ => "",
    };
    Error::new(BdbError { code, text: format!("{text} (Berkeley DB error {code}){said}{advice}") })
}

/// Keeps the library's messages: the first states the cause, and the last only its consequence.
pub unsafe extern "C" fn hear(_: *const Env, _: *const c_char, text: *const c_char) {
    // SAFETY: the library hands over a string that ends in NUL.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
    if let Ok(mut said) = SAID.lock() {
        if !said.is_empty() {
            said.push_str("; ");
        }
        said.push_str(&text);
    }
}
