//! The rates that contenders sustain, as they are found.

use dyno_record::{RateAttempt, Target};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::statistics::Interval;

/// The rates that all contenders sustain in one test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sustained {
    /// The test's id.
    pub test: String,
    /// The condition on response times.
    pub target: Target,
    /// Those contenders shown of which there is a trial at a rate, in order.
    pub lines: Vec<SustainedLine>,
}

/// The rate that one contender sustains in one test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SustainedLine {
    /// The contender, by its position in the run.
    pub contender: usize,
    /// The outcome of the search.
    pub outcome: Outcome,
    /// Operations per second of closed clients, which begin the next operation as soon as one ends: the median.
    pub closed: f64,
    /// The trials at a rate, in order, those of disturbed blocks left out where enough others remain.
    pub tries: Vec<Try>,
    /// True if a trial had too few operations due to judge the target's share.
    pub too_few_due: bool,
    /// True if it is ranked with at least one other contender, and all of these are shown to sustain less, by more than
    /// the run's margin.
    pub best: bool,
}

/// A trial at a rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Try {
    /// The block.
    pub block: u32,
    /// The outcome of the search.
    #[serde(flatten)]
    pub sought: RateAttempt,
}

/// The outcome of a search.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The target holds up to here, in half of the trials.
    Sustains {
        /// Operations in a second.
        rate: f64,
        /// The 95 % interval of it; absent with fewer than six trials.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        interval: Option<Interval>,
    },
    /// It held in every trial; this is the highest rate that was tried.
    AtLeast {
        /// Operations in a second.
        rate: f64,
    },
    /// It held in none; this is the lowest rate that was tried.
    NotSustained {
        /// Operations in a second.
        rate: f64,
    },
}

impl Outcome {
    /// The rate that is sustained, in operations a second; none where none is.
    pub fn per_second(&self) -> Option<f64> {
        match self {
            Outcome::Sustains { rate, .. } | Outcome::AtLeast { rate } => Some(*rate),
            Outcome::NotSustained { .. } => None,
        }
    }
}
