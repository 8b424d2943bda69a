//! The statements of an import into PostgreSQL, in order.

use crate::safety::Safety;
use crate::table::Table;
use crate::target::Existing;

/// The place of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// Its schema; None for a new table of the first one of the search path.
    pub schema: Option<String>,
    /// Its name there.
    pub table: String,
}

impl Place {
    /// The table's name in statements.
    pub fn quoted(&self) -> String {
        self.beside(&self.table)
    }

    /// The name of another table in the same schema.
    pub fn beside(&self, table: &str) -> String {
        let schema = self.schema.as_ref().map_or(String::new(), |schema| quoted(schema) + ".");
        schema + &quoted(table)
    }
}

/// The statements of an import; a COMMIT follows them.
pub struct Statements {
    /// Before the rows.
    pub before: Vec<String>,
    /// Takes the rows.
    pub copy: String,
    /// After the rows.
    pub after: Vec<String>,
    /// The one of them behind which no other program can change the existing table.
    pub hold: Option<String>,
    /// True if the rows go to a table of a passing name first.
    pub is_staged: bool,
}

impl Statements {
    /// Table, rows and indexes in one transaction. A table that is made in it is loaded WITH FREEZE, so that
    /// no row need be written again later.
    pub fn in_one(table: &Table, name: &str, existing: Existing, safety: Safety) -> Statements {
        let mut before = begin(safety);
        let hold = hold(name, existing);
        before.extend(hold.clone());
        match existing {
            Existing::Replace => before.push(format!("DROP TABLE {name}")),
            Existing::Append => before.push(JUDGED.to_owned()),
            Existing::Create => {}
        }
        let is_new = existing != Existing::Append;
        before.extend(is_new.then(|| create(table, name)));
        let copy = copy(table, name) + if is_new { " WITH (FREEZE)" } else { "" };
        Statements { before, copy, after: keys(table, name, existing), hold, is_staged: false }
    }

    /// Rows that go to a passing table first, and from there to the table whose keys they may have. Of rows with one
    /// key the last one counts where the table's row is updated, as if they came one after another, else the first.
    pub fn merged(table: &Table, name: &str, staged: &str, safety: Safety) -> Statements {
        let all: Vec<String> = table.columns.iter().map(|column| quoted(&column.name)).collect();
        let columns = all.join(", ");
        let merge = table.merge.as_ref();
        let key: Vec<String> =
            merge.into_iter().flat_map(|merge| &merge.key).map(|name| quoted(name)).collect();
        // A unique index takes two rows without a value for different ones.
        let lacks_value: Vec<String> = key.iter().map(|name| format!("{name} IS NULL")).collect();
        let apart = format!("CASE WHEN {} THEN ctid END", lacks_value.join(" OR "));
        let (key, set) = (key.join(", "), table.updated());
        let last = if merge.is_some_and(|merge| merge.updates) { " DESC" } else { "" };
        let set: Vec<String> = set.iter().map(|name| format!("{0} = excluded.{0}", quoted(name))).collect();
        let done =
            if set.is_empty() { "NOTHING".to_owned() } else { format!("UPDATE SET {}", set.join(", ")) };
        let mut before = begin(safety);
        let hold = hold(name, Existing::Append);
        before.extend(hold.clone());
        before.push(JUDGED.to_owned());
        before.push(format!(
            "CREATE TEMPORARY TABLE {staged} ON COMMIT DROP AS SELECT {columns} FROM {name} WITH NO DATA"
        ));
        let insert = format!(
            "INSERT INTO {name} ({columns}) SELECT DISTINCT ON ({key}, {apart}) {columns} FROM {staged} \
             ORDER BY {key}, {apart}, ctid{last} \
             ON CONFLICT ({key}) DO {done}"
        );
        let after = [insert].into_iter().chain(keys(table, name, Existing::Append)).collect();
        Statements { before, copy: copy(table, staged), after, hold, is_staged: true }
    }

    /// A new table that several connections fill at the same time under the name `staged`, and that gets its
    /// own in one transaction with its keys. The COMMIT of that one syncs the log up to there, so those before
    /// need not wait for the device.
    pub fn staged(
        table: &Table,
        place: &Place,
        existing: Existing,
        safety: Safety,
        staged: &str,
    ) -> Statements {
        let (name, staged) = (place.quoted(), place.beside(staged));
        let before = vec![HURRIED.to_owned(), create(table, &staged)];
        let mut after = vec![UNHURRIED.to_owned()];
        after.extend(begin(safety));
        let hold = hold(&name, existing);
        after.extend(hold.clone());
        if existing == Existing::Replace {
            after.push(format!("DROP TABLE {name}"));
        }
        after.push(format!("ALTER TABLE {staged} RENAME TO {}", quoted(&place.table)));
        after.extend(keys(table, &name, existing));
        Statements { before, copy: copy(table, &staged), after, hold, is_staged: true }
    }
}

/// The statement that keeps others from changing an existing table until the transaction ends. LOCK TABLE would take no
/// foreign table, and a SELECT needs a privilege that COPY does not: so rows are added after a plan for one, which adds none.
fn hold(name: &str, existing: Existing) -> Option<String> {
    match existing {
        Existing::Create => None,
        Existing::Append => Some(format!("EXPLAIN INSERT INTO {name} DEFAULT VALUES")),
        Existing::Replace => Some(format!("LOCK TABLE {name}")),
    }
}

/// A connection whose commits another one syncs.
pub const HURRIED: &str = "SET synchronous_commit = off";
/// Takes that back.
pub const UNHURRIED: &str = "RESET synchronous_commit";

/// Begins a transaction. A stricter one, as a server may begin them by default, would see the table as it was before others
/// changed it.
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";

fn begin(safety: Safety) -> Vec<String> {
    let hurried = (safety == Safety::None).then(|| "SET LOCAL synchronous_commit = off".to_owned());
    [BEGIN.to_owned()].into_iter().chain(hurried).collect()
}

/// Judges the rows for an existing table as they come, also by constraints that would wait for the COMMIT.
const JUDGED: &str = "SET CONSTRAINTS ALL IMMEDIATE";

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
fn keys(table: &Table, name: &str, existing: Existing) -> Vec<String> {
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
