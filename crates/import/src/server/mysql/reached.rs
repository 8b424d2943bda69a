//! The failures that a commit survives by the settings in force. The rules are those of `engines/mariadb.toml` and
//! `engines/mysql.toml`.

use std::collections::HashMap;

use anyhow::Result;
use dyno_client::Sql;

use super::MySql;
use super::catalog::text;
use crate::safety::{Reached, Safety};
use crate::target::Existing;

/// Settings by which a power cut may undo commits that are in InnoDB's log, or leave pages half written.
const HOLES: &str = "SHOW VARIABLES WHERE variable_name IN ('innodb_doublewrite', 'innodb_flush_method', 'log_bin', 'sync_binlog')";

impl MySql {
    /// The failures that the commit of an import survives.
    pub(super) fn reached(&self, existing: Existing) -> Result<Reached> {
        let flush = self.connection.value("SELECT @@innodb_flush_log_at_trx_commit")?.unwrap_or_default();
        let safety = match flush.as_str() {
            "1" | "3" => Safety::PowerLoss,
            "2" => Safety::ProcessCrash,
            _ => Safety::None,
        };
        let holes = holes(&self.variables(HOLES)?);
        let most = if holes.is_empty() { Safety::PowerLoss } else { Safety::ProcessCrash };
        let (safety, by) = (safety.min(most), format!("innodb_flush_log_at_trx_commit={flush}{holes}"));
        Ok(match self.sync_frm.filter(|_| existing != Existing::Append) {
            Some(true) => Reached { safety, by: by + ", sync_frm=ON" },
            Some(false) => Reached { safety: safety.min(Safety::ProcessCrash), by: by + ", sync_frm=OFF" },
            None => Reached { safety, by },
        })
    }

    /// The names and values that a statement returns.
    fn variables(&self, sql: &str) -> Result<HashMap<String, String>> {
        let pairs = self.connection.rows(sql)?.into_iter().filter_map(|row| {
            let mut row = row.into_iter().map(text);
            Some((row.next()?, row.next()?))
        });
        Ok(pairs.collect())
    }
}

/// Those of the variables that are such settings, each behind a comma.
fn holes(variables: &HashMap<String, String>) -> String {
    let value = |name: &str| variables.get(name).map_or("", String::as_str);
    let is = |name: &str, values: &[&str]| values.contains(&value(name));
    let found = [
        ("innodb_doublewrite", is("innodb_doublewrite", &["OFF", "DETECT_ONLY"])),
        ("innodb_flush_method", is("innodb_flush_method", &["nosync", "littlesync"])),
        // Recovery undoes a transaction that is not in the binary log.
        ("sync_binlog", is("log_bin", &["ON"]) && !is("sync_binlog", &["1"])),
    ];
    let found = found.into_iter().filter(|(_, is_hole)| *is_hole);
    found.map(|(name, _)| format!(", {name}={}", value(name))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_by_which_a_power_cut_takes_commits_are_named() {
        let said = |variables: &[(&str, &str)]| {
            let owned = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            holes(&owned.collect())
        };
        assert_eq!(said(&[("innodb_doublewrite", "ON"), ("log_bin", "ON"), ("sync_binlog", "1")]), "");
        assert_eq!(said(&[("log_bin", "OFF"), ("sync_binlog", "0")]), "");
        assert_eq!(said(&[("log_bin", "ON"), ("sync_binlog", "0")]), ", sync_binlog=0");
        let two = [("innodb_doublewrite", "OFF"), ("innodb_flush_method", "nosync")];
        assert_eq!(said(&two), ", innodb_doublewrite=OFF, innodb_flush_method=nosync");
    }
}
