//! The statements of an import into MariaDB or MySQL, in order.

use crate::table::{Merge, Table};
use crate::target::Existing;

/// Behind the name of a new table, the name of the table that it replaces until that is dropped.
pub const OLD: &str = "_old";
/// Behind the same, the name of the small table that has the server sync the folder of the others.
pub const WITNESS: &str = "_synced";

/// The statements of an import, in order.
pub struct Statements {
    /// Before the rows.
    pub before: Vec<String>,
    /// Takes the rows.
    pub load: String,
    /// After the rows.
    pub after: Vec<String>,
    /// Makes the table the one that is seen.
    pub commit: String,
    /// Executed once the table is in its place.
    pub last: Vec<String>,
    /// Drops the table that was replaced.
    pub drop_old: Option<String>,
    /// Puts that table back in its place, if it cannot be dropped.
    pub take_back: Option<String>,
}

/// The statements of an import. A new table is loaded under the name `staged`. With `keeps_names` the server itself
/// makes names of tables durable.
pub fn statements(table: &Table, existing: Existing, staged: &str, keeps_names: bool) -> Statements {
    let is_new = existing != Existing::Append;
    let (old, witness) = (quoted(&name_of_old(staged)), quoted(&format!("{staged}{WITNESS}")));
    let (name, staged) = (quoted(&table.name), quoted(staged));
    let is_merged = table.merge.is_some();
    let into = if is_new || is_merged { &staged } else { &name };
    let mut before = Vec::new();
    if is_new {
        before.push(create(table, into));
    }
    let own: Vec<String> = table.columns.iter().map(|column| column.name.clone()).collect();
    if is_merged {
        before.push(format!("CREATE TEMPORARY TABLE {staged} AS SELECT {} FROM {name} LIMIT 0", list(&own)));
    }
    before.push("START TRANSACTION".into());
    let load = format!(
        "LOAD DATA LOCAL INFILE 'dyno' INTO TABLE {into} CHARACTER SET utf8mb4 \
         FIELDS TERMINATED BY '\\t' ESCAPED BY '\\\\' LINES TERMINATED BY '\\n' ({})",
        list(&own)
    );
    let mut after: Vec<String> = Vec::new();
    if is_new {
        after.push("COMMIT".into());
    }
    if let Some(merge) = &table.merge {
        after.push(merged(table, merge, &staged, &name));
    }
    // Only of a new table: ALTER TABLE commits, and with it the rows.
    after.extend(
        table.indexes.iter().map(|index| format!("ALTER TABLE {staged} ADD INDEX ({})", list(index))),
    );
    let commit = match existing {
        Existing::Append => "COMMIT".into(),
        Existing::Create => format!("RENAME TABLE {staged} TO {name}"),
        Existing::Replace => format!("RENAME TABLE {name} TO {old}, {staged} TO {name}"),
    };
    let mut last = Vec::new();
    if is_new && !keeps_names {
        // MariaDB renames files without syncing their folder. It syncs it when it makes a table (sync_frm), and with it
        // all names that changed before.
        last.push(format!("CREATE TABLE {witness} (n INT) ENGINE=InnoDB"));
        last.push(format!("DROP TABLE {witness}"));
    }
    last.extend(is_merged.then(|| format!("DROP TEMPORARY TABLE {staged}")));
    let is_replaced = existing == Existing::Replace;
    let drop_old = is_replaced.then(|| format!("DROP TABLE {old}"));
    let take_back = is_replaced.then(|| format!("RENAME TABLE {name} TO {staged}, {old} TO {name}"));
    Statements { before, load, after, commit, last, drop_old, take_back }
}

/// The name that the old table gets when the one loaded under the name `staged` takes its place.
pub fn name_of_old(staged: &str) -> String {
    format!("{staged}{OLD}")
}

/// The statement that keeps others from changing a table until the transaction ends: it adds no row.
pub fn held(table: &Table) -> String {
    let own: Vec<String> = table.columns.iter().map(|column| column.name.clone()).collect();
    let nulls = vec!["NULL"; own.len()].join(", ");
    format!("INSERT INTO {} ({}) SELECT {nulls} FROM DUAL WHERE FALSE", quoted(&table.name), list(&own))
}

/// The statement that makes a table.
fn create(table: &Table, name: &str) -> String {
    let columns = table.columns.iter().map(|column| format!("{} {}", quoted(&column.name), column.declared));
    let key = (!table.primary_key.is_empty()).then(|| format!("PRIMARY KEY ({})", list(&table.primary_key)));
    let parts: Vec<String> = columns.chain(key).collect();
    // Not with unique_checks = 0: MariaDB's own way of filling an empty table then takes up to twice as long,
    // and versions before 10.11.11 have a fault in it (MDEV-34703).
    format!("CREATE TABLE {name} ({}) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4", parts.join(", "))
}

/// The statement that merges the rows of a temporary table with those of the table.
fn merged(table: &Table, merge: &Merge, staged: &str, name: &str) -> String {
    // A column that is set to itself leaves the row as it is. IGNORE would turn other errors into warnings.
    let key = || merge.key.iter().take(1).map(|key| format!("{0} = {name}.{0}", quoted(key)));
    let set: Vec<String> =
        table.updated().iter().map(|name| format!("{0} = VALUES({0})", quoted(name))).collect();
    let set = if set.is_empty() { key().collect() } else { set };
    let own: Vec<String> = table.columns.iter().map(|column| column.name.clone()).collect();
    format!(
        "INSERT INTO {name} ({0}) SELECT {0} FROM {staged} ON DUPLICATE KEY UPDATE {1}",
        list(&own),
        set.join(", ")
    )
}

/// Names as a list.
fn list(names: &[String]) -> String {
    names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ")
}

/// A name as MySQL quotes it.
pub fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}
