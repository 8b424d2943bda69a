//! The fields of a chunk's records, where they lie, and how those are found that may be quoted. The rules are those of
//! [`crate::records`], which reads what is not cut into chunks; a quoted field is brought together where it lies.

use std::iter::Copied;
use std::slice::Iter;

use anyhow::Result;

use crate::chunks::Chunk;
use crate::error::Input;
use crate::marks::{BLOCK, block, mask};
use crate::syntax::{Flaw, MOST_FIELDS, too_many_fields};

/// The fields of one record: from where to where each lies in the text.
pub type Fields = [(u32, u32)];

/// The fields of a record whose fields lie one after another and end so.
#[inline]
pub fn fields_of(ends: &[usize], fields: &mut Vec<(u32, u32)>) {
    let mut from = 0;
    fields.clear();
    fields.extend(ends.iter().map(|&end| (std::mem::replace(&mut from, end as u32), end as u32)));
}

/// A record: the line on which it begins, the text, the start and end of each field in it, and its flaw if it is
/// doubtful. None at the end.
pub type Next<'s, Fields> = Option<(u64, &'s [u8], Fields, Flaw)>;

/// The bounds of a record's fields, in order: from where to where each lies in the text.
pub trait FieldBounds: ExactSizeIterator<Item = (u32, u32)> + Clone {
    /// Those of one field, counted from 0; there must be such a field.
    fn at(&self, place: usize) -> (u32, u32);
    /// All of them.
    fn all(&self) -> impl Iterator<Item = (u32, u32)>;
    /// Bytes from the first field's beginning to the last one's end.
    fn span(&self) -> usize;
}

impl FieldBounds for Copied<Iter<'_, (u32, u32)>> {
    #[inline(always)]
    fn at(&self, place: usize) -> (u32, u32) {
        self.clone().nth(place).unwrap_or_default()
    }

    #[inline(always)]
    fn all(&self) -> impl Iterator<Item = (u32, u32)> {
        self.clone()
    }

    #[inline(always)]
    fn span(&self) -> usize {
        let mut fields = self.clone();
        fields.next().map_or(0, |(first, end)| fields.last().map_or(end, |(_, end)| end) - first) as usize
    }
}

/// Gives the records of a chunk one after another. Empty lines are no records.
pub trait Split {
    /// The fields of one record, in order.
    type Fields<'s>: FieldBounds
    where
        Self: 's;

    /// The next record.
    ///
    /// # Errors
    /// The record has too many fields.
    fn next(&mut self) -> Result<Next<'_, Self::Fields<'_>>>;
}

/// The records of a chunk whose fields may be quoted.
pub struct Quoted<'c> {
    text: &'c mut [u8],
    marks: Marks,
    name: &'c str,
    /// The start of the next field, and its line.
    start: usize,
    line: u64,
    fields: Vec<(u32, u32)>,
}

impl<'c> Quoted<'c> {
    /// The records of a chunk; `name` is what messages call the file.
    pub fn new(chunk: &'c mut Chunk, delimiter: u8, name: &'c str) -> Quoted<'c> {
        let line = chunk.line;
        let text = chunk.text_mut();
        let mut marks = Marks { delimiter, end: text.len(), start: 0, mask: 0 };
        marks.mask = marks.look(text);
        Quoted { text, marks, name, start: 0, line, fields: Vec::new() }
    }
}

impl Split for Quoted<'_> {
    type Fields<'s>
        = Copied<Iter<'s, (u32, u32)>>
    where
        Self: 's;

    #[inline(always)]
    fn next(&mut self) -> Result<Next<'_, Self::Fields<'_>>> {
        let Quoted { text, marks, name, start, line, fields } = self;
        fields.clear();
        let (mut from, mut began) = (*start, *line);
        let (mut flaw, mut has_backslash) = (Flaw::None, false);
        loop {
            let mut stop = marks.next(text);
            let mut field = (from as u32, stop as u32);
            if text.get(stop) == Some(&b'"') {
                if stop == from {
                    let behind;
                    (field, stop, behind) = quoted(marks, text, stop, line);
                    flaw = flaw.or(behind);
                    has_backslash |= field.1 > field.0 && text[field.1 as usize - 1] == b'\\';
                } else {
                    stop = marks.next_but_quotes(text);
                    field.1 = stop as u32;
                    if has_backslash && text[stop - 1] == b'"' {
                        flaw = flaw.or(Flaw::Backslash);
                    }
                }
            }
            let is_nothing = from == stop && fields.is_empty();
            if stop == text.len() {
                // The file's last line may have no end.
                *start = stop;
                if is_nothing {
                    return Ok(None);
                }
                fields.push(field);
                return Ok(Some((began, text, fields.iter().copied(), flaw)));
            }
            from = stop + 1;
            if text[stop] == marks.delimiter {
                if fields.len() + 1 == MOST_FIELDS {
                    return too_many_fields(began, name).input();
                }
                fields.push(field);
                continue;
            }
            *line += u64::from(text[stop] == b'\n');
            if !is_nothing {
                *start = from;
                fields.push(field);
                return Ok(Some((began, text, fields.iter().copied(), flaw)));
            }
            began = *line;
        }
    }
}

/// A field whose opening quote is at `open`, where it stops, and what makes it doubtful: then it keeps its quotes.
#[inline(always)]
fn quoted(marks: &mut Marks, text: &mut [u8], open: usize, line: &mut u64) -> ((u32, u32), usize, Flaw) {
    let mut has_double = false;
    let close = loop {
        let at = marks.next(text);
        match text.get(at) {
            None => return ((open as u32, at as u32), at, Flaw::Unclosed),
            // Two quotes are one letter of the field.
            Some(b'"') if text.get(at + 1) == Some(&b'"') => {
                marks.next(text);
                has_double = true;
            }
            Some(b'"') => break at,
            Some(byte) => *line += u64::from(*byte == b'\n'),
        }
    };
    let stop = marks.next_but_quotes(text);
    if stop > close + 1 {
        return ((open as u32, stop as u32), stop, Flaw::Behind);
    }
    let field = if has_double { joined(text, open + 1, close) } else { (open as u32 + 1, close as u32) };
    (field, stop, Flaw::None)
}

/// Brings together the text between quotes, of which two are one letter.
#[cold]
fn joined(text: &mut [u8], from: usize, close: usize) -> (u32, u32) {
    let (mut at, mut end) = (from, from);
    while at < close {
        text[end] = text[at];
        at += if text[at] == b'"' { 2 } else { 1 };
        end += 1;
    }
    (from as u32, end as u32)
}

/// Goes from one delimiter, end of line or quote to the next.
struct Marks {
    delimiter: u8,
    /// The end of the text.
    end: usize,
    /// The start of the block that the mask describes.
    start: usize,
    /// The marks of the block that are still to come.
    mask: u64,
}

impl Marks {
    /// The next mark, or the end of the text.
    #[inline(always)]
    fn next(&mut self, text: &[u8]) -> usize {
        while self.mask == 0 {
            if self.end - self.start <= BLOCK {
                self.start = self.end;
                return self.end;
            }
            self.start += BLOCK;
            self.mask = self.look(text);
        }
        let at = self.start + self.mask.trailing_zeros() as usize;
        self.mask &= self.mask - 1;
        at
    }

    /// The next delimiter or end of line, or the end of the text.
    #[inline(always)]
    fn next_but_quotes(&mut self, text: &[u8]) -> usize {
        loop {
            let at = self.next(text);
            if text.get(at) != Some(&b'"') {
                return at;
            }
        }
    }

    #[inline(always)]
    fn look(&self, text: &[u8]) -> u64 {
        let block = block(text, self.start);
        let found = mask(&block, [self.delimiter, b'\n', b'\r', b'"']);
        // A delimiter may be the zero that is behind the end.
        match self.end - self.start {
            left if left < BLOCK => found & ((1 << left) - 1),
            _ => found,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::prelude::*;

    use super::*;
    use crate::lines::{Lines, count, count_any};
    use crate::records::Records;
    use crate::syntax::Dialect;

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
        let mut chunk = Chunk::of(text, 5, has_quotes);
        let all = match has_quotes {
            true => all(Quoted::new(&mut chunk, DIALECT.delimiter, "t")),
            false => all(Lines::new(&chunk, DIALECT.delimiter, "t")),
        };
        all.map_err(|error| format!("{error:#}"))
    }

    fn found_by_records(text: &[u8]) -> Result<Vec<Found>, String> {
        let text = Box::new(Cursor::new(text.to_vec()));
        let mut records = Records::from_line(text, DIALECT, "t".into(), 5);
        let (mut buffer, mut ends, mut all) = (vec![0; 4], vec![0; 1], Vec::new());
        while let Some(record) =
            records.read(&mut buffer, 0, &mut ends).map_err(|error| format!("{error:#}"))?
        {
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
}
