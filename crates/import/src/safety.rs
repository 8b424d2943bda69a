//! The failures that an import survives once it is reported as done, weakest first.

/// A safety level; docs/engines.md of dyno says what each means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Safety {
    /// A crash while it loads may ruin the database.
    None,
    /// It survives the process being killed.
    ProcessCrash,
    /// It survives the machine losing power.
    PowerLoss,
}

impl Safety {
    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Safety::None => "none",
            Safety::ProcessCrash => "process-crash",
            Safety::PowerLoss => "power-loss",
        }
    }
}

/// The safety that was reached, with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reached {
    /// The level.
    pub safety: Safety,
    /// By what, as the engine confirms it.
    pub by: String,
}
