//! Marks in the recording at which the program's work begins and ends. dyno writes them where the program reports its
//! commits.

use std::fs::File;
use std::io::Write;

use anyhow::{Context, Result};

use crate::disk::log::Entry;

/// A line that dyno itself writes between the lines of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhaseMarker {
    /// The program's work begins here. A subject that sets something up for the program, and makes it durable, writes
    /// this mark once more when that is done.
    Begins,
    /// The program has closed its database in order, and dyno is about to start it again.
    Closed,
    /// The program's work ends here.
    Ends,
}

impl PhaseMarker {
    /// In one write, which is one entry of the log.
    pub fn text(self) -> &'static [u8] {
        match self {
            PhaseMarker::Begins => b"\ndyno: work begins\n",
            PhaseMarker::Closed => b"\ndyno: work is closed\n",
            PhaseMarker::Ends => b"\ndyno: work ends\n",
        }
    }

    /// Says it where the program says that it commits.
    ///
    /// # Errors
    /// The recorder does not answer.
    pub fn set(self, mut output: &File) -> Result<()> {
        output.write_all(self.text()).context("the recorder does not answer")
    }

    /// The position of the last such mark.
    pub fn place(self, entries: &[Entry]) -> Option<usize> {
        entries.iter().rposition(|entry| self.is(entry))
    }

    /// The position of the first such mark.
    pub fn first(self, entries: &[Entry]) -> Option<usize> {
        entries.iter().position(|entry| self.is(entry))
    }

    /// True if a line is this mark's.
    pub fn is_line(self, line: &str) -> bool {
        line.as_bytes() == self.text().trim_ascii()
    }

    /// True if an entry is this mark.
    pub fn is(self, entry: &Entry) -> bool {
        matches!(entry, Entry::Text(text) if text == self.text())
    }
}
