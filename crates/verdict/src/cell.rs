//! The judgement on a contender in a test.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::figures::{Figures, Points};
use crate::statistics::{Difference, Ratio};
use crate::views::sustained::outcome::Outcome;

/// The judgement on a contender in a test.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Cell {
    /// The contender, by its position in the run.
    pub contender: usize,
    /// Its figures.
    pub figures: Figures,
    /// The samples themselves.
    #[serde(skip)]
    pub points: Points,
    /// The validity of its figures.
    pub standing: CellStanding,
    /// Its time over the baseline's, from samples of the same blocks; absent for the baseline itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Ratio>,
    /// The judgement on that ratio.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
    /// The rate it sustains, if the highest rate was sought; the fastest contender is then the one that sustains the
    /// most.
    #[serde(skip)]
    pub sustained: Option<Outcome>,
    /// True if all others that are ranked with it, of which there is one or more, are shown to be slower than one of
    /// them by more than the run's margin.
    pub fastest: bool,
    /// True if a measured trial of it failed before this test ended, so that it is not compared: its figures are of the
    /// trials that did not, and those may be its quick ones.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
}

/// The validity of a contender's figures in a test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "standing", content = "why", rename_all = "kebab-case")]
pub enum CellStanding {
    /// They do.
    Counts,
    /// Its answer is not the right one; it takes no part in ranking.
    Wrong(String),
    /// Others answered otherwise, and nothing says which answer is right; none of them takes part in ranking.
    Disputed(String),
    /// It has no samples.
    Missing(String),
    /// The run was stopped before a trial of it measured this, and nothing failed.
    Untried,
    /// Its runner does not do this kind of work.
    NotApplicable,
    /// It prepares tests, and another test failed before it.
    NotReached,
    /// The highest rate was sought at which a target holds: `sustained` has it, and there is no figure here.
    Sought,
    /// Fewer than ten of its operations in a trial took longer than the percentile: it would show chance alone.
    TooFew,
    /// It is a percentile beyond which lie this many hundredths of the time of clients that wait for one another, more than
    /// half: few of them did nearly all operations. It takes no part in ranking.
    Uneven(u32),
    /// It is a percentile that takes in operations without success: it is longer than what stands here, by how much is not
    /// known. It takes no part in ranking.
    AtLeast,
    /// It says that it encrypts and does not, as far as can be seen; it takes no part in ranking.
    NotEncrypted,
    /// A machine that drove its clients was the limit, for this reason; it takes no part in ranking.
    WeakGenerator(String),
    /// Its transactions showed what its isolation level forbids; it takes no part in ranking.
    NotIsolated,
}

impl CellStanding {
    /// Returns true if the figure hides what others are to be compared with: no other contender is the fastest next to it.
    pub(crate) fn hides(&self) -> bool {
        matches!(self, CellStanding::Uneven(_) | CellStanding::AtLeast | CellStanding::WeakGenerator(_))
    }

    /// Returns true if nothing is wrong with the contender in this test.
    pub fn is_fine(&self) -> bool {
        matches!(
            self,
            CellStanding::Counts
                | CellStanding::NotApplicable
                | CellStanding::NotReached
                | CellStanding::TooFew
                | CellStanding::Sought
                | CellStanding::Uneven(_)
                | CellStanding::AtLeast
                | CellStanding::WeakGenerator(_)
        )
    }
}

impl Cell {
    /// Returns true if its figures count.
    pub fn counts(&self) -> bool {
        self.standing == CellStanding::Counts
    }

    /// Returns true if its figures count and may be compared with those of others: no trial failed.
    pub fn is_comparable(&self) -> bool {
        self.counts() && !self.failed
    }
}
