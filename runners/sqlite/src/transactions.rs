//! Transactions that are begun and committed by prepared statements.

use anyhow::Result;
use dyno_client::sqlite::{Connection, Statement};
use dyno_runner::TransactionControl;

/// The two statements.
pub struct Transactions<'c> {
    begin: Statement<'c>,
    commit: Statement<'c>,
}

impl<'c> Transactions<'c> {
    /// Those of a connection.
    pub fn new(connection: &'c Connection) -> Result<Transactions<'c>> {
        Ok(Transactions {
            begin: Statement::new(connection, c"BEGIN")?,
            commit: Statement::new(connection, c"COMMIT")?,
        })
    }
}

impl TransactionControl for Transactions<'_> {
    #[inline]
    fn begin(&mut self) -> Result<()> {
        self.begin.run([])
    }

    #[inline]
    fn commit(&mut self) -> Result<()> {
        self.commit.run([])
    }
}
