//! The command line of `dyno import`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};

use super::values::size;

/// Arguments of `dyno import`.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("existing").args(["append", "replace"])))]
#[command(group(ArgGroup::new("names").args(["header", "no_header"])))]
pub struct ImportArgs {
    /// The file: CSV, TSV, another delimited text or JSON Lines, plain or compressed by gzip or zstd; Parquet; - for
    /// standard input; * and ? stand for letters of names, where no shell has expanded them. The rows of several files go
    /// into one table, in this order; each file has the columns of the first
    #[arg(required_unless_present = "clean_up", value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The database: the path of a SQLite file, or postgres://, mariadb:// or mysql://user@host/database.
    /// dyno also takes passwords from the environment, ~/.pgpass and ~/.my.cnf
    // Text, and read later: clap's messages would quote a value that is wrong, with its password.
    #[arg(long, value_name = "DATABASE")]
    pub into: OsString,
    /// The table [default: the name of the file]
    #[arg(long, value_name = "NAME")]
    pub table: Option<String>,
    /// Add the rows to a table that exists; its types decide what a row may hold
    #[arg(long)]
    pub append: bool,
    /// With --append, what to do with a row whose key is in the table already [default: it is a bad row]
    #[arg(long, value_enum, default_value_t = OnConflictArg::Error, hide_default_value = true, value_name = "WHAT")]
    pub on_conflict: OnConflictArg,
    /// The columns of that key, comma-separated [default: the table's primary key]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub key: Vec<String>,
    /// Replace a table that exists by the new one
    #[arg(long)]
    pub replace: bool,
    /// The types: INTEGER,TEXT,… in order, or column:TYPE,… for some [default: inferred]. DATE(DD.MM.YYYY), REAL(,) and
    /// BOOLEAN also say how the fields are written
    #[arg(long, value_name = "TYPES")]
    pub types: Option<String>,
    /// A file with the types: a column and its type on each line, as in `id INTEGER`; lines that begin with # are
    /// comments
    #[arg(long, value_name = "FILE", conflicts_with = "types")]
    pub schema: Option<PathBuf>,
    /// The columns to load, comma-separated, in the table's order; NAME=NEW renames one [default: all]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub columns: Vec<String>,
    /// The columns to leave out, comma-separated
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub skip_columns: Vec<String>,
    /// Add a column of this name that holds the name of each row's file
    #[arg(long, value_name = "NAME")]
    pub file_column: Option<String>,
    /// The character between fields, or the word tab [default: guessed]
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter)]
    pub delimiter: Option<u8>,
    /// The first record names the columns [default: guessed]
    #[arg(long)]
    pub header: bool,
    /// The first record is data
    #[arg(long)]
    pub no_header: bool,
    /// The character that opens and closes a field
    #[arg(long, value_name = "CHARACTER", value_parser = mark, default_value = "\"")]
    pub quote: u8,
    /// The character that escapes a quote within quotes [default: quotes are doubled]
    #[arg(long, value_name = "CHARACTER", value_parser = mark, conflicts_with = "no_quotes")]
    pub escape: Option<u8>,
    /// Treat quotes as ordinary characters
    #[arg(long, conflicts_with = "quote")]
    pub no_quotes: bool,
    /// The character that begins a comment line [default: none]
    #[arg(long, value_name = "CHARACTER", value_parser = mark)]
    pub comment: Option<u8>,
    /// Leave out this many lines at the beginning of the file
    #[arg(long, value_name = "LINES", default_value_t = 0)]
    pub skip: u64,
    /// A text that means NULL; you may give several [default: none]. In columns of numbers an empty field is always NULL
    #[arg(long = "null", value_name = "TEXT")]
    pub nulls: Vec<String>,
    /// A text that means NULL in one column alone; you may give several
    #[arg(long = "null-in", value_name = "COLUMN=TEXT", value_parser = null_in)]
    pub nulls_of: Vec<(String, String)>,
    /// The text's encoding: latin1, windows-1252, utf-16le … [default: by its byte order mark, else utf-8]
    #[arg(long, value_name = "NAME")]
    pub encoding: Option<String>,
    /// The columns of the primary key, comma-separated
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub primary_key: Vec<String>,
    /// The columns of an index, comma-separated; dyno makes it after the load. You may give several
    #[arg(long = "index", value_name = "COLUMNS")]
    pub indexes: Vec<String>,
    /// The treatment of bad rows
    #[arg(long, value_enum, default_value_t = OnErrorArg::Stop)]
    pub on_error: OnErrorArg,
    /// The file for rejected rows and their reasons [default: TABLE.rejects.csv]
    #[arg(long, value_name = "FILE")]
    pub rejects: Option<PathBuf>,
    /// The most bad rows to leave out; if there is one more, dyno loads nothing [default: any number, but
    /// not all rows]
    #[arg(long, value_name = "ROWS")]
    pub max_rejects: Option<u64>,
    /// Seconds to wait for other programs that have the database or the table locked [default: 5 for SQLite; for a
    /// server as long as it is set to wait]
    #[arg(long, value_name = "SECONDS")]
    pub wait: Option<u64>,
    /// The events that loaded rows must survive once the import is done
    #[arg(long, value_enum, default_value_t = SafetyArg::PowerLoss)]
    pub safety: SafetyArg,
    /// The most memory to use. Half of it is for sorting rows and indexes, which otherwise go to temporary files; a
    /// record may take a quarter
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "512MiB")]
    pub memory: u64,
    /// Connections that fill a new table of PostgreSQL at the same time; 1 makes it one transaction
    /// [default: one more than the processors here, at most 4]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u8).range(1..=64))]
    pub connections: Option<u8>,
    /// Load nothing, and remove from the server what killed imports left there
    #[arg(long, conflicts_with = "files")]
    pub clean_up: bool,
    /// Show the file's shape, the types with the values that decided them and the statements, and load nothing
    #[arg(long, conflicts_with = "explain")]
    pub dry_run: bool,
    /// Show what dyno chooses and why, with programs in SQL, C and Python that do the same, and load nothing
    #[arg(long)]
    pub explain: bool,
    /// Show no progress and no summary
    #[arg(long, short)]
    pub quiet: bool,
}

/// The treatment of a bad row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OnErrorArg {
    /// Stop at the first one and load nothing
    Stop,
    /// Leave bad rows out, and write them to a file
    Reject,
}

/// The treatment of a row whose key is in the table already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OnConflictArg {
    /// Treat it as a bad row
    Error,
    /// Leave the table's row as it is
    Skip,
    /// Give the table's row the values of the file's row
    Update,
}

/// The events that the imported rows must survive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SafetyArg {
    /// A crash during the import may ruin a database that existed before
    None,
    /// A crash of the process
    ProcessCrash,
    /// A power cut
    PowerLoss,
}

/// Reads a character that marks something in a file.
fn mark(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        [byte] if byte.is_ascii_graphic() => Ok(*byte),
        _ => Err("write one ASCII character".to_owned()),
    }
}

/// Reads what means NULL in a column.
fn null_in(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('=').filter(|(column, _)| !column.is_empty());
    let (column, text) = parts.ok_or("write COLUMN=TEXT, as code=NA")?;
    Ok((column.to_owned(), text.to_owned()))
}

/// Reads a delimiter: one byte that is neither a quote nor an end of line.
fn delimiter(text: &str) -> Result<u8, String> {
    match text {
        "tab" | "\\t" => Ok(b'\t'),
        _ => match text.as_bytes() {
            [byte] if byte.is_ascii() && !b"\"\r\n".contains(byte) => Ok(*byte),
            _ => Err("write one ASCII character other than a quote, or the word tab".to_owned()),
        },
    }
}
