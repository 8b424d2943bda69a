//! The texts that stand for NULL.

use super::Plan;
use crate::table::Column;

/// Spellings of NULL.
pub(super) struct Nulls {
    /// In every column.
    pub every: Vec<Vec<u8>>,
    /// In each column alone, in the file's order.
    pub each: Vec<Vec<Vec<u8>>>,
}

impl Nulls {
    /// True if a field of a column is one of them.
    pub fn has(&self, column: usize, field: &[u8]) -> bool {
        let own = self.each.get(column);
        self.every.iter().chain(own.into_iter().flatten()).any(|null| null == field)
    }
}

impl Plan {
    /// Spellings of NULL.
    pub(super) fn nulls(&self) -> Nulls {
        let bytes = |text: &String| text.as_bytes().to_vec();
        let of = |column: &Column| {
            let own = self.request.nulls_of.iter();
            let own = own.filter(|(name, _)| name.eq_ignore_ascii_case(&column.name));
            own.map(|(_, text)| bytes(text)).collect()
        };
        Nulls {
            every: self.request.nulls.iter().map(bytes).collect(),
            each: self.table.columns.iter().map(of).collect(),
        }
    }
}
