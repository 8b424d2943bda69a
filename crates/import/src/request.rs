//! What the user asks.

use encoding_rs::Encoding;

use crate::rejects::OnError;
use crate::source::Source;
use crate::table::Types;

/// What the user asks.
#[derive(Debug, Clone)]
pub struct Request {
    /// The file.
    pub source: Source,
    /// Between fields; guessed if not given.
    pub delimiter: Option<u8>,
    /// Whether the first record names the columns; guessed if not given.
    pub header: Option<bool>,
    /// Whether fields may be quoted.
    pub quotes: bool,
    /// The text's encoding; by its byte order mark or UTF-8 if not given.
    pub encoding: Option<&'static Encoding>,
    /// Spellings of NULL.
    pub nulls: Vec<String>,
    /// The table; by the file's name if not given.
    pub table: Option<String>,
    /// Types of the columns.
    pub types: Types,
    /// What to do with a table that is there.
    pub if_exists: IfExists,
    /// Columns of the primary key.
    pub primary_key: Vec<String>,
    /// Indexes, each of some columns.
    pub indexes: Vec<Vec<String>>,
    /// Bytes of memory that the import may take. Half of it is for rows and indexes that are sorted.
    pub memory: usize,
    /// What to do with a bad row.
    pub on_error: OnError,
}

/// What to do with a table that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfExists {
    /// Refuse.
    Fail,
    /// Add the rows to it.
    Append,
    /// Put the new one in its place.
    Replace,
}
