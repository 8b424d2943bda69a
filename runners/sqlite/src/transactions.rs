//! Transactions of so many operations each, begun and committed by prepared statements.

use anyhow::Result;
use dyno_client::sqlite::{Connection, Statement};

/// Transactions of so many operations each.
pub struct Transactions<'a> {
    begin: Statement<'a>,
    commit: Statement<'a>,
    /// None where each operation commits by itself, which SQLite does without being told.
    size: Option<u64>,
    /// Operations until the commit.
    left: u64,
}

impl<'a> Transactions<'a> {
    /// `per_commit` operations make a transaction; none: all of them.
    pub fn new(connection: &'a Connection, per_commit: Option<u64>) -> Result<Transactions<'a>> {
        let size = per_commit.unwrap_or(u64::MAX);
        Ok(Transactions {
            begin: Statement::new(connection, c"BEGIN")?,
            commit: Statement::new(connection, c"COMMIT")?,
            size: Some(size).filter(|&size| size > 1),
            left: 0,
        })
    }

    /// Before an operation.
    #[inline]
    pub fn before(&mut self) -> Result<()> {
        if let Some(size) = self.size.filter(|_| self.left == 0) {
            self.begin.run([])?;
            self.left = size;
        }
        Ok(())
    }

    /// After so many operations in one statement.
    #[inline]
    pub fn after(&mut self, operations: u64) -> Result<()> {
        if self.size.is_some() {
            self.left = self.left.saturating_sub(operations);
            if self.left == 0 {
                self.commit.run([])?;
            }
        }
        Ok(())
    }

    /// After the last one.
    pub fn finish(mut self) -> Result<()> {
        if self.left > 0 { self.commit.run([]) } else { Ok(()) }
    }
}
