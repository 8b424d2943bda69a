//! The parts of a class's statement that are no SQL: the label of the rows that it keeps, and `for each` at its end.

use crate::names::is_name;

/// A statement without `for each LIST` at its end, and that list.
pub(super) fn of_items(sql: &str) -> Option<(&str, &str)> {
    let (sql, list) = sql.trim_end().rsplit_once(" for each ")?;
    is_name(list.trim()).then(|| (sql.trim_end(), list.trim()))
}

/// The range of an INSERT's only row, with its parentheses.
pub(super) fn row_of(sql: &str) -> Option<std::ops::Range<usize>> {
    let values = sql.to_ascii_lowercase().rfind("values")? + "values".len();
    let start = values + sql[values..].find(|letter: char| !letter.is_whitespace())?;
    let (mut depth, mut quoted) = (0, false);
    for (place, letter) in sql[start..].char_indices() {
        quoted ^= letter == '\'';
        depth += match letter {
            '(' if !quoted => 1,
            ')' if !quoted => -1,
            _ => 0,
        };
        if depth == 0 {
            return (place > 0).then_some(start..start + place + 1);
        }
    }
    None
}

/// The line in a statement that looks like the beginning of another one.
pub(super) fn joined(statement: &str) -> Option<&str> {
    let begins = |line: &&str| {
        let word = line.split_whitespace().next().unwrap_or_default().to_ascii_uppercase();
        label(line).0.is_some() || ["SELECT", "INSERT", "UPDATE", "DELETE"].contains(&word.as_str())
    };
    statement.lines().skip(1).map(str::trim).find(begins)
}

/// The label before a statement whose rows are kept.
pub(super) struct Label<'a> {
    pub name: &'a str,
    pub may_miss: bool,
    pub columns: Vec<&'a str>,
}

/// A statement without what names its rows, if something does.
pub(super) fn label(statement: &str) -> (Option<Label<'_>>, &str) {
    let found = || {
        let (head, sql) = statement.split_once('=')?;
        let (name, columns) = head.trim_end().strip_suffix(')')?.split_once('(')?;
        let (name, may_miss) = match name.strip_suffix('?') {
            Some(name) => (name, true),
            None => (name, false),
        };
        is_name(name).then(|| {
            (Label { name, may_miss, columns: columns.split(',').map(str::trim).collect() }, sql.trim_start())
        })
    };
    found().map_or((None, statement), |(label, sql)| (Some(label), sql))
}
