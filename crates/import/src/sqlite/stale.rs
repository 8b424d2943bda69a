//! Names what stays in a database when a table is replaced, and does not do what it did.

use anyhow::Result;

use super::connection::Connection;
use crate::table::Table;
use crate::target::literal;

/// Says of which triggers and full-text indexes of a table this is true.
///
/// # Errors
/// The database cannot be read.
pub fn stale(connection: &Connection, table: &Table) -> Result<Vec<String>> {
    let name = literal(&table.name);
    let gone = |column: &String| {
        let column = column.to_lowercase();
        !table.columns.iter().any(|there| there.name.to_lowercase() == column)
    };
    let named = |condition: String| -> Result<Vec<(String, Vec<String>)>> {
        let rows = connection.rows(&format!("SELECT name, sql FROM sqlite_schema WHERE {condition}"))?;
        let rows = rows.into_iter().filter_map(|row| row.into_iter().collect::<Option<Vec<String>>>());
        Ok(rows.map(|row| (row[0].clone(), words(&row[1]))).collect())
    };
    let mut said = Vec::new();
    for (trigger, sql) in named(format!("type = 'trigger' AND tbl_name = {name} COLLATE NOCASE"))? {
        let lacking: Vec<String> = awaited(&sql).into_iter().filter(gone).collect();
        if !lacking.is_empty() {
            said.push(format!(
                "The trigger {trigger} is for updates of {}, which the new table does not have.",
                lacking.join(", ")
            ));
        }
    }
    let wanted = ["content".to_owned(), "=".to_owned(), table.name.to_lowercase()];
    for (index, sql) in named("type = 'table' AND rootpage = 0".to_owned())? {
        if sql.windows(wanted.len()).any(|part| part == wanted) {
            said.push(format!(
                "{index} still finds the words of the old rows: INSERT INTO {index}({index}) VALUES ('rebuild') makes it \
                 anew."
            ));
        }
    }
    Ok(said)
}

/// The columns whose updates a trigger waits for.
fn awaited(sql: &[String]) -> Vec<String> {
    let event = sql.iter().take_while(|word| *word != "on");
    event.skip_while(|word| *word != "of").skip(1).filter(|word| *word != ",").cloned().collect()
}

/// The words, names and other characters of a statement, in lower case and without the quotes around names.
fn words(sql: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let is_word = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '$';
        let length = match first {
            '"' | '`' | '\'' | '[' => {
                let closing = if first == '[' { ']' } else { first };
                let inner = &rest[1..];
                let end = inner.find(closing).unwrap_or(inner.len());
                words.push(inner[..end].to_lowercase());
                (end + 2).min(rest.len())
            }
            _ if is_word(first) => {
                let end = rest.find(|letter| !is_word(letter)).unwrap_or(rest.len());
                words.push(rest[..end].to_lowercase());
                end
            }
            _ => {
                words.extend((!first.is_whitespace()).then(|| first.to_string()));
                first.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_columns_of_a_trigger_are_those_of_its_event() {
        let of = |sql: &str| awaited(&words(sql));
        assert_eq!(
            of("CREATE TRIGGER x AFTER UPDATE OF a, \"B c\",[d] ON t BEGIN SELECT 1; END"),
            ["a", "b c", "d"]
        );
        assert!(of("CREATE TRIGGER x AFTER UPDATE ON t WHEN new.of > 1 BEGIN SELECT 1; END").is_empty());
    }
}
