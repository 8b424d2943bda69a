//! Finds statements that reach outside of their database: to files, libraries, programs or other servers.
//!
//! The check is for suites from elsewhere, so it may name a harmless statement and should miss no harmful one. Therefore it
//! looks only at words, wherever they are: quotes and comments hide nothing, and a statement that executes a text is named
//! whatever the text says. Of SET and PRAGMA it knows the harmless names, since every version of an engine brings new ones
//! that name a file. Words cannot show everything: a setting of the server may change what a statement does, and
//! a user's rights may reach other databases.

mod harmless;
mod lists;

use std::collections::BTreeSet;

use super::Rendered;
use harmless::{PRAGMAS, SCHEMAS, SCOPES, SETTINGS};
use lists::{AFTER_DO, FILES, PAIRS, PARTS, PREFIXES, TABLES, WORDS};

/// The dialect whose tables may be files.
const DUCKDB: &str = "duckdb";

/// True if a PRAGMA of this name concerns nothing but the database.
pub fn is_harmless_pragma(name: &str) -> bool {
    PRAGMAS.contains(&name)
}

/// True if a setting of this name concerns nothing but the session and its plans.
pub fn is_harmless_setting(name: &str) -> bool {
    SETTINGS.contains(&name)
}

/// True if a statement of a dialect may reach outside of its database.
pub fn reaches_outside(statement: &str, dialect: &str) -> bool {
    let statement = statement.to_ascii_lowercase();
    // PostgreSQL's spelling of names by numbers hides their words.
    if statement.contains("u&\"") || (dialect == DUCKDB && names_file(&statement)) {
        return true;
    }
    let is_commented = ["/*", "--", "#"].iter().any(|mark| statement.contains(mark));
    let (mut seen, mut rest, mut begins) = (BTreeSet::new(), statement.as_str(), true);
    while let Some((gap, word, behind)) = next_word(rest) {
        begins |= gap.contains(';');
        // A SET within a statement is an UPDATE's, if no comment can have hidden where the statement begins.
        let sets = word == "set" && (begins || is_commented) && !is_harmless_set(behind);
        let is_pair = || PAIRS.iter().any(|[first, second]| *second == word && seen.contains(first));
        let is_file = dialect == DUCKDB && TABLES.contains(&word) && is_string(behind);
        if sets || is_file || is_named(word) || is_pair() || is_used_so(word, behind) {
            return true;
        }
        // Few words are different in a statement of data, so this stays small; numbers are no words.
        if !word.starts_with(|first: char| first.is_ascii_digit()) {
            seen.insert(word);
        }
        (rest, begins) = (behind, false);
    }
    false
}

/// The next word of a text, with what is before it and after it.
fn next_word(text: &str) -> Option<(&str, &str, &str)> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let (gap, found) = text.split_at(text.find(is_part)?);
    let end = found.find(|letter| !is_part(letter)).unwrap_or(found.len());
    let (word, behind) = found.split_at(end);
    Some((gap, word, behind))
}

/// True if a word is enough to name a statement.
fn is_named(word: &str) -> bool {
    WORDS.contains(&word)
        || PREFIXES.iter().any(|prefix| word.starts_with(prefix))
        || PARTS.iter().any(|part| word.contains(part))
}

/// True if a word that is harmless in some places is in none of these. `behind` is the text after it.
fn is_used_so(word: &str, behind: &str) -> bool {
    match word {
        "do" => !next_word(behind).is_some_and(|(gap, next, _)| is_blank(gap) && AFTER_DO.contains(&next)),
        "pragma" => !is_harmless_use(behind),
        // An operator of SQLite's, and a function of DuckDB's that lists files.
        "glob" => {
            let next = behind.chars().find(|letter| !letter.is_whitespace() && *letter != '"');
            next.is_some_and(|next| !next.is_alphanumeric() && !"':?$@_".contains(next))
        }
        _ => false,
    }
}

fn is_blank(gap: &str) -> bool {
    gap.trim().is_empty()
}

/// True if the text after PRAGMA names a harmless one.
fn is_harmless_use(behind: &str) -> bool {
    match next_word(behind) {
        Some((gap, schema, rest)) if is_blank(gap) && SCHEMAS.contains(&schema) => {
            next_word(rest).is_some_and(|(gap, name, _)| gap.trim() == "." && is_harmless_pragma(name))
        }
        Some((gap, name, _)) => is_blank(gap) && is_harmless_pragma(name),
        None => false,
    }
}

/// True if the text after SET names one setting, and a harmless one, or a variable of MySQL's.
fn is_harmless_set(behind: &str) -> bool {
    let mut rest = behind.split(';').next().unwrap_or_default();
    if rest.matches('=').count() > 1 {
        return false;
    }
    while let Some((gap, name, after)) = next_word(rest) {
        match gap.trim() {
            "@" => return true,
            "" | "@@" | "." if SCOPES.contains(&name) => rest = after,
            "" | "@@" | "." => return is_harmless_setting(name),
            _ => return false,
        }
    }
    false
}

/// True if a text begins with a string, or with a comment that may be before one.
fn is_string(text: &str) -> bool {
    ["'", "$", "/*", "--"].iter().any(|mark| text.trim_start().starts_with(mark))
}

/// True if a statement of DuckDB's may name a file, which it takes for a table: within quotes by its path, and without by
/// the end of its name.
fn names_file(statement: &str) -> bool {
    let quoted = statement.find(['\'', '"', '$', '`']).map_or("", |start| &statement[start..]);
    let bare: String = statement.chars().filter(|letter| !letter.is_whitespace() && *letter != '"').collect();
    quoted.contains(['/', '\\']) || FILES.iter().any(|end| bare.contains(end))
}

impl Rendered {
    /// Those of its statements that may reach outside of their database, in the dialect in which it was rendered.
    pub fn reaching_outside(&self, dialect: &str) -> Vec<&str> {
        let classes = self.classes.iter().flat_map(|class| &class.statements);
        let pieces = classes.flat_map(|statement| &statement.text);
        let own = [&self.setup, &self.index, &self.statements].into_iter().flatten().chain(&self.check);
        // The pieces of one statement surround its parameters, which are values and no words.
        own.chain(pieces).map(String::as_str).filter(|text| reaches_outside(text, dialect)).collect()
    }
}

#[cfg(test)]
mod tests;
