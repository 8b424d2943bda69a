//! The user's request.

use encoding_rs::Encoding;

use crate::input::file_and_line;
use crate::rejects::OnError;
use crate::shape::Choose;
use crate::source::Source;
use crate::table::Types;

/// The user's request.
#[derive(Debug, Clone)]
pub struct Request {
    /// The file, or the first one.
    pub source: Source,
    /// Other files, whose rows follow.
    pub more: Vec<Source>,
    /// The columns that are taken.
    pub choose: Choose,
    /// Between fields; guessed if not given.
    pub delimiter: Option<u8>,
    /// True if the first record names the columns; guessed if not given.
    pub header: Option<bool>,
    /// The character that opens and closes a field; None if quotes are ordinary letters.
    pub quote: Option<u8>,
    /// Within quotes, makes a quote behind it a letter; quotes are doubled if not given.
    pub escape: Option<u8>,
    /// Begins lines that are no records.
    pub comment: Option<u8>,
    /// Lines before the first record, or the header.
    pub skip: u64,
    /// The text's encoding; by its byte order mark or UTF-8 if not given.
    pub encoding: Option<&'static Encoding>,
    /// Spellings of NULL in every column.
    pub nulls: Vec<String>,
    /// Spellings of NULL in one column, with its name.
    pub nulls_of: Vec<(String, String)>,
    /// The table; by the file's name if not given.
    pub table: Option<String>,
    /// Types of the columns.
    pub types: Types,
    /// The treatment of an existing table.
    pub if_exists: IfExists,
    /// Columns of the primary key.
    pub primary_key: Vec<String>,
    /// Indexes, each of some columns.
    pub indexes: Vec<Vec<String>>,
    /// Bytes of memory that the import may take. Half of it is for rows and indexes that are sorted.
    pub memory: usize,
    /// The treatment of a bad row.
    pub on_error: OnError,
    /// The treatment of a row whose key is in the table already.
    pub on_conflict: OnConflict,
    /// The columns of that key; the table's primary key if empty.
    pub key: Vec<String>,
}

/// The treatment of a row whose key is in the table already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnConflict {
    /// It is a bad row.
    Error,
    /// Leave the table's row as it is.
    Skip,
    /// Give the table's row the values of the file's.
    Update,
}

/// The rights to read and write a file that its owner alone has.
pub const OWNERS: u32 = 0o600;

/// Bytes of memory that an import takes unless the request says otherwise.
const MEMORY: usize = 512 << 20;

impl Request {
    /// A request that leaves to the file what it can: a new table of all columns, with inferred types.
    pub fn new(source: Source) -> Request {
        Request {
            source,
            more: Vec::new(),
            choose: Choose::default(),
            delimiter: None,
            header: None,
            quote: Some(b'"'),
            escape: None,
            comment: None,
            skip: 0,
            encoding: None,
            nulls: Vec::new(),
            nulls_of: Vec::new(),
            table: None,
            types: Types::Inferred,
            if_exists: IfExists::Fail,
            primary_key: Vec::new(),
            indexes: Vec::new(),
            memory: MEMORY,
            on_error: OnError::Stop,
            on_conflict: OnConflict::Error,
            key: Vec::new(),
        }
    }

    /// All files.
    pub fn sources(&self) -> impl Iterator<Item = &Source> {
        [&self.source].into_iter().chain(&self.more)
    }

    /// The file's name and the line of a place.
    pub fn place(&self, place: u64) -> String {
        let (file, line) = file_and_line(place);
        let name = self.sources().nth(file).map_or_else(String::new, Source::name);
        format!("{name}:{line}")
    }

    /// True if all files can be read a second time.
    pub fn is_repeatable(&self) -> bool {
        self.sources().all(Source::is_repeatable)
    }
}

/// The treatment of an existing table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfExists {
    /// Refuse.
    Fail,
    /// Add the rows to it.
    Append,
    /// Put the new one in its place.
    Replace,
}
