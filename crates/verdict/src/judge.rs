//! The verdict on a run, finished: everything that is shown of it, worked out once.
//!
//! A pure function of the record: `show` says tomorrow what `run` said today.

use dyno_record::{Class, Commits, ContenderRecord, Isolation, Run};
use schemars::JsonSchema;
use serde::Serialize;

use crate::about::{About, Failures, failures};
use crate::cells::judge_test;
use crate::disturbance::Disturbances;
use crate::levels::{rank, unranked};
use crate::ranking::LevelRanking;
use crate::rivals::{mark_fastest, rivals_in_tests};
use crate::summary::{SummaryVerdict, summarize, tests_of_means};
use crate::table::{Detectable, Table, hold};
use crate::test_verdict::TestVerdict;
use crate::views::functions::{CountedFunctions, counted_functions};
use crate::views::{Views, sustained};
use crate::waits::add_waits;

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
    /// The functions of each contender, by test, where a trial has them.
    #[serde(skip)]
    pub(crate) counted_functions: Vec<CountedFunctions>,
    /// Views that only some runs have.
    #[serde(flatten)]
    pub views: Views,
}

/// Judges a run.
pub fn judge(run: &Run) -> Verdict {
    let shown: Vec<usize> = run.shown_contenders().map(|(index, _)| index).collect();
    let disturbances = Disturbances::new(run);
    let tests = run.shown_tests().map(|test| judge_test(run, &disturbances, &shown, test));
    let mut tests: Vec<TestVerdict> = tests.collect();
    let counted_functions = counted_functions(run);
    let views = Views::new(run, &tests, &counted_functions);
    sustained::copy_to_cells(&views.sustained, &mut tests);
    let meant = tests_of_means(run, &tests);
    let mut summaries = summarize(run, &tests, &meant, &shown);
    let mut table = Table::with_baseline(run, &tests, &meant, &summaries);
    let rivals = rivals_in_tests(run, &tests);
    let unranked = unranked(run, &tests);
    rivals.iter().for_each(|rivals| table.add_rivals(rivals));
    unranked.iter().for_each(|class| table.add_rivals(&class.rivals));
    let apart = table.judge();
    let mut rankings: Vec<LevelRanking> = unranked.iter().map(|class| rank(run, class, &apart)).collect();
    add_waits(run, &disturbances, &tests, &mut rankings);
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
        counted_functions,
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
        self.tests.iter().filter_map(cost).reduce(|one, other| (one.0.max(other.0), one.1.max(other.1)))
    }
}
