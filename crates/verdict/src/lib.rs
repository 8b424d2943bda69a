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
mod challenge;
mod changes;
mod clusters;
mod cohort;
mod compare;
mod contradictions;
mod counts;
mod differences;
mod disturbance;
mod durability;
mod figures;
mod gate;
mod generators;
mod history;
mod joint;
mod judge;
mod levels;
mod offsets;
mod pairs;
mod precision;
mod ranking;
mod responses;
mod rivals;
pub mod statistics;
mod summary;
mod table;
mod test_verdict;
mod uneven;
mod views;
mod waits;

pub use about::{About, Failures};
pub use aliases::compare_as;
pub use builds::{Builds, builds, changed_files};
pub use calibration::{
    Calibrated, Calibration, DetectionRates, FalseAlarms, FalseDifferences, RunLength, calibrate,
};
pub use cell::{Cell, CellStanding};
pub use challenge::{Challenge, ChallengeOutcome, ChallengedOrder, ClaimedOrder, challenge};
pub use clusters::{AT_RISK, ClusterJudgement, ClusterVerdict, FaultJudgement, judge_clusters};
pub use cohort::{Cohort, CohortCell, CohortMachine, CohortRow, MachineFacts, NamedRun, cohorts};
pub use compare::{
    CellComparison, CheckedAnswers, Comparison, ContenderFunctions, CountComparison, CountedCell,
    TestComparison, compare,
};
pub use contradictions::contradictions;
pub use disturbance::{Disturbances, MOST_FOREIGN};
pub use durability::{DurabilityOutcome, DurabilityVerdict, SubjectVerdict, behaved, judge_durability};
pub use figures::{Costs, Figures, Points};
pub use gate::{Gate, GateLimit, InvalidGateLimit};
pub use generators::Generator;
pub use history::{ChangePoint, HistoryLine, SuiteHistory, have_one_load, history};
pub use joint::{JointVerdict, beside};
pub use judge::{Verdict, judge};
pub use offsets::{CopyOffsets, OffsetSpread};
pub use precision::is_precise;
pub use ranking::{LevelRanking, Rank, WaitsApart};
pub use summary::SummaryVerdict;
pub use test_verdict::{QuantityVerdict, TestVerdict};
pub use views::scaling::{Scaling, ScalingLine, ScalingPoint, ScalingTest, scaling};
pub use views::{
    AddedTime, Against, Anomaly, BackgroundActivity, BudgetLine, BudgetedTest, Causes, ComparedFunctions,
    ComparedPlans, ContenderPlan, CountRange, CutRuns, Debt, DebtLine, Durability, EncryptedPages,
    EncryptionTrouble, ExplainedDifference, Explains, FunctionChange, FunctionComparison, InvariantVerdict,
    Invariants, Ladder, Latency, LatencyLine, LatencyTest, NamelessBuild, Outcome, PerMinute, Percentiles,
    Probe, Probed, PublishedFigures, PublishedPoint, PublishedSeries, RungVerdict, SafetyChange, Searched,
    Second, Seen, StatementLine, Survived, SuspectShare, Sustained, SustainedLine, TimeBudgets, Timeline,
    TimelineLine, TrafficLine, TrafficShare, TrafficTest, Try, Views, next_rate,
};
