//! Inputs that are arrays: flat files of cells of one width, without any header or separator, so that a
//! mapped file is the array and no language needs a library to read it.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A flat file of cells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cells {
    /// The file: `count` × `bytes` bytes long.
    pub file: PathBuf,
    /// Cells in the file.
    pub count: u64,
    /// The width of each, in bytes.
    pub bytes: u64,
}

/// A flat file of rows, row after row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RowFile {
    /// The file: `count` × the sum of the columns' widths long.
    pub file: PathBuf,
    /// Rows in the file.
    pub count: u64,
    /// The cells of each row, in order. Every cell is text that fills its width: ASCII letters and
    /// digits.
    pub columns: Vec<Column>,
}

/// A column of a row file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The width of its cells, in bytes.
    pub bytes: u64,
}

/// A column that a file of delimited records fills.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileColumn {
    /// Its name.
    pub name: String,
    /// The type of its fields.
    pub kind: FieldKind,
}

/// The type of the fields of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FieldKind {
    /// Text, perhaps empty.
    Text,
    /// A whole number of 32 bits, in decimal as it is printed: no plus, no leading zeros.
    Integer,
}

/// Keys and values in two files, a pair by position.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pairs {
    /// The keys.
    pub keys: Cells,
    /// The values, one for each key; absent if keys are only looked up in vain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Cells>,
}

/// One map from keys to values: a table, a tree, a column family.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Store {
    /// Its name: letters and digits.
    pub name: String,
    /// The type of its keys.
    pub key: KeyKind,
}

/// The type of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KeyKind {
    /// Whole numbers from 0 to 2⁶³ − 1, each in 8 bytes, the most significant first: so their order is
    /// the same as numbers and as bytes, for engines that have only bytes.
    Integer,
    /// Bytes.
    Blob,
}
