//! All splitters find the records that [`Records`] finds.

use std::io::Cursor;

use proptest::prelude::*;

use super::lines::count_any;
use super::*;
use crate::records::Records;
use crate::syntax::{Dialect, MOST_FIELDS};

/// The line of a record, its fields, and what makes it doubtful.
type Found = (u64, Vec<Vec<u8>>, Flaw);

const DIALECT: Dialect = Dialect { delimiter: b'\t', quotes: true };

fn all(mut split: impl Split) -> Result<Vec<Found>> {
    let mut all = Vec::new();
    while let Some((line, text, fields, flaw)) = split.next()? {
        let fields = fields.map(|(from, to)| text[from as usize..to as usize].to_vec());
        all.push((line, fields.collect(), flaw));
    }
    Ok(all)
}

fn found(text: &[u8], has_quotes: bool) -> Result<Vec<Found>, String> {
    let all = match has_quotes {
        true => all(Quoted::new(&mut text.to_vec(), 5, DIALECT.delimiter, "t")),
        false => all(Lines::new(text, 5, DIALECT.delimiter, "t")),
    };
    all.map_err(|error| format!("{error:#}"))
}

fn found_by_records(text: &[u8]) -> Result<Vec<Found>, String> {
    let text = Box::new(Cursor::new(text.to_vec()));
    let mut records = Records::from_line(text, DIALECT, "t".into(), 5);
    let (mut buffer, mut ends, mut all) = (vec![0; 4], vec![0; 1], Vec::new());
    while let Some(record) = records.read(&mut buffer, 0, &mut ends).map_err(|error| format!("{error:#}"))? {
        let mut fields = Vec::new();
        fields_of(&ends[..record.fields], &mut fields);
        let fields = fields.iter().map(|&(from, to)| buffer[from as usize..to as usize].to_vec());
        all.push((record.line, fields.collect(), record.flaw));
    }
    Ok(all)
}

#[test]
fn a_record_has_so_many_fields_at_most() {
    let outcome = |delimiters: usize, has_quotes| {
        let text = [b"a\n".to_vec(), b"\t".repeat(delimiters)].concat();
        found(&text, has_quotes)
    };
    for has_quotes in [false, true] {
        assert!(outcome(MOST_FIELDS - 1, has_quotes).is_ok());
        for delimiters in [MOST_FIELDS, MOST_FIELDS + 1, 4 * MOST_FIELDS] {
            let error = outcome(delimiters, has_quotes).unwrap_err();
            assert_eq!(error, "t:6: the record that begins here has more than 1048576 fields");
        }
    }
}

#[test]
fn quoted_fields_across_blocks_are_those_of_the_records() {
    for length in 0..200 {
        let long = "x".repeat(length);
        for text in [
            format!("{long}\t\"{long}\"\"\n{long}\"\t{long}\n\"\""),
            format!("\"{long}\"\"{long}\"tail\"{long}\t\n"),
            format!("{long}\"{long}\t\"{long}\"\r\n\"{long}"),
        ] {
            assert_eq!(found(text.as_bytes(), true), found_by_records(text.as_bytes()), "{text}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]
    #[test]
    fn fields_are_those_of_the_records(
        text in prop::collection::vec(prop::sample::select(vec!["a", "\t", "\n", "\r", "\"", "\"", "bcd", "\\\"", "\u{feff}"]), 0..120),
    ) {
        let text = text.concat().into_bytes();
        prop_assert_eq!(found(&text, true), found_by_records(&text));
    }

    #[test]
    fn without_quotes_both_ways_find_the_same(
        text in prop::collection::vec(prop::sample::select(vec!["a", "\t", "\n", "\r", "\u{feff}"]), 0..200),
    ) {
        let text = text.concat().into_bytes();
        prop_assert_eq!(found(&text, false), found_by_records(&text));
        let records = |text: &[u8]| found(text, false).unwrap().len() as u64;
        prop_assert_eq!(count(&text, DIALECT.delimiter), records(&text));
        // Longer than what is looked through at once, with a record that is longer still.
        let long = [text.repeat(9000 / (text.len() + 1)), b"x\t".repeat(5000), text].concat();
        prop_assert_eq!(found(&long, false), found_by_records(&long));
        prop_assert_eq!(count(&long, DIALECT.delimiter), records(&long));
        prop_assert_eq!(count_any(&long, DIALECT.delimiter), records(&long));
    }
}
