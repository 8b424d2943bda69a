//! Files of delimited records: the model `import-file`.
//!
//! What is read here is read within the clock: the file is mapped when the clock has started, and records are
//! split as the driver asks for them. Fields are handed out where they lie in the file.

use std::path::Path;
use std::str::FromStr;

use anyhow::{Result, anyhow};
use dyno_protocol::FileColumn;
use memchr::memchr2_iter;

use crate::Failure;

/// Records to import.
#[derive(Debug, Clone, Copy)]
pub struct Import<'a> {
    /// The table, which is there.
    pub table: &'a str,
    /// The columns that the file fills, in its order; the table may have others.
    pub columns: &'a [FileColumn],
    /// What stands between fields.
    pub delimiter: u8,
    /// The records as they lie in the file, each ended by a line feed.
    pub bytes: &'a [u8],
    /// How many there are.
    pub records: u64,
    /// How many records make a transaction; none: all of them make one.
    pub per_commit: Option<u64>,
    /// The file, for engines that read it themselves; none where not all of it is to be imported.
    pub file: Option<&'a Path>,
}

impl<'a> Import<'a> {
    /// The names of the columns.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &'a str> + Clone {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// Begins to read.
    pub fn reader(&self) -> Reader<'a> {
        let width = self.columns.len();
        let fields = Vec::with_capacity(width);
        Reader { rest: self.bytes, delimiter: self.delimiter, width, fields, done: 0 }
    }
}

/// Splits records, one after another.
#[derive(Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
    delimiter: u8,
    width: usize,
    fields: Vec<&'a [u8]>,
    done: u64,
}

impl<'a> Reader<'a> {
    /// The fields of the next record; none at the end. They stay where they are as long as the input does, the list
    /// of them until the next call.
    ///
    /// # Errors
    /// The record has another number of fields than there are columns, or no end.
    #[allow(clippy::should_implement_trait, reason = "the list is lent, which an iterator cannot do")]
    #[inline]
    pub fn next(&mut self) -> Result<Option<&[&'a [u8]]>, Failure> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        self.fields.clear();
        let mut start = 0;
        let mut ended = false;
        for end in memchr2_iter(self.delimiter, b'\n', self.rest) {
            self.fields.push(&self.rest[start..end]);
            start = end + 1;
            if self.rest[end] == b'\n' {
                ended = true;
                break;
            }
        }
        if !ended || self.fields.len() != self.width {
            return Err(self.complain(ended));
        }
        self.rest = &self.rest[start..];
        self.done += 1;
        Ok(Some(&self.fields))
    }

    /// The same where the next record must be there.
    #[inline]
    pub fn expect(&mut self) -> Result<&[&'a [u8]], Failure> {
        let place = self.done;
        self.next()?.ok_or_else(|| Failure::at(place, anyhow!("it is not there: the file is cut off")))
    }

    /// How many records have been read.
    pub fn done(&self) -> u64 {
        self.done
    }

    #[cold]
    fn complain(&self, ended: bool) -> Failure {
        let error = match ended {
            true => anyhow!("it has {} fields and not {}", self.fields.len(), self.width),
            false => anyhow!("it has no end: the file is cut off"),
        };
        Failure::at(self.done, error)
    }
}

/// The whole number that a field is.
///
/// # Errors
/// It is none, or too large for its type.
#[inline]
pub fn whole_number<T: FromStr>(field: &[u8]) -> Result<T> {
    let number = std::str::from_utf8(field).ok().and_then(|text| text.parse().ok());
    number.ok_or_else(|| {
        let (field, bits) = (String::from_utf8_lossy(field), 8 * size_of::<T>());
        anyhow!("{field:?} is no whole number of {bits} bits")
    })
}

#[cfg(test)]
mod tests {
    use dyno_protocol::FieldKind;

    use super::*;

    fn read(text: &str) -> Result<Vec<Vec<String>>, String> {
        let column = |name: &str| FileColumn { name: name.into(), kind: FieldKind::Text };
        let columns = [column("a"), column("b")];
        let bytes = text.as_bytes();
        let import = Import {
            table: "t",
            columns: &columns,
            delimiter: b'\t',
            bytes,
            records: 0,
            per_commit: None,
            file: None,
        };
        let mut reader = import.reader();
        let mut records = Vec::new();
        loop {
            match reader.next() {
                Ok(None) => return Ok(records),
                Ok(Some(fields)) => records
                    .push(fields.iter().map(|field| String::from_utf8_lossy(field).into_owned()).collect()),
                Err(failure) => {
                    return Err(format!("{:?}: {}", failure.index, failure.error));
                }
            }
        }
    }

    #[test]
    fn fields_are_what_stands_between_delimiters() {
        assert_eq!(read("1\tx y\n\t\n").unwrap(), [["1", "x y"], ["", ""]]);
        assert!(read("").unwrap().is_empty());
    }

    #[test]
    fn a_record_of_another_shape_is_named() {
        assert_eq!(read("1\t2\n3\n").unwrap_err(), "Some(1): it has 1 fields and not 2");
        assert_eq!(read("1\t2\t3\n").unwrap_err(), "Some(0): it has 3 fields and not 2");
        assert!(read("1\t2\n3\t4").unwrap_err().starts_with("Some(1): it has no end"));
    }
}
