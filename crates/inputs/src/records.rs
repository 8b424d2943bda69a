//! Delimited records in a file: fields are handed out where they lie in it.

use std::str::FromStr;

use anyhow::{Result, anyhow};
use memchr::memchr2_iter;

/// A record that cannot be read.
#[derive(Debug)]
pub struct Malformed {
    /// Its place in the file, counted from zero.
    pub record: u64,
    /// The reason why the record is malformed.
    pub error: anyhow::Error,
}

/// Splits records, one after another.
#[derive(Debug)]
pub struct Records<'a> {
    rest: &'a [u8],
    delimiter: u8,
    width: usize,
    fields: Vec<&'a [u8]>,
    done: u64,
}

impl<'a> Records<'a> {
    /// Begins to read records of this many fields.
    pub fn new(bytes: &'a [u8], delimiter: u8, width: usize) -> Records<'a> {
        Records { rest: bytes, delimiter, width, fields: Vec::with_capacity(width), done: 0 }
    }

    /// The fields of the next record; `None` at the end. They live as long as the input does, the list
    /// of them until the next call.
    ///
    /// # Errors
    /// The record has another number of fields than there are columns, or no end.
    #[allow(clippy::should_implement_trait, reason = "the list is lent, which an iterator cannot do")]
    #[inline]
    pub fn next(&mut self) -> Result<Option<&[&'a [u8]]>, Malformed> {
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
    pub fn expect(&mut self) -> Result<&[&'a [u8]], Malformed> {
        let place = self.done;
        self.next()?.ok_or_else(|| Malformed {
            record: place,
            error: anyhow!("it is not there: the file is cut off"),
        })
    }

    /// The number of records that have been read.
    #[inline]
    pub fn done(&self) -> u64 {
        self.done
    }

    #[cold]
    fn complain(&self, ended: bool) -> Malformed {
        let error = match ended {
            true => anyhow!("it has {} fields and not {}", self.fields.len(), self.width),
            false => anyhow!("it has no end: the file is cut off"),
        };
        Malformed { record: self.done, error }
    }
}

/// Parses a field as a whole number.
///
/// # Errors
/// It is not a number, or too large for its type.
#[inline]
pub fn whole_number<T: FromStr>(field: &[u8]) -> Result<T> {
    let number = std::str::from_utf8(field).ok().and_then(|text| text.parse().ok());
    number.ok_or_else(|| {
        let (field, bits) = (String::from_utf8_lossy(field), 8 * size_of::<T>());
        anyhow!("'{}' is no whole number of {bits} bits", field.escape_debug())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Vec<String>>, String> {
        let mut reader = Records::new(text.as_bytes(), b'\t', 2);
        let mut records = Vec::new();
        loop {
            match reader.next() {
                Ok(None) => return Ok(records),
                Ok(Some(fields)) => records
                    .push(fields.iter().map(|field| String::from_utf8_lossy(field).into_owned()).collect()),
                Err(wrong) => return Err(format!("{}: {}", wrong.record, wrong.error)),
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
        assert_eq!(read("1\t2\n3\n").unwrap_err(), "1: it has 1 fields and not 2");
        assert_eq!(read("1\t2\t3\n").unwrap_err(), "0: it has 3 fields and not 2");
        assert!(read("1\t2\n3\t4").unwrap_err().starts_with("1: it has no end"));
    }
}
