//! The columns that an operation keeps of its statements' rows, for the parameters of later ones.

use dyno_protocol::{MixRows, Sink};

use super::Value;

/// The rows of one statement that are kept. Its memory is used again for the next operation.
#[derive(Debug, Default)]
pub struct KeptRows {
    shape: MixRows,
    cells: Vec<KeptCell>,
    bytes: Vec<u8>,
    /// The columns of the current row so far.
    column: usize,
    /// The rows that the statement has returned, kept or not.
    rows: usize,
}

/// A value; text and blobs lie among the bytes.
#[derive(Debug, Clone, Copy)]
enum KeptCell {
    Null,
    Integer(i64),
    Real(f64),
    Text(usize, usize),
    Blob(usize, usize),
}

impl KeptRows {
    /// Room for rows of a shape.
    pub fn new(shape: MixRows) -> KeptRows {
        KeptRows { shape, ..KeptRows::default() }
    }

    /// Returns true if a statement without a row fails.
    pub fn may_miss(&self) -> bool {
        self.shape.may_miss
    }

    /// Forgets all rows.
    #[inline]
    pub fn clear(&mut self) {
        self.cells.clear();
        self.bytes.clear();
        (self.column, self.rows) = (0, 0);
    }

    /// The number of rows kept.
    #[inline]
    pub fn len(&self) -> usize {
        if self.shape.all { self.rows } else { self.rows.min(1) }
    }

    /// The value of a column of a row; of one that is not there NULL.
    #[inline]
    pub fn value(&self, row: usize, column: usize) -> Value<'_> {
        match self.cells.get(row * self.shape.columns + column) {
            None | Some(KeptCell::Null) => Value::Null,
            Some(KeptCell::Integer(number)) => Value::Integer(*number),
            Some(KeptCell::Real(number)) => Value::Real(*number),
            Some(&KeptCell::Text(start, end)) => Value::Text(&self.bytes[start..end]),
            Some(&KeptCell::Blob(start, end)) => Value::Blob(&self.bytes[start..end]),
        }
    }

    /// Adds a cell where it is kept: columns beyond the named ones are not, nor rows after the first where that is all.
    #[inline]
    fn add(&mut self, cell: impl FnOnce(&mut Vec<u8>) -> KeptCell) {
        if self.column < self.shape.columns && (self.shape.all || self.rows == 0) {
            let cell = cell(&mut self.bytes);
            self.cells.push(cell);
        }
        self.column += 1;
    }
}

impl Sink for KeptRows {
    #[inline]
    fn null(&mut self) {
        self.add(|_| KeptCell::Null);
    }

    #[inline]
    fn integer(&mut self, value: i64) {
        self.add(|_| KeptCell::Integer(value));
    }

    #[inline]
    fn real(&mut self, value: f64) {
        self.add(|_| KeptCell::Real(value));
    }

    #[inline]
    fn text(&mut self, value: &[u8]) {
        self.add(|bytes| {
            let start = bytes.len();
            bytes.extend_from_slice(value);
            KeptCell::Text(start, bytes.len())
        });
    }

    #[inline]
    fn blob(&mut self, value: &[u8]) {
        self.add(|bytes| {
            let start = bytes.len();
            bytes.extend_from_slice(value);
            KeptCell::Blob(start, bytes.len())
        });
    }

    #[inline]
    fn end_row(&mut self) {
        // A row that has fewer columns than were named is filled up.
        while self.column < self.shape.columns {
            self.null();
        }
        self.column = 0;
        self.rows += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(all: bool) -> KeptRows {
        let mut kept = KeptRows::new(MixRows { columns: 3, all, may_miss: false });
        for row in 0..2 {
            kept.integer(row);
            kept.text(b"two");
            kept.real(1.5);
            kept.blob(b"beyond");
            kept.end_row();
            kept.null();
            kept.end_row();
        }
        kept
    }

    #[test]
    fn values_are_found_by_row_and_column() {
        let kept = filled(true);
        assert_eq!(kept.len(), 4);
        let row = |row| [0, 1, 2].map(|column| kept.value(row, column));
        assert_eq!(row(2), [Value::Integer(1), Value::Text(b"two"), Value::Real(1.5)]);
        assert_eq!(row(3), [Value::Null; 3]);
        assert_eq!(row(4), [Value::Null; 3]);
    }

    #[test]
    fn the_first_row_is_kept_until_the_next_operation() {
        let mut kept = filled(false);
        assert_eq!((kept.len(), kept.value(0, 0), kept.cells.len()), (1, Value::Integer(0), 3));
        kept.clear();
        assert_eq!((kept.len(), kept.value(0, 0)), (0, Value::Null));
    }
}
