//! The records of a text whose fields may be quoted. A quoted field is brought together where it lies.

use std::iter::Copied;
use std::slice::Iter;

use anyhow::Result;

use super::marks::{BLOCK, block, mask};
use super::{Next, Split};
use crate::error::Input;
use crate::syntax::{Flaw, MOST_FIELDS, too_many_fields};

/// The records of a text whose fields may be quoted.
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
    /// The records of a text that begins on a line; `name` is what messages call the file.
    pub fn new(text: &'c mut [u8], line: u64, delimiter: u8, name: &'c str) -> Quoted<'c> {
        let marks = Marks::new(text, delimiter);
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
    let Some((close, has_double)) = marks.close(text, line) else {
        return ((open as u32, text.len() as u32), text.len(), Flaw::Unclosed);
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

/// The end of the record with which a text begins; None if it is not whole.
pub fn first_end(text: &[u8], delimiter: u8) -> Option<usize> {
    let mut marks = Marks::new(text, delimiter);
    let mut from = 0;
    loop {
        let mut stop = marks.next(text);
        if text.get(stop) == Some(&b'"') {
            if stop == from {
                marks.close(text, &mut 0)?;
            }
            stop = marks.next_but_quotes(text);
        }
        from = stop + 1;
        if *text.get(stop)? != delimiter {
            return Some(from);
        }
    }
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
    fn new(text: &[u8], delimiter: u8) -> Marks {
        let mut marks = Marks { delimiter, end: text.len(), start: 0, mask: 0 };
        marks.mask = marks.look(text);
        marks
    }

    /// Goes on to the quote that closes a field, and says whether the field has two quotes that are one letter of it.
    /// None if the text ends before. Adds the lines on the way.
    #[inline(always)]
    fn close(&mut self, text: &[u8], line: &mut u64) -> Option<(usize, bool)> {
        let mut has_double = false;
        loop {
            let at = self.next(text);
            match text.get(at)? {
                b'"' if text.get(at + 1) == Some(&b'"') => {
                    self.next(text);
                    has_double = true;
                }
                b'"' => return Some((at, has_double)),
                byte => *line += u64::from(*byte == b'\n'),
            }
        }
    }

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
