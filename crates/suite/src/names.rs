//! The names that suites, tests and what they contain may have.

/// The permitted names of suites and tests, in words.
pub(super) const ID: &str = "a name: letters, digits, '-' and '_', at most 64 of them";

/// True if a suite or a test may have this name.
pub(super) fn is_id(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_')
}

/// True if it can be used unquoted in a statement, and as the name of a file.
pub(super) fn is_name(name: &str) -> bool {
    name.len() <= 64
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_')
}
