//! The fragments by which links reach parts of the page.

/// The fragment by which a link reaches a contender.
pub(crate) fn contender(contender: usize) -> String {
    format!("contender-{contender}")
}

/// The fragment by which a link reaches a test. Ids are letters, digits, `-` and `_`.
pub(crate) fn test(id: &str) -> String {
    format!("test-{id}")
}
