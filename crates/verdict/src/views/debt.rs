//! Work that stores defer: the time of settling compared with that of the writes before it, and the bytes written to
//! the device meanwhile.

use dyno_protocol::Model;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::figures::Figures;
use crate::test_verdict::TestVerdict;

/// The deferred work that one test settled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Debt {
    /// The test that settled, by its id.
    pub test: String,
    /// The tests before it that wrote, since the stores were last settled, by their ids.
    pub writes: Vec<String>,
    /// The bytes of keys and values that these wrote or deleted.
    pub input_bytes: u64,
    /// For each contender shown whose figures are all there.
    pub lines: Vec<DebtLine>,
}

/// The work that one contender had deferred.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DebtLine {
    /// The contender, by its position in the run.
    pub contender: usize,
    /// Time of the writes, in nanoseconds: the sum of the tests' medians.
    pub writes_ns: f64,
    /// Time of settling after them, in nanoseconds: the median.
    pub settle_ns: f64,
    /// Bytes that went to the device in all tests since the stores were last settled; absent where some of the writes
    /// were not timed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_bytes: Option<f64>,
    /// Bytes that went to the device while it settled.
    pub settle_bytes: f64,
    /// The size of all files then, in bytes.
    pub database_bytes: f64,
}

impl DebtLine {
    /// Settling's share of the time of both.
    pub fn share(&self) -> f64 {
        self.settle_ns / (self.writes_ns + self.settle_ns)
    }
}

/// The deferred work of each test that settles.
pub(super) fn debts(tests: &[TestVerdict]) -> Vec<Debt> {
    let settles = |test: &TestVerdict| test.model == Model::KvSettle.name();
    let mut since = 0;
    let mut debts = Vec::new();
    for (index, test) in tests.iter().enumerate().filter(|(_, test)| settles(test)) {
        debts.extend(debt(&tests[since..index], test));
        since = index + 1;
    }
    debts
}

/// The work that a test settled for the tests before it; none if no writes are shown.
fn debt(before: &[TestVerdict], test: &TestVerdict) -> Option<Debt> {
    let wrote =
        |test: &&TestVerdict| [Model::KvPut.name(), Model::KvDelete.name()].contains(&test.model.as_str());
    let writes: Vec<&TestVerdict> = before.iter().filter(wrote).collect();
    let bytes = |test: &&TestVerdict| test.amount.as_ref().map_or(0, |amount| amount.bytes);
    let lines = test.cells.iter().filter_map(|cell| line(before, &writes, cell.contender, &cell.figures));
    (!writes.is_empty()).then(|| Debt {
        test: test.id.clone(),
        writes: writes.iter().map(|test| test.id.clone()).collect(),
        input_bytes: writes.iter().map(bytes).sum(),
        lines: lines.collect(),
    })
}

fn line(
    before: &[TestVerdict],
    writes: &[&TestVerdict],
    contender: usize,
    settled: &Figures,
) -> Option<DebtLine> {
    let figures = |test: &&TestVerdict| test.cell(contender).map(|cell| cell.figures.clone());
    let written: Vec<Figures> = writes.iter().map(figures).collect::<Option<_>>()?;
    let times: Vec<f64> =
        written.iter().map(|figures| Some(figures.summary?.median)).collect::<Option<_>>()?;
    let is_whole = written.iter().all(|figures| !figures.extrapolated);
    let costs = settled.costs.as_ref()?;
    let all = before.iter().filter_map(|test| test.cell(contender)?.figures.costs.as_ref());
    Some(DebtLine {
        contender,
        writes_ns: times.iter().sum(),
        settle_ns: settled.summary?.median,
        written_bytes: is_whole.then(|| all.map(|costs| costs.device_written_bytes).sum()),
        settle_bytes: costs.device_written_bytes,
        database_bytes: costs.database_bytes,
    })
}
