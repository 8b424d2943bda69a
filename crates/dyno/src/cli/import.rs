//! The command line of `dyno import`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};

/// Arguments of `dyno import`.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("existing").args(["append", "replace"])))]
#[command(group(ArgGroup::new("names").args(["header", "no_header"])))]
pub struct ImportArgs {
    /// The file: CSV, TSV or another delimited text, plain or packed by gzip or zstd; - for standard input
    pub file: PathBuf,
    /// Where to: a SQLite database's path, or postgres://, mariadb:// or mysql://user@host/database.
    /// Passwords also come from the environment, ~/.pgpass and ~/.my.cnf
    // Text, and read later: what is wrong with a value that is read here is told with the value.
    #[arg(long, value_name = "DATABASE")]
    pub into: String,
    /// The table [default: by the file's name]
    #[arg(long, value_name = "NAME")]
    pub table: Option<String>,
    /// Add the rows to a table that is there, whose types then hold
    #[arg(long)]
    pub append: bool,
    /// Put the new table in the place of one that is there
    #[arg(long)]
    pub replace: bool,
    /// The types: INTEGER,TEXT,… in order, or column:TYPE,… for some [default: inferred]
    #[arg(long, value_name = "TYPES")]
    pub types: Option<String>,
    /// What is between fields: a character, or tab [default: guessed]
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter)]
    pub delimiter: Option<u8>,
    /// The first record names the columns [default: guessed]
    #[arg(long)]
    pub header: bool,
    /// The first record is data
    #[arg(long)]
    pub no_header: bool,
    /// A quote is an ordinary letter
    #[arg(long)]
    pub no_quotes: bool,
    /// A spelling of NULL; may be given more than once. In columns of numbers an empty field is NULL anyway
    #[arg(long = "null", value_name = "TEXT")]
    pub nulls: Vec<String>,
    /// The text's encoding: latin1, windows-1252, utf-16le … [default: by its byte order mark, else utf-8]
    #[arg(long, value_name = "NAME")]
    pub encoding: Option<String>,
    /// Columns of the primary key, comma-separated
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub primary_key: Vec<String>,
    /// Columns of an index, comma-separated; made after the load. May be given more than once
    #[arg(long = "index", value_name = "COLUMNS")]
    pub indexes: Vec<String>,
    /// What to do with a bad row
    #[arg(long, value_enum, default_value_t = OnErrorArg::Stop)]
    pub on_error: OnErrorArg,
    /// Where rejected rows go, with their reasons [default: TABLE.rejects.csv]
    #[arg(long, value_name = "FILE")]
    pub rejects: Option<PathBuf>,
    /// What the import is to survive once it is done
    #[arg(long, value_enum, default_value_t = SafetyArg::PowerLoss)]
    pub safety: SafetyArg,
    /// Connections that fill a new table of PostgreSQL at the same time; with 1 all is one transaction
    /// [default: one more than there are processors here, at most 4]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u8).range(1..=64))]
    pub connections: Option<u8>,
    /// Show the table and the statements; load nothing
    #[arg(long, conflicts_with = "explain")]
    pub dry_run: bool,
    /// Show what is chosen and why, and programs in SQL, C and Python that do the same; load nothing
    #[arg(long)]
    pub explain: bool,
    /// No progress, and no report
    #[arg(long, short)]
    pub quiet: bool,
}

/// What to do with a bad row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OnErrorArg {
    /// Stop at the first one and load nothing
    Stop,
    /// Leave bad rows out and write them to a file
    Reject,
}

/// What an import is to survive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SafetyArg {
    /// A crash while it loads may ruin a database that was there
    None,
    /// The process being killed
    ProcessCrash,
    /// The machine losing power
    PowerLoss,
}

/// Reads a delimiter: one byte that is neither a quote nor an end of line.
fn delimiter(text: &str) -> Result<u8, String> {
    match text {
        "tab" | "\\t" => Ok(b'\t'),
        _ => match text.as_bytes() {
            [byte] if byte.is_ascii() && !b"\"\r\n".contains(byte) => Ok(*byte),
            _ => Err("write one ASCII character that is no quote, or tab".to_owned()),
        },
    }
}
