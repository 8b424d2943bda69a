//! An existing table as the database describes it: read when the import is planned, and once more when no other program
//! can change it.

use anyhow::{Result, bail, ensure};

use super::connection::Connection;
use crate::table::Column;
use crate::target::literal;
use crate::value::Kind;

/// A table that is there. If two are equal, rows that are planned for one are right for the other.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundTable {
    /// The columns that a file may fill.
    pub columns: Vec<Column>,
    /// The statement that made it.
    sql: String,
    /// Its indexes and triggers, each with its name.
    pub attached: Vec<(String, String)>,
    /// The treatment of its foreign keys.
    pub foreign_keys: ForeignKeys,
    /// True if a foreign key of another table refers to it.
    pub is_referred: bool,
}

/// The foreign keys of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForeignKeys {
    /// The table has no foreign keys.
    None,
    /// They refer to other tables, so each row can be judged alone.
    Others,
    /// One refers to the table itself: rows are judged when all are in.
    Itself,
}

impl FoundTable {
    /// The table of a name, or `None` where the database has no such table.
    ///
    /// # Errors
    /// It is no table that a file may fill.
    pub fn read(connection: &Connection, table: &str) -> Result<Option<FoundTable>> {
        let Some(columns) = columns(connection, table)? else { return Ok(None) };
        let sql = connection.value(&format!(
            "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = {} COLLATE NOCASE",
            literal(table)
        ))?;
        Ok(Some(FoundTable {
            columns,
            sql: sql.unwrap_or_default(),
            attached: attached(connection, table)?,
            foreign_keys: foreign_keys(connection, table)?,
            is_referred: !referring(connection, table)?.is_empty(),
        }))
    }

    /// True if the table says what becomes of a row that violates a constraint, as in `UNIQUE ON CONFLICT REPLACE`.
    pub fn resolves_conflicts(&self) -> bool {
        says_on_conflict(&self.sql)
    }

    /// True if it has a trigger.
    pub fn has_triggers(&self) -> bool {
        self.attached.iter().any(|(_, sql)| sql.starts_with("CREATE TRIGGER"))
    }
}

/// Refuses a table in which SQLite or a virtual table keeps its own data, for other rows would damage the database, and a
/// virtual table itself: its module may store other values than it is given, as an R-tree rounds them.
pub fn check_own(connection: &Connection, table: &str) -> Result<()> {
    let is_reserved = table.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("sqlite_"));
    ensure!(
        !is_reserved,
        "{table} is a name that SQLite keeps for its own tables, to which dyno adds nothing: --table names another"
    );
    let kind = connection.value(&format!(
        "SELECT type FROM pragma_table_list WHERE schema = 'main' AND name = {} COLLATE NOCASE",
        literal(table)
    ))?;
    match kind.as_deref() {
        Some("shadow") => {
            bail!(
                "{table} holds the data of a virtual table, to which dyno adds nothing: --table names another"
            )
        }
        Some("virtual") => bail!(
            "{table} is a virtual table, as those of FTS5 and R-tree are, whose module may store other values than it is given, \
             so dyno neither adds rows to it nor replaces it: --table names another"
        ),
        _ => Ok(()),
    }
}

/// The columns of a table that a file may fill; None if it does not exist.
fn columns(connection: &Connection, table: &str) -> Result<Option<Vec<Column>>> {
    let name = literal(table);
    let kind = connection.value(&format!(
        "SELECT type FROM sqlite_schema WHERE name = {name} COLLATE NOCASE AND type IN ('table', 'view')"
    ))?;
    match kind.as_deref() {
        None => return Ok(None),
        Some("table") => {}
        Some(_) => bail!("{table} is a view"),
    }
    let sql =
        format!("SELECT name, type, pk > 0 FROM pragma_table_xinfo({name}) WHERE hidden = 0 ORDER BY cid");
    let is_strict = connection.value(&format!(
        "SELECT strict FROM pragma_table_list WHERE schema = 'main' AND name = {name} COLLATE NOCASE"
    ))?;
    let is_strict = is_strict.as_deref() == Some("1");
    let columns = connection.rows(&sql)?.into_iter().map(|row| {
        let mut row = row.into_iter().map(Option::unwrap_or_default);
        let (name, declared) = (row.next().unwrap_or_default(), row.next().unwrap_or_default());
        let is_key = row.next().as_deref() == Some("1");
        let kind = affinity(&declared, is_strict);
        Column { kind, name, declared, inferred: false, required: is_key, is_key }
    });
    Ok(Some(columns.collect()))
}

/// The indexes and triggers of a table, by name and statement.
fn attached(connection: &Connection, table: &str) -> Result<Vec<(String, String)>> {
    let rows = connection.rows(&format!(
        "SELECT name, sql FROM sqlite_schema WHERE tbl_name = {} COLLATE NOCASE \
         AND type IN ('index', 'trigger') AND sql IS NOT NULL ORDER BY type, rowid",
        literal(table)
    ))?;
    let pair = |row: Vec<Option<String>>| {
        let mut row = row.into_iter().map(Option::unwrap_or_default);
        (row.next().unwrap_or_default(), row.next().unwrap_or_default())
    };
    Ok(rows.into_iter().map(pair).collect())
}

/// The foreign keys of a table.
fn foreign_keys(connection: &Connection, table: &str) -> Result<ForeignKeys> {
    let keys =
        connection.rows(&format!("SELECT \"table\" FROM pragma_foreign_key_list({})", literal(table)))?;
    let parents: Vec<String> = keys.into_iter().filter_map(|row| row.into_iter().next().flatten()).collect();
    Ok(match parents.iter().any(|parent| parent.eq_ignore_ascii_case(table)) {
        true => ForeignKeys::Itself,
        false if parents.is_empty() => ForeignKeys::None,
        false => ForeignKeys::Others,
    })
}

/// The other tables with a foreign key to a table.
pub fn referring(connection: &Connection, table: &str) -> Result<Vec<String>> {
    let children = connection.rows(&format!(
        "SELECT DISTINCT s.name FROM sqlite_schema s, pragma_foreign_key_list(s.name) k \
         WHERE s.type = 'table' AND k.\"table\" = {0} COLLATE NOCASE AND s.name <> {0} COLLATE NOCASE",
        literal(table)
    ))?;
    Ok(children.into_iter().filter_map(|row| row.into_iter().next().flatten()).collect())
}

/// True if a statement has the words ON CONFLICT, with white space and comments between them.
fn says_on_conflict(sql: &str) -> bool {
    let sql = sql.to_ascii_uppercase();
    sql.match_indices("CONFLICT").any(|(at, _)| before_space(&sql[..at]).ends_with("ON"))
}

/// A text without the white space and the comments at its end.
fn before_space(text: &str) -> &str {
    let text = text.trim_end();
    let line = text.rfind('\n').map_or(0, |end| end + 1);
    let comment = match text.strip_suffix("*/") {
        Some(inner) => inner.rfind("/*"),
        None => text[line..].find("--").map(|begin| line + begin),
    };
    comment.map_or(text, |begin| before_space(&text[..begin]))
}

/// The kind of values that a column of a declared type takes (<https://sqlite.org/datatype3.html>, section 3.1).
/// ANY keeps values as they are in a table that is STRICT; in others it is a word without a meaning, as DATE is.
fn affinity(declared: &str, is_strict: bool) -> Kind {
    let declared = declared.to_ascii_uppercase();
    let has = |words: &[&str]| words.iter().any(|word| declared.contains(word));
    if has(&["INT"]) {
        Kind::INTEGER
    } else if has(&["CHAR", "CLOB", "TEXT"]) {
        Kind::TEXT
    } else if declared.is_empty() || has(&["BLOB"]) || is_strict && declared == "ANY" {
        Kind::AsIs
    } else if has(&["REAL", "FLOA", "DOUB"]) {
        Kind::Real
    } else {
        Kind::Numeric
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_types_have_the_affinity_that_sqlite_gives_them() {
        let lax = |declared: &str| affinity(declared, false);
        assert_eq!(lax("BIGINT UNSIGNED"), Kind::INTEGER);
        assert_eq!(lax("varchar(20)"), Kind::TEXT);
        assert_eq!(lax("double precision"), Kind::Real);
        assert_eq!(lax("DECIMAL(8,2)"), Kind::Numeric);
        assert_eq!((lax(""), lax("BLOB")), (Kind::AsIs, Kind::AsIs));
        assert_eq!((lax("ANY"), affinity("any", true)), (Kind::Numeric, Kind::AsIs));
    }

    #[test]
    fn on_conflict_is_found_behind_white_space_and_comments() {
        for sql in [
            "CREATE TABLE t (a UNIQUE ON CONFLICT REPLACE)",
            "create table t (a unique on/**/conflict replace)",
            "create table t (a unique on -- so\n /* and\nso */ conflict ignore)",
        ] {
            assert!(says_on_conflict(sql), "{sql}");
        }
        for sql in ["CREATE TABLE t (a UNIQUE, conflict TEXT)", "CREATE TABLE conflict (a)", ""] {
            assert!(!says_on_conflict(sql), "{sql}");
        }
    }
}
