//! The records of a text in which no field is quoted: where their fields end is looked up for some kilobytes at once.

use anyhow::Result;

use super::marks::{BLOCK, block, mask};
use super::{FieldBounds, Next, Split};
use crate::error::Input;
use crate::syntax::{Flaw, MOST_FIELDS, too_many_fields};

/// Bytes of text that are looked through at once: where its fields end, and the text itself, stay in the processor's
/// nearest memory until they are read.
const WINDOW: usize = 4 << 10;

/// Marks that are written at once, needed or not.
const AT_ONCE: usize = 8;

/// Gives the records of a text one after another. Empty lines are no records.
pub struct Lines<'c> {
    text: &'c [u8],
    delimiter: u8,
    name: &'c str,
    /// The line of the next record.
    line: u64,
    /// Up to where the text was looked through.
    seen: usize,
    /// The positions of delimiters and ends of lines, the first of which is before the next record: before the text it
    /// is -1. Behind the first `count` is room.
    marks: Vec<u32>,
    count: usize,
    /// The marks that are ends of lines, and the number of those that belong to records already returned.
    ends: Vec<u32>,
    given: usize,
    /// Marks before this one belong to records that were given.
    next: usize,
}

impl<'c> Lines<'c> {
    /// The records of a text that begins on a line; `name` is what messages call the file.
    pub fn new(text: &'c [u8], line: u64, delimiter: u8, name: &'c str) -> Lines<'c> {
        Lines {
            text,
            delimiter,
            name,
            line,
            seen: 0,
            marks: vec![u32::MAX],
            count: 1,
            ends: Vec::new(),
            given: 0,
            next: 1,
        }
    }

    /// Looks through the text's next part, once all records of those before were given. False at the end.
    #[inline(always)]
    fn look(&mut self) -> bool {
        if self.seen > self.text.len() {
            return false;
        }
        let before = self.next - 1;
        self.marks.copy_within(before..self.count, 0);
        self.count -= before;
        (self.next, self.given) = (1, 0);
        self.ends.clear();
        let end = self.text.len().min(self.seen + WINDOW);
        let room = self.count + end - self.seen + BLOCK + AT_ONCE;
        if self.marks.len() < room {
            self.marks.resize(room, 0);
        }
        while self.seen < end {
            let block = block(self.text, self.seen);
            let delimiters = mask(&block, [self.delimiter]);
            let mut found = delimiters | mask(&block, [b'\n', b'\r']);
            // A delimiter may be the zero that is behind the end.
            if end - self.seen < BLOCK {
                found &= (1 << (end - self.seen)) - 1;
            }
            put(&mut self.marks[self.count..], self.seen as u32, found);
            let mut lines = found & !delimiters;
            while lines != 0 {
                let before = found & (lines & lines.wrapping_neg()).wrapping_sub(1);
                self.ends.push(self.count as u32 + before.count_ones());
                lines &= lines - 1;
            }
            self.count += found.count_ones() as usize;
            self.seen += BLOCK;
        }
        if end == self.text.len() {
            // The file's last line may have no end.
            self.ends.push(self.count as u32);
            self.marks[self.count] = end as u32;
            self.count += 1;
            self.seen = end + 1;
        }
        true
    }
}

/// The number of records in a text that begins with one, if no field is quoted: its lines that are not empty.
pub fn count(text: &[u8], delimiter: u8) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") {
        // SAFETY: this processor has both.
        return unsafe { count_wide(text, delimiter) };
    }
    count_any(text, delimiter)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
fn count_wide(text: &[u8], delimiter: u8) -> u64 {
    count_any(text, delimiter)
}

/// The same, compiled for the processor that the caller is compiled for.
#[inline(always)]
pub fn count_any(text: &[u8], delimiter: u8) -> u64 {
    // 1 if the byte before the block ends a line, as if the text came after a line's end.
    let (mut records, mut before) = (0, 1);
    for start in (0..text.len()).step_by(BLOCK) {
        let block = block(text, start);
        let ends = mask(&block, [b'\n', b'\r']) & !mask(&block, [delimiter]);
        records += u64::from((ends & !(ends << 1 | before)).count_ones());
        before = ends >> 63;
    }
    // The file's last line may have no end.
    let is_open = text.last().is_some_and(|last| *last == delimiter || !matches!(last, b'\n' | b'\r'));
    records + u64::from(is_open)
}

/// Writes where the bits of a mask are, and behind them anything.
#[inline(always)]
fn put(marks: &mut [u32], start: u32, mut found: u64) {
    let mut at = 0;
    loop {
        for mark in &mut marks[at..at + AT_ONCE] {
            *mark = start + found.trailing_zeros();
            found &= found.wrapping_sub(1);
        }
        if found == 0 {
            return;
        }
        at += AT_ONCE;
    }
}

impl Split for Lines<'_> {
    type Fields<'s>
        = Ends<'s>
    where
        Self: 's;

    #[inline(always)]
    fn next(&mut self) -> Result<Next<'_, Ends<'_>>> {
        loop {
            let Some(&last) = self.ends.get(self.given) else {
                if self.count - self.next >= MOST_FIELDS {
                    return too_many_fields(self.line, self.name).input();
                }
                if !self.look() {
                    return Ok(None);
                }
                continue;
            };
            let (first, last, line) = (self.next, last as usize, self.line);
            if last - first >= MOST_FIELDS {
                return too_many_fields(self.line, self.name).input();
            }
            let (from, stop) = (self.marks[first - 1].wrapping_add(1), self.marks[last]);
            self.given += 1;
            self.next = last + 1;
            self.line += u64::from(self.text.get(stop as usize) == Some(&b'\n'));
            // Else it is an empty line, or what is behind the last one.
            if stop > from {
                let bounds = &self.marks[first - 1..=last];
                return Ok(Some((line, self.text, Ends { bounds }, Flaw::None)));
            }
        }
    }
}

/// The fields of a record that lie one after another, with a byte between them.
#[derive(Debug, Clone)]
pub struct Ends<'s> {
    /// The byte before the first field, then the byte behind each.
    bounds: &'s [u32],
}

impl Iterator for Ends<'_> {
    type Item = (u32, u32);

    #[inline(always)]
    fn next(&mut self) -> Option<(u32, u32)> {
        let &[before, end, ..] = self.bounds else { return None };
        self.bounds = &self.bounds[1..];
        Some((before.wrapping_add(1), end))
    }

    #[inline(always)]
    fn last(self) -> Option<(u32, u32)> {
        let &[.., before, end] = self.bounds else { return None };
        Some((before.wrapping_add(1), end))
    }

    #[inline(always)]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let count = self.bounds.len().saturating_sub(1);
        (count, Some(count))
    }
}

impl ExactSizeIterator for Ends<'_> {}

impl FieldBounds for Ends<'_> {
    #[inline(always)]
    fn at(&self, place: usize) -> (u32, u32) {
        (self.bounds[place].wrapping_add(1), self.bounds[place + 1])
    }

    #[inline(always)]
    fn all(&self) -> impl Iterator<Item = (u32, u32)> {
        let ends = self.bounds.get(1..).unwrap_or_default();
        self.bounds.iter().zip(ends).map(|(before, &end)| (before.wrapping_add(1), end))
    }

    #[inline(always)]
    fn span(&self) -> usize {
        let &[before, .., end] = self.bounds else { return 0 };
        end.wrapping_sub(before.wrapping_add(1)) as usize
    }
}
