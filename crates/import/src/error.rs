//! The errors by which the caller decides.

use std::fmt;
use std::time::Duration;

/// An error in what was asked or in the file: nothing was loaded.
#[derive(Debug, thiserror::Error)]
#[error("{0:#}")]
pub struct BadInput(pub anyhow::Error);

/// The user asked to stop: nothing was loaded.
#[derive(Debug, thiserror::Error)]
#[error("interrupted: nothing was loaded")]
pub struct Interrupted;

/// Another program has the database locked: nothing was loaded, and the file may be right.
#[derive(Debug, thiserror::Error)]
#[error("{}: dyno waited {} s for it, and --wait SECONDS waits longer; nothing was loaded", self.said(), .waited.as_secs())]
pub struct Locked {
    /// The database or the table.
    pub what: String,
    /// The programs that have it locked, as far as they are known.
    pub by: Vec<String>,
    /// The time that dyno waited.
    pub waited: Duration,
}

impl Locked {
    /// Says what is locked, and by which programs.
    pub fn said(&self) -> String {
        let by = if self.by.is_empty() { "" } else { " by " };
        format!("{} is locked{by}{}", self.what, self.by.join(" and "))
    }
}

/// The connection to a server ended at the moment of the commit.
#[derive(Debug, thiserror::Error)]
#[error(
    "the connection was lost at the commit, so it is not known whether the rows are in the table: look before you import \
     them again"
)]
pub struct Lost;

/// A server refused a row when it had it: the line of the file and the server's reason.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: the server refuses the row: {reason}; nothing was loaded")]
pub struct Refused {
    /// The line on which the record begins.
    pub line: u64,
    /// The record's number among all records, from 0.
    pub record: u64,
    /// The server's message.
    pub reason: String,
}

/// Marks errors as those of the input.
pub trait Input<T> {
    /// The same result with its error marked.
    fn input(self) -> anyhow::Result<T>;
}

impl<T> Input<T> for anyhow::Result<T> {
    fn input(self) -> anyhow::Result<T> {
        let is_other = |error: &anyhow::Error| error.is::<BadInput>() || error.is::<Locked>();
        self.map_err(|error| if is_other(&error) { error } else { BadInput(error).into() })
    }
}

/// A row that cannot be loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadRow {
    /// The line on which the record begins, from 1; of a format without lines, the record.
    pub line: u64,
    /// The column's name, where one is to blame.
    pub column: Option<String>,
    /// The reason, to be read after the text.
    pub reason: String,
    /// The field's text, or the record's.
    pub text: Vec<u8>,
}

/// Most characters of a text that a message shows.
const SHOWN: usize = 60;
/// Most characters of a statement.
const SHOWN_SQL: usize = 200;

/// A statement as a message shows it: one that names 30,000 columns would hide what is wrong.
pub fn shown(sql: &str) -> String {
    match sql.char_indices().nth(SHOWN_SQL) {
        Some((end, _)) => format!("{}…", &sql[..end]),
        None => sql.to_owned(),
    }
}

impl fmt::Display for BadRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(column) = &self.column {
            write!(f, "column \"{column}\": ")?;
        }
        let text = String::from_utf8_lossy(&self.text);
        let shown: String = text.chars().take(SHOWN).collect();
        let more = if shown.len() < text.len() { "…" } else { "" };
        write!(f, "\"{}{more}\" {}", shown.escape_debug(), self.reason)
    }
}
