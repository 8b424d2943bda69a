//! A connection to a server.

use std::ffi::CStr;

use anyhow::Result;

use crate::{Answer, TransactionControl};

/// A connection, closed when dropped.
pub trait Client {
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
}

impl<C: Client> TransactionControl for &C {
    #[inline]
    fn begin(&mut self) -> Result<()> {
        self.command(c"BEGIN")
    }

    #[inline]
    fn commit(&mut self) -> Result<()> {
        self.command(c"COMMIT")
    }
}
