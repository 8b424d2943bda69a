//! Rows that a server may get as they are: their checks, and their copy.

use memchr::{memchr, memchr2};

use crate::batch::Batch;
use crate::chunks::Chunk;
use crate::digits;
use crate::syntax::Dialect;
use crate::value::real;

/// A check that a field of a column passes if the server may get its bytes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Check {
    /// Any text passes.
    Text,
    /// Whole numbers within bounds pass.
    Integer { min: i64, max: i64 },
    /// Numbers pass that a double holds exactly enough.
    Real,
    /// The whole row is to be converted.
    Other,
}

/// Facts about a chunk's text that save checks of its fields.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    /// True if all of it is UTF-8.
    pub is_utf8: bool,
    /// True if it holds a zero byte.
    pub has_zero: bool,
    /// True if no byte of a field needs an escape.
    pub is_plain: bool,
}

/// Looks once through all of a chunk, which spares a slower look at each field.
pub(super) fn known(chunk: &Chunk, Dialect { delimiter, .. }: Dialect) -> Known {
    let text = chunk.text();
    let needs_escape = match delimiter {
        // A tab may lie within quotes.
        b'\t' if !chunk.has_quotes => memchr(b'\\', text).is_some(),
        _ => memchr2(b'\\', b'\t', text).is_some(),
    };
    Known {
        is_utf8: std::str::from_utf8(text).is_ok(),
        has_zero: memchr(0, text).is_some(),
        // A line may end within quotes, as well as between rows.
        is_plain: !needs_escape && !chunk.has_quotes,
    }
}

/// True if the fields of a row are values of their columns, none of them NULL.
#[inline]
pub(super) fn fits(text: &[u8], fields: impl ExactSizeIterator<Item = (u32, u32)>, checks: &[Check]) -> bool {
    fields.len() == checks.len()
        && fields.zip(checks).all(|((from, to), check)| {
            let (from, to) = (from as usize, to as usize);
            match *check {
                Check::Text => true,
                Check::Integer { min, max } => {
                    digits::integer(text, from, to).is_some_and(|number| min <= number && number <= max)
                }
                Check::Real => real(&text[from..to]).is_some(),
                Check::Other => false,
            }
        })
}

/// Copies a row of fields that lie one after another, with a tab between them.
#[inline]
pub(super) fn copy(text: &[u8], mut fields: impl Iterator<Item = (u32, u32)> + Clone, batch: &mut Batch) {
    let Some((from, first_end)) = fields.next() else { return };
    let end = fields.clone().last().map_or(first_end, |(_, end)| end);
    let start = batch.used;
    batch.put(&text[from as usize..end as usize]);
    let row = &mut batch.text[start..];
    for (field, _) in fields {
        row[(field - from - 1) as usize] = b'\t';
    }
    batch.put(b"\n");
}
