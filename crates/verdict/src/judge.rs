//! The verdict on a run, finished: everything that is shown of it, worked out once.
//!
//! A pure function of the record: `show` says tomorrow what `run` said today.

use std::collections::BTreeMap;

use dyno_protocol::Model;
use dyno_record::{AmountRecord, Class, Commits, ContenderRecord, Figure, Isolation, Run};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::about::{About, Failures, failures};
use crate::answers::Reference;
use crate::cells::judge_test;
use crate::disturbance::Disturbances;
use crate::figures::{Figures, Points};
use crate::levels::{LevelRanking, mark_fastest, rank, rivals_in_tests, unranked};
use crate::measure::Measure;
use crate::responses::ResponseVerdict;
use crate::statistics::{Difference, Ratio};
use crate::summary::{SummaryVerdict, summarize, tests_of_means};
use crate::table::{Detectable, Table, hold};
use crate::views::{Outcome, Views, sustained};

/// The judgement on a run. Contenders are named by their positions in the run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Verdict {
    /// The run's context: suite, machine and number of trials.
    #[serde(skip)]
    pub about: About,
    /// The facts about each contender, including those not shown.
    #[serde(skip)]
    pub contenders: Vec<ContenderRecord>,
    /// With whom each of them may be ranked; none of the harness and where the level is not known.
    #[serde(skip)]
    pub classes: Vec<Option<Class>>,
    /// The one with which the others are compared.
    #[serde(skip)]
    pub baseline: usize,
    /// One for each test shown, in order.
    pub tests: Vec<TestVerdict>,
    /// One for each contender shown, in order.
    pub summaries: Vec<SummaryVerdict>,
    /// The fastest contenders over all tests, one ranking for each class of contenders, the safest first.
    pub rankings: Vec<LevelRanking>,
    /// The smallest differences that the run could have shown; absent where its blocks are too few to show any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detectable: Option<Detectable>,
    /// The blocks that were disturbed.
    #[serde(skip)]
    pub disturbances: Disturbances,
    /// The trials that failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Failures>,
    /// Views that only some runs have.
    #[serde(flatten)]
    pub views: Views,
}

/// The judgement on a test.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TestVerdict {
    /// The test's id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// A description of what the test measures.
    #[serde(skip)]
    pub shows: String,
    /// The kind of work.
    #[serde(skip)]
    pub model: String,
    /// True if it only prepares the tests after it, so that it is part of no mean and no rank.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub prepares: bool,
    /// The number of its statements.
    #[serde(skip)]
    pub statements: u64,
    /// Its first statements.
    #[serde(skip)]
    pub first: Vec<String>,
    /// Its last ones, where they are not among the first.
    #[serde(skip)]
    pub last: Vec<String>,
    /// The kind of its figures: durations or rates.
    #[serde(skip)]
    pub figure: Figure,
    /// The amount of its work, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<AmountRecord>,
    /// Published figures in seconds, by system: other hardware, other versions.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub published: BTreeMap<String, f64>,
    /// The choice of the right answer; absent if there was no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<Reference>,
    /// The cost of dyno itself for the same work, the null runner's median, in nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor_ns: Option<f64>,
    /// True if the highest rate was sought at which a target holds.
    #[serde(skip)]
    pub(crate) sought: bool,
    /// One for each contender shown, in order.
    pub cells: Vec<Cell>,
    /// The response times of each class's slow operations, if operations were timed one by one in the measured trials.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub responses: Vec<ResponseVerdict>,
}

/// One measure of a test.
#[derive(Debug, Clone, Copy)]
pub struct MeasureLine<'a> {
    /// The class whose operations it is about; none where it is about the test.
    pub response: Option<&'a ResponseVerdict>,
    /// The unit in which the figures are shown.
    pub measure: Measure<'a>,
    /// One for each contender shown, in order.
    pub cells: &'a [Cell],
}

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
    /// True if all others that are ranked with it, of which there is one or more, are shown to be slower by more than
    /// the run's margin.
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
    /// It is a percentile beyond which lie so many hundredths of the time of clients that wait for one another, more than
    /// half: few of them did nearly all operations. It takes no part in ranking.
    Uneven(u32),
    /// It says that it encrypts and does not, as far as can be seen; it takes no part in ranking.
    NotEncrypted,
    /// Its transactions showed what its isolation level forbids; it takes no part in ranking.
    NotIsolated,
}

/// Judges a run.
pub fn judge(run: &Run) -> Verdict {
    let shown: Vec<usize> = run.shown_contenders().map(|(index, _)| index).collect();
    let disturbances = Disturbances::new(run);
    let tests = run.shown_tests().map(|test| judge_test(run, &disturbances, &shown, test));
    let mut tests: Vec<TestVerdict> = tests.collect();
    let views = Views::new(run, &tests);
    sustained::copy_to_cells(&views.sustained, &mut tests);
    let meant = tests_of_means(run, &tests);
    let mut summaries = summarize(run, &tests, &meant, &shown);
    let mut table = Table::with_baseline(run, &tests, &meant, &summaries);
    let rivals = rivals_in_tests(run, &tests);
    let unranked = unranked(run, &tests);
    rivals.iter().for_each(|rivals| table.add_rivals(rivals));
    unranked.iter().for_each(|class| table.add_rivals(&class.rivals));
    let apart = table.judge();
    let rankings = unranked.iter().map(|class| rank(run, class, &apart)).collect();
    hold(run, &mut tests, &meant, &mut summaries, &apart);
    mark_fastest(run, &mut tests, &rivals, &apart);
    Verdict {
        about: About::new(run),
        contenders: run.contenders.clone(),
        classes: (0..run.contenders.len()).map(|contender| run.class(contender)).collect(),
        baseline: run.baseline_index(),
        summaries,
        rankings,
        detectable: table.detectable(),
        disturbances,
        failures: failures(run),
        views,
        tests,
    }
}

impl Verdict {
    /// The contenders that are shown, with their positions in the run.
    pub fn shown_contenders(&self) -> impl Iterator<Item = (usize, &ContenderRecord)> {
        self.contenders.iter().enumerate().filter(|(_, contender)| contender.named)
    }

    /// The commit size of a contender, if rankings separate contenders by it.
    pub fn commits(&self, contender: usize) -> Option<Commits> {
        self.classes[contender]?.commits
    }

    /// The isolation level of a contender, if rankings separate contenders by it.
    pub fn isolation(&self, contender: usize) -> Option<Isolation> {
        self.classes[contender]?.isolation
    }

    /// Returns whether each client of a contender is a separate process; none in runs without many clients.
    pub fn processes(&self, contender: usize) -> Option<bool> {
        self.about.load.map(|_| self.contenders[contender].processes)
    }

    /// The label of a contender, by its position in the run.
    pub fn label(&self, contender: usize) -> &str {
        &self.contenders[contender].label
    }

    /// A test by its id.
    pub fn test(&self, id: &str) -> Option<&TestVerdict> {
        self.tests.iter().find(|test| test.id == id)
    }

    /// Returns true if every figure counts that could and no trial failed.
    pub fn is_complete(&self) -> bool {
        let mut cells = self.tests.iter().flat_map(|test| &test.cells);
        cells.all(|cell| cell.standing.is_fine()) && self.failures.is_empty()
    }

    /// The largest cost of measuring: of a test, and of one operation, in nanoseconds.
    pub fn cost_of_measuring(&self) -> Option<(f64, f64)> {
        let cost = |test: &TestVerdict| {
            let count = test.amount.as_ref().map_or(test.statements, |amount| amount.count);
            let floor = test.floor_ns?;
            Some((floor, floor / count.max(1) as f64))
        };
        self.tests.iter().filter_map(cost).max_by(|a, b| a.0.total_cmp(&b.0))
    }
}

impl TestVerdict {
    /// The unit in which its figures are shown.
    pub fn measure(&self) -> Measure<'_> {
        Measure::new(self.figure, self.amount.as_ref())
    }

    /// Everything that is judged of it, a line for each measure: its own figures first.
    pub fn lines(&self) -> impl Iterator<Item = MeasureLine<'_>> {
        let own = MeasureLine { response: None, measure: self.measure(), cells: &self.cells };
        let responses = self.responses.iter().map(|response| MeasureLine {
            response: Some(response),
            measure: Measure::Time,
            cells: &response.cells,
        });
        std::iter::once(own).chain(responses)
    }

    /// The judgement on a contender, by its position in the run.
    pub fn cell(&self, contender: usize) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.contender == contender)
    }

    /// Returns true if its rate was sought, so that it has no figures: `sustained` has the rate.
    pub fn is_sought(&self) -> bool {
        self.sought
    }

    /// Returns true if nothing is wrong with what a contender did.
    pub(crate) fn is_answered(&self, contender: usize) -> bool {
        self.cell(contender).is_some_and(|cell| cell.standing.is_fine())
    }

    /// Returns true if a contender's figures count.
    pub(crate) fn counts(&self, contender: usize) -> bool {
        self.cell(contender).is_some_and(Cell::counts)
    }

    /// Returns true if a contender's figures may be compared with those of others.
    pub(crate) fn compares(&self, contender: usize) -> bool {
        self.cell(contender).is_some_and(Cell::is_comparable)
    }

    /// Returns true if it is part of the geometric means and of the ranks. What prepares the other tests is not.
    /// Opening is not: it happens once, and deriving a key, slow on purpose, would drown the work. Settling is not: an
    /// engine that has put nothing off has no time to divide by.
    pub fn is_of_means(&self) -> bool {
        !self.prepares && ![Model::Reopen.name(), Model::KvSettle.name()].contains(&self.model.as_str())
    }
}

impl CellStanding {
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

/// Returns true if a contender should encrypt and was found not to.
pub(crate) fn is_unproved(run: &Run, contender: usize) -> bool {
    let proof = run.contenders[contender].proof.as_ref();
    proof.is_some_and(|proof| proof.encrypts && !proof.holds())
}
