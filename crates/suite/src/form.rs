//! The form of a table that a file is imported into: what a contender may choose of it, for suites that compare
//! the choices.

/// The form of a table, the usual one by default: a primary key, and no further index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TableForm {
    /// The moment at which the index of the test is made.
    pub index: Index,
    /// True if the table has a primary key that the file does not fill.
    pub primary_key: bool,
}

/// The moment at which an index is made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Index {
    /// Never.
    #[default]
    None,
    /// Before the first record.
    First,
    /// After the last one.
    Last,
}

impl Default for TableForm {
    fn default() -> TableForm {
        TableForm { index: Index::None, primary_key: true }
    }
}

impl TableForm {
    /// A name for files.
    pub fn name(self) -> String {
        let index = match self.index {
            Index::None => "none",
            Index::First => "first",
            Index::Last => "last",
        };
        format!("index-{index}-key-{}", self.primary_key)
    }
}
