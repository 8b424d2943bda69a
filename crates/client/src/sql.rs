//! The interface that connections to all servers share.

use std::ffi::{CStr, CString};

use anyhow::Result;
use dyno_protocol::{RowCollector, Sink, Value};

/// A connection to a server, closed when dropped.
pub trait Sql {
    /// Executes one statement, reads every value of every row by the type of its column, and returns
    /// how many rows it inserted, updated or deleted.
    ///
    /// It allocates nothing, and beyond the library's calls it does what puts a value into the sink.
    fn execute<S: Sink>(&self, sql: &CStr, sink: &mut S) -> Result<u64>;

    /// Executes a statement that returns no rows, such as BEGIN.
    #[inline]
    fn command(&self, sql: &CStr) -> Result<()> {
        self.execute(sql, &mut RowCollector::default()).map(drop)
    }

    /// Executes a statement and returns its rows.
    fn rows(&self, sql: &str) -> Result<Vec<Vec<Value>>> {
        let mut kept = RowCollector::default();
        self.execute(&CString::new(sql)?, &mut kept)?;
        Ok(kept.rows)
    }

    /// The first value of a statement's first row, as text. `None` without a row, or for NULL.
    fn value(&self, sql: &str) -> Result<Option<String>> {
        let value = self.rows(sql)?.into_iter().next().and_then(|row| row.into_iter().next());
        Ok(match value {
            None | Some(Value::Null) => None,
            Some(Value::Integer(number)) => Some(number.to_string()),
            Some(Value::Real(number)) => Some(number.to_string()),
            Some(Value::Text(text)) => Some(text),
            Some(Value::Blob { blob }) => Some(blob),
        })
    }
}
