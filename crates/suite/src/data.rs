//! Sets of data: what the arrays and files hold that tests load. The plan makes them.

use anyhow::{Context, Result, bail, ensure};
use dyno_protocol::{Column, FileColumn, KeyKind};
use dyno_record::Parameters;
use serde::Deserialize;
use toml::Spanned;

use super::parameters::parse_count;

/// The widest cell and the most columns; far beyond what any engine was asked for.
const WIDEST: u64 = 1 << 20;

/// A set of data.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "Written")]
pub struct Data {
    /// The number of rows or pairs: a number, or the name of a parameter.
    count: Spanned<toml::Value>,
    /// The shape of each row or pair.
    pub shape: Shape,
    /// Of pairs: the share of each value that repeats the rest of it: a number, or the name of a parameter; `None`: none.
    compressibility: Option<toml::Value>,
}

/// The shape of a row or a pair.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// Rows of columns of one width, filled with random letters and digits.
    Rows {
        /// The number of columns.
        columns: u64,
        /// The width of each, in bytes.
        bytes: u64,
    },
    /// Random keys, each with a random value.
    Pairs {
        /// The kind of the keys.
        key: KeyKind,
        /// The width of the keys, in bytes; 8 for integers.
        key_bytes: u64,
        /// The width of the values, in bytes.
        value_bytes: u64,
    },
    /// A file of delimited records.
    File {
        /// The kind of its records.
        like: RecordKind,
        /// The columns that it fills, in its order.
        fields: Vec<FileColumn>,
        /// The character between fields.
        delimiter: char,
    },
}

/// The kind of records in a file that dyno makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecordKind {
    /// Stops of vehicles along their routes, in seven fields: route, branch, version, stop, vehicle, day, time.
    Timetable,
}

impl RecordKind {
    /// The number of fields of a record.
    fn fields(self) -> usize {
        match self {
            RecordKind::Timetable => 7,
        }
    }
}

/// A set of data as written: rows have `columns` and `bytes`, files `like` and `fields`, pairs the others.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    count: Spanned<toml::Value>,
    columns: Option<u64>,
    bytes: Option<u64>,
    key: Option<KeyKind>,
    key_bytes: Option<u64>,
    value_bytes: Option<u64>,
    compressibility: Option<toml::Value>,
    like: Option<RecordKind>,
    fields: Option<Vec<FileColumn>>,
    delimiter: Option<char>,
}

impl TryFrom<Written> for Data {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<Data, Self::Error> {
        let Written { count, columns, bytes, key, key_bytes, value_bytes, .. } = written;
        let Written { compressibility, like, fields, delimiter, .. } = written;
        let is_other = columns.or(bytes).or(key_bytes).or(value_bytes).is_some() || key.is_some();
        if compressibility.is_some() && value_bytes.is_none() {
            return Err("`compressibility` is of values, which pairs have");
        }
        match (like, fields) {
            (Some(like), Some(fields)) if !is_other => {
                let delimiter = delimiter.unwrap_or('\t');
                let shape = Shape::File { like, fields, delimiter };
                return Ok(Data { count, shape, compressibility });
            }
            (None, None) if delimiter.is_none() => {}
            _ => {
                return Err(
                    "a file has `like` and `fields`, perhaps `delimiter`, and nothing of rows or pairs",
                );
            }
        }
        let shape = match (columns, bytes, key, key_bytes, value_bytes) {
            (Some(columns), Some(bytes), None, None, None) => Shape::Rows { columns, bytes },
            (None, None, Some(KeyKind::Integer), None, Some(value_bytes)) => {
                Shape::Pairs { key: KeyKind::Integer, key_bytes: 8, value_bytes }
            }
            (None, None, Some(KeyKind::Blob), Some(key_bytes), Some(value_bytes)) => {
                Shape::Pairs { key: KeyKind::Blob, key_bytes, value_bytes }
            }
            _ => {
                return Err("data are rows, with `columns` and `bytes`; pairs, with `key` (\"integer\" or \
                            \"blob\"), `key_bytes` for blobs, and `value_bytes`; or a file, with `like` and \
                            `fields`");
            }
        };
        Ok(Data { count, shape, compressibility })
    }
}

/// A count as written: a number, or the name of a parameter.
pub fn count(written: &toml::Value, parameters: &Parameters) -> Result<u64> {
    match written {
        toml::Value::Integer(count) => Ok(u64::try_from(*count)?),
        toml::Value::String(name) => {
            let value = parameters.get(name).with_context(|| format!("there is no parameter {name}"))?;
            parse_count(&value.to_string())
                .with_context(|| format!("parameter {name} is {value}, and a count is a whole number"))
        }
        other => bail!("a count is a number or the name of a parameter, not {other}"),
    }
}

impl Data {
    /// The number of rows or pairs with these parameters.
    pub fn count(&self, parameters: &Parameters) -> Result<u64> {
        count(self.count.get_ref(), parameters)
    }

    /// The share of each value that repeats the rest of it, from 0 to 1.
    pub fn compressibility(&self, parameters: &Parameters) -> Result<f64> {
        let share = match &self.compressibility {
            None => 0.0,
            Some(toml::Value::Integer(share)) => *share as f64,
            Some(toml::Value::Float(share)) => *share,
            Some(toml::Value::String(name)) => {
                let value = parameters.get(name).with_context(|| format!("there is no parameter {name}"))?;
                value
                    .number()
                    .with_context(|| format!("parameter {name} is {value}, and a share is a number"))?
            }
            Some(other) => bail!("a share is a number or the name of a parameter, not {other}"),
        };
        ensure!((0.0..=1.0).contains(&share), "the compressibility {share} is not from 0 to 1");
        Ok(share)
    }

    /// The parameter that says how many, if one does.
    pub fn parameter(&self) -> Option<&str> {
        self.count.get_ref().as_str()
    }

    /// The position of the count in the suite's file, for messages.
    pub fn place(&self) -> usize {
        self.count.span().start
    }

    /// Refuses what cannot be made.
    pub fn check(&self) -> Result<()> {
        match &self.shape {
            Shape::Rows { columns, bytes } => {
                ensure!((1..=702).contains(columns), "`columns` is from 1 to 702");
                ensure!((1..=WIDEST).contains(bytes), "`bytes` is from 1 to {WIDEST}");
            }
            Shape::Pairs { key_bytes, value_bytes, .. } => {
                ensure!((8..=WIDEST).contains(key_bytes), "`key_bytes` is from 8 to {WIDEST}");
                ensure!((1..=WIDEST).contains(value_bytes), "`value_bytes` is from 1 to {WIDEST}");
                // The run may change what a parameter says.
                if !matches!(self.compressibility, Some(toml::Value::String(_))) {
                    self.compressibility(&Parameters::default())?;
                }
            }
            Shape::File { like, fields, delimiter } => {
                let wanted = like.fields();
                ensure!(fields.len() == wanted, "it has {} `fields` and not {wanted}", fields.len());
                for FileColumn { name, .. } in fields {
                    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic())
                        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
                    ensure!(
                        is_name,
                        "'{name}' is no name of a column: letters, digits and '_', a letter first"
                    );
                }
                let is_one_byte = delimiter.is_ascii() && !['\n', '\r', '\\', '\0'].contains(delimiter);
                ensure!(is_one_byte, "`delimiter` is one character of ASCII, and ends no line");
            }
        }
        Ok(())
    }

    /// The columns of rows: a1, b2, … z26, aa27, …; empty for other shapes.
    pub fn columns(&self) -> Vec<Column> {
        match self.shape {
            Shape::Rows { columns, bytes } => {
                (1..=columns).map(|number| Column { name: column_name(number), bytes }).collect()
            }
            Shape::Pairs { .. } | Shape::File { .. } => Vec::new(),
        }
    }
}

/// The name of the column of a number from 1: its letter and the number.
fn column_name(number: u64) -> String {
    let letter = |index: u64| char::from(b'a' + (index % 26) as u8);
    let index = number - 1;
    match index / 26 {
        0 => format!("{}{number}", letter(index)),
        more => format!("{}{}{number}", letter(more - 1), letter(index)),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use dyno_record::ParameterValue;

    use super::*;

    #[test]
    fn a_compressibility_is_a_share_of_values() {
        let share = |text: &str| {
            let text = format!("count = 5\nkey = 'integer'\nvalue_bytes = 10\n{text}");
            let data: Data = toml::from_str(&text).map_err(|error| error.message().to_owned())?;
            let values = BTreeMap::from([("share".to_owned(), ParameterValue::Real(0.25))]);
            let parameters = Parameters::new(values, BTreeMap::new());
            data.check()
                .and_then(|()| data.compressibility(&parameters))
                .map_err(|error| format!("{error:#}"))
        };
        assert_eq!(share(""), Ok(0.0));
        assert_eq!(share("compressibility = 0.5"), Ok(0.5));
        assert_eq!(share("compressibility = 'share'"), Ok(0.25));
        assert!(share("compressibility = 1.5").unwrap_err().contains("not from 0 to 1"));
        assert!(share("compressibility = 'shear'").unwrap_err().contains("no parameter shear"));
        let rows = toml::from_str::<Data>("count = 5\ncolumns = 1\nbytes = 8\ncompressibility = 0.5");
        assert!(rows.unwrap_err().message().contains("which pairs have"));
    }

    #[test]
    fn columns_are_named_by_letter_and_number() {
        assert_eq!([1, 16, 26, 27, 702].map(column_name), ["a1", "p16", "z26", "aa27", "zz702"]);
    }
}
