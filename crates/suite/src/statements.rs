//! Cuts rendered text into statements.
//!
//! A statement ends with a semicolon at the end of a line, so that a statement may span lines and a semicolon within a
//! line (a trigger's body, a text) is part of it. A line that begins with `@` and dialect names, as `@mysql,postgres
//! DROP …;`, belongs to those dialects alone; without names it is SQL, which engines without SQL do not get. Empty
//! lines and lines that begin with `--` are left out. `for each …:` is a separate line.

use crate::NO_SQL;

/// The end of a SELECT that reads no table: a table of one row, where a dialect wants one.
pub fn one_row(dialect: &str) -> &'static str {
    match dialect {
        "derby" | "hsqldb" => " FROM (VALUES(0)) AS one(n)",
        _ => "",
    }
}

/// A text as a literal. Two dialects pad literals to the longest one of a UNION, unless each states its length.
pub fn literal(text: &str, dialect: &str) -> String {
    let quoted = format!("'{}'", text.replace('\'', "''"));
    match dialect {
        "derby" | "hsqldb" => format!("CAST({quoted} AS VARCHAR({}))", text.chars().count()),
        _ => quoted,
    }
}

/// The statements of one dialect in a rendered template, without their semicolons.
pub fn split(text: &str, dialect: &str) -> Vec<String> {
    let mut statements = Vec::new();
    let mut pending = Pending::default();
    for line in text.lines() {
        if pending.lines.is_empty() {
            if line.trim().is_empty() || line.trim_start().starts_with("--") {
                continue;
            }
            if is_loop(line) {
                statements.push(line.trim().to_owned());
                continue;
            }
            pending.begin(line, dialect);
        } else {
            pending.lines.push(line.to_owned());
        }
        if line.trim_end().ends_with(';') {
            statements.extend(pending.take());
        }
    }
    // A last statement may leave its semicolon out.
    statements.extend(pending.take());
    statements
}

/// True if a line begins statements that are repeated.
fn is_loop(line: &str) -> bool {
    line.trim_start().starts_with("for each ") && line.trim_end().ends_with(':')
}

/// True if a line ends statements that are repeated.
fn is_end(line: &str) -> bool {
    line.trim_end().trim_end_matches(';').trim_end() == "end"
}

/// A statement of which the end has not been read.
#[derive(Default)]
struct Pending {
    lines: Vec<String>,
    foreign: bool,
}

impl Pending {
    fn begin(&mut self, line: &str, dialect: &str) {
        let line = line.trim_start();
        let (dialects, rest) = match line.strip_prefix('@').and_then(|tagged| tagged.split_once(' ')) {
            Some((dialects, rest)) => (Some(dialects), rest.trim_start()),
            None => (None, line),
        };
        self.foreign = match dialects {
            Some(names) => !names.split(',').any(|name| name == dialect),
            None => dialect == NO_SQL && !is_end(rest),
        };
        self.lines.push(rest.to_owned());
    }

    fn take(&mut self) -> Option<String> {
        let text = std::mem::take(&mut self.lines).join("\n");
        let statement = text.trim_end().trim_end_matches(';').trim();
        (!self.foreign && !statement.is_empty()).then(|| statement.to_owned())
    }
}

/// The dialect names in a template, each with its line from 1, for checking them against the engines.
pub fn dialects(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().flat_map(|(index, line)| {
        let tag = line.trim_start().strip_prefix('@').and_then(|tagged| tagged.split(' ').next());
        tag.into_iter().flat_map(|names| names.split(',')).map(move |name| (index + 1, name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_end_at_a_semicolon_that_ends_a_line() {
        let text = "-- a comment\nSELECT 1;\n\nCREATE TRIGGER x BEGIN SELECT 1; END;\nSELECT\n  2;\nSELECT 3";
        let expected = ["SELECT 1", "CREATE TRIGGER x BEGIN SELECT 1; END", "SELECT\n  2", "SELECT 3"];
        assert_eq!(split(text, "sqlite"), expected);
    }

    #[test]
    fn a_tagged_statement_is_for_its_dialects() {
        let text = "@mysql,postgres DROP INDEX i;\n@sqlite DROP\n  INDEX j;\nSELECT 1;\n";
        assert_eq!(split(text, "sqlite"), ["DROP\n  INDEX j", "SELECT 1"]);
        assert_eq!(split(text, "mysql"), ["DROP INDEX i", "SELECT 1"]);
        assert_eq!(dialects(text).collect::<Vec<_>>(), [(1, "mysql"), (1, "postgres"), (2, "sqlite")]);
    }

    #[test]
    fn what_names_no_dialect_is_sql() {
        let text = "for each item:\n@kv PUT t :item.key :item.value;\n@sqlite INSERT INTO t VALUES(1);\nend;\nSELECT 1;\n";
        assert_eq!(split(text, "kv"), ["for each item:", "PUT t :item.key :item.value", "end"]);
    }

    #[test]
    fn what_dialects_want_is_added_for_them_alone() {
        assert_eq!(one_row("sqlite"), "");
        assert_eq!(one_row("derby"), " FROM (VALUES(0)) AS one(n)");
        assert_eq!(literal("a user's", "sqlite"), "'a user''s'");
        assert_eq!(literal("a user's", "hsqldb"), "CAST('a user''s' AS VARCHAR(8))");
    }

    #[test]
    fn nothing_gives_nothing() {
        assert!(split("", "sqlite").is_empty());
        assert!(split(" ;\n;;\n", "sqlite").is_empty());
    }
}
