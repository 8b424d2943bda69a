//! The ways of loading rows, as contenders name them.

/// The ways of loading rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    /// LOAD DATA LOCAL INFILE.
    LoadData,
    /// One prepared insert executed for many rows at once, which MariaDB's protocol has.
    Array,
    /// Prepared inserts of many rows each.
    MultiRow,
    /// Prepared inserts, one by one.
    Insert,
    /// Inserts by a statement's text each.
    Text,
}

impl Variant {
    /// The names of the variants, the usual one first.
    pub const ALL: [(&str, Variant); 5] = [
        ("load-data", Variant::LoadData),
        ("multirow", Variant::MultiRow),
        ("insert", Variant::Insert),
        ("text", Variant::Text),
        ("array", Variant::Array),
    ];
}
