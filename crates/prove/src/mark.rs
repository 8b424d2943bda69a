//! Where the work begins and ends, among all that is recorded: dyno says so itself, where the program says that it commits.

use std::fs::File;
use std::io::Write;

use anyhow::{Context, Result};

use crate::disk::log::Entry;

/// What dyno itself says between the lines of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// What comes after it is the program's work. Who has to set something up for the program, and to make it durable,
    /// says this once more when that is done.
    Begins,
    /// The program has closed its database in order, and dyno is about to start it again.
    Closed,
    /// What comes after it is not.
    Ends,
}

impl Mark {
    /// In one write, which is one entry of the log.
    pub fn text(self) -> &'static [u8] {
        match self {
            Mark::Begins => b"\ndyno: work begins\n",
            Mark::Closed => b"\ndyno: work is closed\n",
            Mark::Ends => b"\ndyno: work ends\n",
        }
    }

    /// Says it where the program says that it commits.
    ///
    /// # Errors
    /// The recorder does not answer.
    pub fn set(self, mut output: &File) -> Result<()> {
        output.write_all(self.text()).context("the recorder does not answer")
    }

    /// Where it was said last.
    pub fn place(self, entries: &[Entry]) -> Option<usize> {
        entries.iter().rposition(|entry| self.is(entry))
    }

    /// Where it was said first.
    pub fn first(self, entries: &[Entry]) -> Option<usize> {
        entries.iter().position(|entry| self.is(entry))
    }

    /// Whether a line is this mark's.
    pub fn is_line(self, line: &str) -> bool {
        line.as_bytes() == self.text().trim_ascii()
    }

    /// Whether an entry is this mark.
    pub fn is(self, entry: &Entry) -> bool {
        matches!(entry, Entry::Text(text) if text == self.text())
    }
}
