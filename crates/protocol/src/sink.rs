//! The destination of the values that a client fetches.

use crate::Value;

/// Takes the values of rows, in order.
pub trait Sink {
    /// Adds SQL NULL to the current row.
    fn null(&mut self);

    /// Adds a whole number to the current row.
    fn integer(&mut self, value: i64);

    /// Adds any other number to the current row.
    fn real(&mut self, value: f64);

    /// Adds text to the current row; it need not be UTF-8.
    fn text(&mut self, value: &[u8]);

    /// Adds bytes to the current row.
    fn blob(&mut self, value: &[u8]);

    /// Ends the current row.
    fn end_row(&mut self);
}

/// Keeps rows as they are, where their speed does not matter.
#[derive(Debug, Default, PartialEq)]
pub struct RowCollector {
    /// The rows that have ended.
    pub rows: Vec<Vec<Value>>,
    row: Vec<Value>,
}

impl RowCollector {
    /// The first value of the first row. `None` without a row.
    pub fn first(self) -> Option<Value> {
        self.rows.into_iter().next()?.into_iter().next()
    }
}

impl Sink for RowCollector {
    fn null(&mut self) {
        self.row.push(Value::Null);
    }

    fn integer(&mut self, value: i64) {
        self.row.push(Value::Integer(value));
    }

    fn real(&mut self, value: f64) {
        self.row.push(Value::from_real(value));
    }

    fn text(&mut self, value: &[u8]) {
        self.row.push(Value::from_text(value));
    }

    fn blob(&mut self, value: &[u8]) {
        self.row.push(Value::from_bytes(value));
    }

    fn end_row(&mut self) {
        self.rows.push(std::mem::take(&mut self.row));
    }
}
