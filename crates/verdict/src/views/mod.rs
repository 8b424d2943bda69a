//! Views that only some runs have: each file judges one view, and [`Views`] is the list of those of one run. The table,
//! the page and the columns of a view are in `dyno_show`, in the folder of the same name. `against` is what several of
//! them have in common.

mod against;
mod causes;
mod debt;
mod drivers;
mod durability;
mod encryption;
pub(crate) mod functions;
mod invariants;
mod ladder;
mod latency;
mod percentiles;
mod plaintext;
mod predicted;
mod probes;
mod published;
pub(crate) mod scaling;
mod settings;
mod stalls;
mod statements;
pub(crate) mod sustained;
mod timeline;
mod traffic;
mod why;

use dyno_record::Run;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::test_verdict::TestVerdict;
use functions::CountedFunctions;

pub use against::{AddedTime, Against};
pub use causes::{Causes, ExplainedDifference, Explains, SuspectShare};
pub use debt::{Debt, DebtLine};
pub use durability::{CutRuns, Durability, Survived};
pub use encryption::EncryptedPages;
pub use functions::{ComparedFunctions, FunctionChange, FunctionComparison, NamelessBuild};
pub use invariants::{InvariantVerdict, Invariants};
pub use ladder::{Ladder, RungVerdict, SafetyChange};
pub use latency::{Latency, LatencyLine, LatencyTest, PerMinute};
pub use percentiles::Percentiles;
pub(crate) use plaintext::is_unproved;
pub use plaintext::{EncryptionTrouble, Searched};
pub(crate) use probes::is_disproved;
pub use probes::{Anomaly, Probe, Probed, Seen};
pub use published::{PublishedFigures, PublishedPoint, PublishedSeries};
pub use statements::StatementLine;
pub use sustained::{Outcome, Sustained, SustainedLine, Try, next_rate};
pub use timeline::{BackgroundActivity, Second, Timeline, TimelineLine};
pub use traffic::{CountRange, TrafficLine, TrafficShare, TrafficTest};
pub use why::{BudgetLine, BudgetedTest, ComparedPlans, ContenderPlan, TimeBudgets};

/// The views of one run. That of several sizes of it is [`scaling::Scaling`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Views {
    /// The cost of encryption, if the same engine took part without it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overheads: Vec<Against>,
    /// The judgements on contenders whose files were searched for plaintext.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub searched: Vec<Searched>,
    /// The sizes of the databases that were searched for plaintext.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pages: Vec<EncryptedPages>,
    /// The ladders of a suite that has rungs, one for each test shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ladders: Vec<Ladder>,
    /// The cost of each driver of an engine over its lowest-level one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drivers: Vec<Against>,
    /// The cost of settings over the engine's defaults.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<Against>,
    /// The invariants checked after a test, and the results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub invariants: Vec<Invariants>,
    /// The results of isolation probes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub probes: Vec<Probed>,
    /// The results of `dyno prove` for the contenders.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub durability: Vec<Durability>,
    /// The response times of single operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Latency>,
    /// The highest rates at which a target holds, one for each test whose rate was sought.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sustained: Vec<Sustained>,
    /// The traffic between contenders and their servers, where that was counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub traffic: Vec<TrafficTest>,
    /// Throughput second by second, one entry for each test whose operations were counted so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timelines: Vec<Timeline>,
    /// Work that stores deferred, one entry for each test that settles.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub debts: Vec<Debt>,
    /// The division of the time of tests, and plans, if dyno looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<TimeBudgets>,
    /// The causes of a difference, in runs of `dyno causes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub causes: Option<Causes>,
    /// The functions in which builds of one engine differ, where their instructions were counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<FunctionComparison>,
    /// Figures that others published for the same work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<PublishedFigures>,
}

impl Views {
    pub(crate) fn new(run: &Run, tests: &[TestVerdict], counted: &[CountedFunctions]) -> Views {
        Views {
            overheads: encryption::overheads(run, tests),
            searched: plaintext::searched(run),
            pages: encryption::pages(run),
            ladders: ladder::ladders(run, tests),
            drivers: drivers::drivers(run, tests),
            settings: settings::settings(run, tests),
            invariants: invariants::invariants(run),
            probes: probes::probes(run),
            durability: durability::durability(run),
            latency: latency::latency(run),
            sustained: sustained::sustained(run, tests),
            traffic: traffic::traffic(run),
            timelines: timeline::timelines(run),
            debts: debt::debts(tests),
            why: why::why(run, tests),
            causes: causes::causes(run, tests),
            functions: functions::functions(run, tests, counted),
            published: published::published(run, tests),
        }
    }
}
