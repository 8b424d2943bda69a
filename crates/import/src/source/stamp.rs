//! The state of a file at a moment, by which an import knows that it reads one file and no other.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

use anyhow::{Result, ensure};

use crate::error::Input;

/// A file as it was at a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    file: (u64, u64),
    length: u64,
    mode: u32,
    /// The times of the last write and of the last change, in seconds and nanoseconds. A program may set the first back.
    at: [(i64, i64); 2],
}

impl Stamp {
    /// The state of a regular file; None of anything else.
    pub fn of(data: &Metadata) -> Option<Stamp> {
        data.is_file().then(|| Stamp {
            file: (data.dev(), data.ino()),
            length: data.len(),
            mode: data.mode(),
            at: [(data.mtime(), data.mtime_nsec()), (data.ctime(), data.ctime_nsec())],
        })
    }

    /// The rights that the file gives.
    pub fn rights(&self) -> u32 {
        self.mode
    }
}

/// Refuses a file that is another than it was: its rows may be those of neither state.
///
/// # Errors
/// It is not the same.
pub fn check_stamp(found: Option<&Stamp>, planned: Option<&Stamp>, name: &str) -> Result<()> {
    let check = || -> Result<()> {
        ensure!(found == planned, "{name} changed while it was read; nothing was loaded");
        Ok(())
    };
    check().input()
}
