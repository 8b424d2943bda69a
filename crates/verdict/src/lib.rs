//! The verdict on a run, and on two runs against each other.
//!
//! Pure functions of records: the same file is judged the same way tomorrow. The statistics and the
//! check of answers that this rests on are in [`crate::statistics`] and [`crate::answers`].

pub mod answers;
mod compare;
mod figures;
mod judge;
mod ladder;
mod latency;
mod levels;
mod overhead;
mod precision;
mod scaling;
pub mod statistics;

pub use compare::{CellComparison, Comparison, TestComparison, changes, compare};
pub use figures::{Costs, Figures, MOST_WAIT, figures, is_disturbed, samples_of};
pub use judge::{Cell, CellStanding, SummaryVerdict, TestVerdict, Verdict, contenders_ratio, judge};
pub use ladder::{Ladder, Rung, SafetyChange};
pub use latency::{Percentiles, latency};
pub use levels::{LevelRanking, Rank, mean_over, rank_levels};
pub use overhead::Overhead;
pub use precision::is_precise;
pub use scaling::{Scaling, ScalingLine, ScalingPoint, ScalingTest, scaling};
