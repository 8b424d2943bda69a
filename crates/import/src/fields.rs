//! The fields of a chunk's records, where they lie: found by their delimiters alone in a chunk without quotes, and
//! by the parser that knows quotes in any other. Both have the same rules, those of `csv-core`.

use std::io::Cursor;

use anyhow::Result;
use memchr::memchr3_iter;

use crate::chunks::Chunk;
use crate::error::Input;
use crate::records::{Dialect, MOST_FIELDS, Records, too_many_fields};

/// The fields of one record: from where to where each lies in the text.
pub type Fields = [(u32, u32)];

/// The fields of a record whose fields lie one after another and end so.
#[inline]
pub fn fields_of(ends: &[usize], fields: &mut Vec<(u32, u32)>) {
    let mut from = 0;
    fields.clear();
    fields.extend(ends.iter().map(|&end| (std::mem::replace(&mut from, end as u32), end as u32)));
}

/// Calls `each` with every record: the line on which it begins, the text and the fields in it. Empty lines are no
/// records.
pub fn records(
    chunk: &mut Chunk,
    dialect: Dialect,
    name: &str,
    unquoted: &mut Vec<u8>,
    each: impl FnMut(u64, &[u8], &Fields) -> Result<()>,
) -> Result<()> {
    if chunk.has_quotes {
        quoted(chunk, dialect, name, unquoted, each)
    } else {
        plain(chunk, dialect, name, each)
    }
}

fn plain(
    chunk: &Chunk,
    dialect: Dialect,
    name: &str,
    mut each: impl FnMut(u64, &[u8], &Fields) -> Result<()>,
) -> Result<()> {
    let (text, mut line) = (&chunk.text[..], chunk.line);
    let mut fields: Vec<(u32, u32)> = Vec::new();
    let mut start = 0;
    for at in memchr3_iter(dialect.delimiter, b'\n', b'\r', text) {
        if text[at] == dialect.delimiter {
            if fields.len() + 1 == MOST_FIELDS {
                return too_many_fields(line, name).input();
            }
            fields.push((start as u32, at as u32));
        } else {
            if start < at || !fields.is_empty() {
                fields.push((start as u32, at as u32));
                each(line, text, &fields)?;
                fields.clear();
            }
            line += u64::from(text[at] == b'\n');
        }
        start = at + 1;
    }
    // The file's last line may have no end.
    if start < text.len() || !fields.is_empty() {
        fields.push((start as u32, text.len() as u32));
        each(line, text, &fields)?;
    }
    Ok(())
}

fn quoted(
    chunk: &mut Chunk,
    dialect: Dialect,
    name: &str,
    unquoted: &mut Vec<u8>,
    mut each: impl FnMut(u64, &[u8], &Fields) -> Result<()>,
) -> Result<()> {
    let text = Cursor::new(std::mem::take(&mut chunk.text));
    let mut records = Records::from_line(Box::new(text), dialect, name.to_owned(), chunk.line);
    let (mut ends, mut fields) = (vec![0; 16], Vec::new());
    unquoted.resize(unquoted.len().max(4096), 0);
    while let Some(record) = records.read(unquoted, 0, &mut ends)? {
        fields_of(&ends[..record.fields], &mut fields);
        each(record.line, &unquoted[..record.length], &fields)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(text: &[u8], has_quotes: bool) -> Vec<(u64, Vec<Vec<u8>>)> {
        let mut chunk = Chunk { index: 0, text: text.to_vec(), line: 5, has_quotes };
        let (mut all, mut unquoted) = (Vec::new(), Vec::new());
        let dialect = Dialect { delimiter: b'\t', quotes: has_quotes };
        records(&mut chunk, dialect, "t", &mut unquoted, |line, text, fields| {
            let fields = fields.iter().map(|&(from, to)| text[from as usize..to as usize].to_vec());
            all.push((line, fields.collect()));
            Ok(())
        })
        .unwrap();
        all
    }

    #[test]
    fn a_record_has_so_many_fields_at_most() {
        let dialect = Dialect { delimiter: b',', quotes: true };
        let outcome = |delimiters: usize, has_quotes| {
            let text = [b"a\n".to_vec(), b",".repeat(delimiters)].concat();
            let mut chunk = Chunk { index: 0, text, line: 5, has_quotes };
            records(&mut chunk, dialect, "t", &mut Vec::new(), |_, _, _| Ok(()))
        };
        for has_quotes in [false, true] {
            assert!(outcome(MOST_FIELDS - 1, has_quotes).is_ok());
            for delimiters in [MOST_FIELDS, MOST_FIELDS + 1, 4 * MOST_FIELDS] {
                let error = outcome(delimiters, has_quotes).unwrap_err().to_string();
                assert_eq!(error, "t:6: the record that begins here has more than 1048576 fields");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn without_quotes_both_ways_find_the_same(
            text in prop::collection::vec(prop::sample::select(vec!["a", "\t", "\n", "\r", "\u{feff}"]), 0..80),
        ) {
            let text = text.concat().into_bytes();
            prop_assert_eq!(found(&text, false), found(&text, true));
        }
    }
}
