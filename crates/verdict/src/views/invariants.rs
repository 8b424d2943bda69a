//! The invariants of a test, and whether they held: of each contender the trials in which nothing broke them.

use dyno_protocol::Value;
use dyno_record::Run;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The invariants of a test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Invariants {
    /// The test's id.
    pub test: String,
    /// The conditions that had to hold, in words, in order.
    pub says: Vec<String>,
    /// The lines of the suite's file in which that stands; empty where the run does not say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines_in_suite: Vec<usize>,
    /// For each contender shown, by its position in the run, what became of each of them.
    pub lines: Vec<(usize, Vec<InvariantVerdict>)>,
}

/// The outcome of an invariant.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InvariantVerdict {
    /// The trials after which it was looked at, those to warm up too.
    pub trials: u64,
    /// Those after which it held.
    pub held: u64,
    /// The number of rows that broke it in the worst trial.
    pub broken: i64,
    /// The trials after which its query returned no number of rows: NULL, a text, or a number less than 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unknown: u64,
    /// The first of these values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub came: Option<Value>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The invariants of the tests shown that have any.
pub(super) fn invariants(run: &Run) -> Vec<Invariants> {
    let tests = run.shown_tests().filter(|test| !test.invariants.is_empty());
    let judged = tests.map(|test| {
        let lines = run
            .shown_contenders()
            .map(|(contender, _)| (contender, line(run, contender, &test.id, test.invariants.len())));
        Invariants {
            test: test.id.clone(),
            says: test.invariants.clone(),
            lines_in_suite: test.invariant_lines.clone(),
            lines: lines.collect(),
        }
    });
    judged.collect()
}

/// The outcomes of a test's invariants with a contender (by position).
fn line(run: &Run, contender: usize, test: &str, count: usize) -> Vec<InvariantVerdict> {
    let trials = run.trials.iter().filter(|trial| trial.contender == contender);
    let samples = trials.flat_map(|trial| &trial.samples).filter(|sample| sample.sample.test == test);
    let mut line = vec![InvariantVerdict::default(); count];
    for answer in samples.filter_map(|sample| run.answers.get(sample.answer)) {
        for (invariant, row) in line.iter_mut().zip(&answer.kept) {
            invariant.trials += 1;
            match row.last() {
                Some(Value::Integer(broken @ 0..)) => {
                    invariant.held += u64::from(*broken == 0);
                    invariant.broken = invariant.broken.max(*broken);
                }
                value => {
                    invariant.unknown += 1;
                    invariant.came.get_or_insert(value.cloned().unwrap_or(Value::Null));
                }
            }
        }
    }
    line
}
