//! What the beginning of a file tells of its shape: the delimiter, whether the first record is a header.

use std::collections::BTreeSet;

use anyhow::Result;

use crate::infer::Inference;
use crate::records::{Dialect, Records};
use crate::source::{Sample, Source};

/// Delimiters that are tried, the likeliest first.
const DELIMITERS: [u8; 4] = [b',', b'\t', b';', b'|'];
/// Files whose names tell.
const NAMED: [(&str, u8); 4] = [(".csv", b','), (".tsv", b'\t'), (".tab", b'\t'), (".psv", b'|')];
/// Records that are looked at.
const RECORDS: usize = 1000;

/// Something chosen, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice<T> {
    /// What.
    pub value: T,
    /// Why, in words.
    pub why: String,
}

impl<T> Choice<T> {
    /// A choice with its reason.
    pub fn new(value: T, why: impl Into<String>) -> Choice<T> {
        Choice { value, why: why.into() }
    }
}

/// The first records of a sample, as fields.
pub fn records(name: &str, sample: &Sample, whole: bool, dialect: Dialect) -> Result<Vec<Vec<Vec<u8>>>> {
    first(name, sample, whole, dialect, |text, ends| {
        let mut from = 0;
        ends.iter().map(|&end| text[std::mem::replace(&mut from, end)..end].to_vec()).collect()
    })
}

/// What `make` makes of the first records of a sample, of each from its fields and where they end. The last one is left
/// out where the sample may have cut it.
fn first<T>(
    name: &str,
    sample: &Sample,
    whole: bool,
    dialect: Dialect,
    make: impl Fn(&[u8], &[usize]) -> T,
) -> Result<Vec<T>> {
    let mut records = Records::new(Box::new(sample.read()), dialect, name.to_owned());
    let (mut buffer, mut ends, mut found) = (vec![0; 4096], vec![0; 64], Vec::new());
    loop {
        match records.read(&mut buffer, 0, &mut ends) {
            Ok(Some(record)) => {
                found.push(make(&buffer, &ends[..record.fields]));
                if found.len() > RECORDS {
                    return Ok(found);
                }
            }
            Ok(None) if whole => return Ok(found),
            // A quote that the sample's end leaves open is no fault.
            Err(_) if !whole => return Ok(found),
            Ok(None) => {
                found.pop();
                return Ok(found);
            }
            Err(error) => return Err(error),
        }
    }
}

/// Guesses the delimiter by the name, if the beginning does not contradict it, else by the beginning.
pub fn delimiter(source: &Source, sample: &Sample, whole: bool, quotes: bool) -> Choice<u8> {
    let named = NAMED.iter().find(|(ending, _)| source.is_named(ending)).map(|(_, delimiter)| *delimiter);
    let width = |delimiter| {
        let count = |_: &[u8], ends: &[usize]| ends.len();
        let found = first("", sample, whole, Dialect { delimiter, quotes }, count).unwrap_or_default();
        let first = found.first().copied().unwrap_or_default();
        let agreeing = found.iter().filter(|fields| **fields == first).count();
        // Nearly all records have as many fields as the first.
        if first > 1 && agreeing * 10 >= found.len() * 9 { first } else { 0 }
    };
    if let Some(delimiter) = named.filter(|&delimiter| width(delimiter) > 1) {
        return Choice::new(delimiter, "by the file's name");
    }
    let widest = DELIMITERS.into_iter().rev().max_by_key(|&delimiter| width(delimiter));
    match widest.filter(|&delimiter| width(delimiter) > 1) {
        Some(delimiter) => Choice::new(delimiter, "the first records have it equally often"),
        None => Choice::new(named.unwrap_or(b','), "no other divides the first records: one column"),
    }
}

/// Guesses whether the first record names the columns.
pub fn header(records: &[Vec<Vec<u8>>]) -> Choice<bool> {
    let Some((first, rest)) = records.split_first() else {
        return Choice::new(false, "there is no record");
    };
    let names: BTreeSet<String> =
        first.iter().map(|name| String::from_utf8_lossy(name).to_lowercase()).collect();
    let is_number =
        |field: &Vec<u8>| crate::value::integer(field).is_some() || crate::value::real(field).is_some();
    if names.len() < first.len() || first.iter().any(|name| name.is_empty() || is_number(name)) {
        return Choice::new(false, "the first record holds a number, nothing or a thing twice");
    }
    let mut inference = Inference::new(first.len());
    rest.iter().for_each(|record| inference.see_all(record));
    if inference.kinds().iter().any(|kind| !kind.empty_is_null())
        && inference.kinds().iter().all(|kind| !kind.empty_is_null())
    {
        let name = |field: &Vec<u8>| {
            field.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_' || *byte >= 128)
                && field.len() <= 64
                && field
                    .iter()
                    .all(|byte| byte.is_ascii_alphanumeric() || b" _-./()".contains(byte) || *byte >= 128)
        };
        let again = rest.iter().any(|record| record.iter().zip(first).any(|(field, name)| field == name));
        let is_header = first.iter().all(name) && !again;
        let why = if is_header {
            "it reads like names, none of which comes again"
        } else {
            "it reads like any other record"
        };
        return Choice::new(is_header, why);
    }
    Choice::new(true, "columns of numbers begin with a word")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn guess(name: &str, text: &str) -> (u8, bool) {
        let source = Source::new(Path::new(name));
        let text = text.into();
        let delimiter = delimiter(&source, &text, true, true).value;
        let records = records("", &text, true, Dialect { delimiter, quotes: true }).unwrap();
        (delimiter, header(&records).value)
    }

    #[test]
    fn the_shape_is_guessed() {
        assert_eq!(guess("x.csv", "id,name\n1,a\n2,b\n"), (b',', true));
        assert_eq!(guess("x.tsv.gz", "1\ta,b\n2\tb,c\n"), (b'\t', false));
        assert_eq!(guess("x.csv", "a;b\n1;2,5\n2;3,5\n"), (b';', true));
        assert_eq!(guess("x", "one\ntwo\nthree\n"), (b',', true));
        assert_eq!(guess("x", "red\nblue\nred\n"), (b',', false));
        assert_eq!(guess("x.csv", "a|b|c\nd|e|f\n"), (b'|', true));
        assert_eq!(guess("x.csv", "a,a\n1,2\n"), (b',', false));
    }
}
