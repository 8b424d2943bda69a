//! A connection to a server.

use std::ffi::{CStr, CString};

use anyhow::Result;
use dyno_protocol::Value;

use crate::{Answer, Rows};

/// A connection, closed when dropped.
pub trait Client: Rows {
    /// What a server says of a statement that it refuses. Any other error of a statement is one of the
    /// connection.
    type Refusal: std::error::Error + Send + Sync + 'static;

    /// Executes one statement, reads every value of every row by the type of its column, and returns
    /// how many rows it inserted, updated or deleted.
    ///
    /// This is the timed section. It allocates nothing, and beyond the library's calls it does what puts
    /// a value into the answer.
    fn execute(&self, sql: &CStr, answer: &mut Answer) -> Result<u64>;

    /// Executes a statement that returns no rows, such as BEGIN.
    #[inline]
    fn command(&self, sql: &CStr) -> Result<()> {
        self.execute(sql, &mut Answer::new()).map(drop)
    }

    /// Executes a statement outside the clock and returns its rows.
    fn rows(&self, sql: &str) -> Result<Vec<Vec<Value>>> {
        let mut answer = Answer::new();
        self.execute(&CString::new(sql)?, &mut answer)?;
        Ok(answer.kept().collect())
    }

    /// The first value of a statement's first row, as text. `None` where there is no row, or a NULL.
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
