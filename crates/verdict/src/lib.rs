//! The verdict on a run, on two runs against each other, and on several of them.
//!
//! Pure functions of records: the same file is judged the same way tomorrow. A [`Verdict`] is finished: showing it
//! needs no run. The statistics and the check of answers that this rests on are in [`statistics`] and [`answers`].

mod about;
mod aliases;
pub mod answers;
mod builds;
mod calibration;
mod cell;
mod cells;
mod compare;
mod differences;
mod disturbance;
mod figures;
mod gate;
mod history;
mod joint;
mod judge;
mod levels;
mod measure;
mod offsets;
mod pairs;
mod precision;
mod responses;
pub mod statistics;
mod summary;
mod table;
mod test_verdict;
mod uneven;
mod views;

pub use about::{About, Failures};
pub use aliases::compare_as;
pub use builds::{Builds, builds, changed_files};
pub use calibration::{
    Calibrated, Calibration, DetectionRates, FalseAlarms, FalseDifferences, Span, calibrate,
};
pub use cell::{Cell, CellStanding};
pub use compare::{CellComparison, Comparison, TestComparison, compare};
pub use disturbance::{Disturbances, MOST_FOREIGN};
pub use figures::{Costs, Figures, Points};
pub use gate::Gate;
pub use history::{ChangePoint, History, HistoryLine, have_one_load, history};
pub use joint::{JointVerdict, beside};
pub use judge::{Verdict, judge};
pub use levels::{LevelRanking, Rank};
pub use measure::Measure;
pub use offsets::{CopyOffsets, OffsetSpread};
pub use precision::is_precise;
pub use statistics::Share;
pub use summary::SummaryVerdict;
pub use test_verdict::{MeasureLine, ResponseVerdict, TestVerdict};
pub use views::scaling::{Scaling, ScalingLine, ScalingPoint, ScalingTest, scaling};
pub use views::{
    AddedTime, Against, Anomaly, BackgroundActivity, CutRuns, Debt, DebtLine, Durability, Invariant,
    Invariants, Ladder, Latency, LatencyLine, LatencyTest, Outcome, Pages, PerMinute, Percentiles, Probe,
    Probed, Published, PublishedPoint, PublishedSeries, Rung, SafetyChange, Second, Seen, StatementLine,
    Survived, Sustained, SustainedLine, Timeline, TimelineLine, Try, Views, next_rate,
};
