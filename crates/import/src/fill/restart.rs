//! The reason that an import begins anew.

/// The rows' keys are not what they were taken for, so that the import must begin anew in another way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Restart {
    /// Row numbers do not ascend.
    #[error("the keys are not in order")]
    Unordered,
    /// A key comes twice or is missing: the database says which, and on which line, or gives it a number.
    #[error("a key comes twice or is missing")]
    Violated,
}
