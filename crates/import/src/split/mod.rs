//! Splits text with delimiters of the usual dialect into records and fields, 64 bytes at a time.
//!
//! A quote opens a field only at the field's beginning. Within quotes, two quotes are one letter and ends of lines are
//! text; the first quote that stands alone closes the field. [`marks`] finds the bytes that matter, [`quoted`] alone
//! follows quotes, and [`cut`] asks it where a record with a stray quote ends. [`lines`] takes pieces without any
//! quote. Other dialects, and text that is not cut into pieces, are read by [`crate::records`], which all of this is
//! tested against.

mod cut;
mod lines;
mod marks;
mod quoted;
#[cfg(test)]
mod tests;

use std::iter::Copied;
use std::slice::Iter;

use anyhow::Result;

use crate::syntax::Flaw;

pub use cut::{Cut, cut};
pub use lines::{Lines, count};
pub use quoted::Quoted;

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

/// Gives the records of a text one after another. Empty lines are no records.
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
