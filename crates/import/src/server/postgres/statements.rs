//! The statements of an import into PostgreSQL, in order.

use crate::safety::Safety;
use crate::table::Table;
use crate::target::Existing;

/// What is executed; a COMMIT follows.
pub struct Statements {
    /// Before the rows.
    pub before: Vec<String>,
    /// Takes the rows.
    pub copy: String,
    /// After the rows.
    pub after: Vec<String>,
}

impl Statements {
    /// Table, rows and indexes in one transaction. A table that is made in it is loaded WITH FREEZE, so that
    /// no row need be written again later.
    pub fn in_one(table: &Table, existing: Existing, safety: Safety) -> Statements {
        let name = quoted(&table.name);
        let mut before = begin(safety);
        if existing == Existing::Replace {
            before.push(format!("DROP TABLE {name}"));
        }
        let is_new = existing != Existing::Append;
        before.extend(is_new.then(|| create(table, &name)));
        let copy = copy(table, &name) + if is_new { " WITH (FREEZE)" } else { "" };
        Statements { before, copy, after: keys(table, existing) }
    }

    /// A new table that several connections fill at the same time under the name `staged`, and that gets its
    /// own in one transaction with its keys. The COMMIT of that one syncs the log up to there, so those before
    /// need not wait for the device.
    pub fn staged(table: &Table, existing: Existing, safety: Safety, staged: &str) -> Statements {
        let (name, staged) = (quoted(&table.name), quoted(staged));
        let before = vec![HURRIED.to_owned(), create(table, &staged)];
        let mut after = vec![UNHURRIED.to_owned()];
        after.extend(begin(safety));
        if existing == Existing::Replace {
            after.push(format!("DROP TABLE {name}"));
        }
        after.push(format!("ALTER TABLE {staged} RENAME TO {name}"));
        after.extend(keys(table, existing));
        Statements { before, copy: copy(table, &staged), after }
    }
}

/// A connection whose commits another one syncs.
pub const HURRIED: &str = "SET synchronous_commit = off";
/// Takes that back.
pub const UNHURRIED: &str = "RESET synchronous_commit";

fn begin(safety: Safety) -> Vec<String> {
    let hurried = (safety == Safety::None).then(|| "SET LOCAL synchronous_commit = off".to_owned());
    ["BEGIN".to_owned()].into_iter().chain(hurried).collect()
}

fn create(table: &Table, name: &str) -> String {
    let columns: Vec<String> =
        table.columns.iter().map(|column| format!("{} {}", quoted(&column.name), column.declared)).collect();
    format!("CREATE TABLE {name} ({})", columns.join(", "))
}

fn copy(table: &Table, name: &str) -> String {
    let columns: Vec<String> = table.columns.iter().map(|column| quoted(&column.name)).collect();
    format!("COPY {name} ({}) FROM STDIN", columns.join(", "))
}

/// Keys and indexes are made after the rows.
fn keys(table: &Table, existing: Existing) -> Vec<String> {
    let name = quoted(&table.name);
    let list =
        |columns: &[String]| columns.iter().map(|column| quoted(column)).collect::<Vec<_>>().join(", ");
    let mut statements = Vec::new();
    if existing != Existing::Append && !table.primary_key.is_empty() {
        statements.push(format!("ALTER TABLE {name} ADD PRIMARY KEY ({})", list(&table.primary_key)));
    }
    statements.extend(table.indexes.iter().map(|index| format!("CREATE INDEX ON {name} ({})", list(index))));
    statements
}

/// A name as PostgreSQL quotes it.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
