//! Statements in messages.

/// The number of characters of a statement that a message quotes.
const QUOTED: usize = 200;

/// The beginning of a statement, for a message.
pub fn quote(sql: &str) -> String {
    match sql.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}…", &sql[..end]),
        None => sql.to_owned(),
    }
}
