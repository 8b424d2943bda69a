//! Judges a load by its warnings: LOAD DATA LOCAL turns errors of values into them, since the server cannot stop a client
//! that sends.

use anyhow::{Result, anyhow};
use dyno_client::Sql;
use dyno_protocol::Value;

use super::MySql;
use super::catalog::text;
use super::triggers::Triggers;
use crate::error::{Input, Refused};
use crate::server::sent::Sent;

/// A message of fewer bytes is whole. The server cuts longer ones, perhaps within the row's number (`MYSQL_ERRMSG_SIZE`).
const WHOLE: usize = 500;

/// The message in a row of SHOW WARNINGS: level, code and message.
fn message(row: Vec<Value>) -> String {
    row.into_iter().nth(2).map(text).unwrap_or_default()
}

/// The row that a message names at its very end, from 1, and the message without it. The same words elsewhere are those of a
/// value.
fn row_at_end(message: &str) -> Option<(u64, &str)> {
    let (before, digits) = message.rsplit_once(" at row ")?;
    let is_number = message.len() < WHOLE && digits.bytes().all(|byte| byte.is_ascii_digit());
    let row = digits.parse().ok().filter(|_| is_number)?;
    Some((row, before))
}

impl MySql {
    /// Refuses a load that raised warnings, for a table, or for one of a passing name unless the table itself `is_filled`.
    ///
    /// # Errors
    /// The row that the server refuses, or its words where it does not say which.
    pub(super) fn check_warnings(&self, sent: &Sent, table: &str, is_filled: bool) -> Result<()> {
        let warnings = self.connection.rows("SHOW WARNINGS LIMIT 3")?;
        let warnings: Vec<String> = warnings.into_iter().map(message).collect();
        if warnings.is_empty() {
            return Ok(());
        }
        // Before any other query, after which the server knows no more of these warnings.
        let refused = self.refused(&warnings);
        // A statement of a trigger counts rows anew, and so do the messages from there on.
        let refused = refused.filter(|_| !is_filled || !self.may_have_triggers(table));
        let placed = refused.and_then(|(row, reason)| Some((sent.row(row)?, reason)));
        if let Some(((line, record), reason)) = placed {
            return Err(Refused { line, record, reason: self.plain(&reason, table) }.into());
        }
        let messages = warnings.iter().map(|warning| self.plain(warning, table));
        let messages = messages.collect::<Vec<_>>().join("; ");
        Err(anyhow!("the server would change or leave out values, so nothing was loaded: {messages}")).input()
    }

    /// The row that the warnings are about, from 1, and the reason.
    fn refused(&self, warnings: &[String]) -> Option<(u64, String)> {
        let numbered = warnings.iter().find_map(|warning| row_at_end(warning));
        let numbered = numbered.map(|(row, reason)| (row, reason.to_owned()));
        numbered.or_else(|| Some((self.first_row()?, warnings.first()?.clone())))
    }

    /// The row of the first warning, from 1, which the message of a violated key or check does not hold. None where the
    /// server does not know.
    fn first_row(&self) -> Option<u64> {
        self.connection.rows("GET DIAGNOSTICS CONDITION 1 @dyno_row = ROW_NUMBER").ok()?;
        self.connection.value("SELECT @dyno_row").ok()??.parse().ok()
    }

    /// True unless the table is known to have no trigger.
    fn may_have_triggers(&self, table: &str) -> bool {
        !matches!(Triggers::of(&self.connection, table), Ok(Triggers::Absent))
    }

    /// A message of the server with the table's own name and not the one that it has until it is whole, and with the name of
    /// a column without either.
    fn plain(&self, message: &str, table: &str) -> String {
        let before = format!("`{}`.", self.staged);
        let message = match message.split_once(&before) {
            // for column `database`.`dyno_import_…`.`day`
            Some((start, rest)) => {
                let start = start.rfind(" `").map_or(start, |database| &start[..=database]);
                format!("{start}{rest}")
            }
            None => message.to_owned(),
        };
        message.replace(&self.staged, table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_named_at_the_end_of_a_message_and_nowhere_else() {
        assert_eq!(row_at_end("Data too long for 'a' at row 7"), Some((7, "Data too long for 'a'")));
        let value = "Incorrect date value: 'x at row 9' for column `d` at row 2";
        assert_eq!(row_at_end(value), Some((2, "Incorrect date value: 'x at row 9' for column `d`")));
        for message in [
            "Duplicate entry 'x at row 9' for key 'a'",
            "Duplicate entry '5' for key 'a at row 9'",
            "wrong at row 9 ",
            "wrong at row +9",
            "wrong at row ",
            "wrong",
        ] {
            assert_eq!(row_at_end(message), None, "{message}");
        }
        // It may have ended in more digits.
        assert_eq!(row_at_end(&format!("{} at row 12", "x".repeat(WHOLE))), None);
    }
}
