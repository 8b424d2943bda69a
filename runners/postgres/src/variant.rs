//! The ways of loading rows, as contenders name them.

/// The ways of loading rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    /// COPY FROM STDIN.
    Copy,
    /// Prepared inserts that do not wait for each other's results.
    Pipeline,
    /// Prepared inserts of many rows each.
    MultiRow,
    /// Prepared inserts, one by one.
    Insert,
    /// Inserts by a statement's text each.
    Text,
    /// COPY FROM STDIN into a table that was emptied in the same transaction, WITH FREEZE.
    Freeze,
}

impl Variant {
    /// The names of the variants, the usual one first.
    pub const ALL: [(&str, Variant); 6] = [
        ("copy", Variant::Copy),
        ("pipeline", Variant::Pipeline),
        ("multirow", Variant::MultiRow),
        ("insert", Variant::Insert),
        ("text", Variant::Text),
        ("freeze", Variant::Freeze),
    ];
}
