//! The tables that are shown besides the results.

/// The columns of a table besides its figures.
#[derive(Debug, Clone, Copy, Default)]
pub struct TableOptions {
    /// The notes that most readers do not need.
    pub notes: bool,
    /// Published figures next to today's.
    pub published: bool,
    /// The resources that each test used besides time.
    pub costs: bool,
    /// The additional time of each driver of an engine over its lowest-level one.
    pub tax: bool,
}
