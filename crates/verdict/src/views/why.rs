//! The division of the time of tests, and the plans of their statements, in runs whose threads were looked at.

use std::collections::{BTreeMap, BTreeSet};

use dyno_protocol::Model;
use dyno_record::{Run, StatementPlan, TimeBudget, TrialRecord};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::test_verdict::TestVerdict;

/// Beginnings of lines of a plan that are about one execution and not about the plan.
const OF_EXECUTIONS: [&str; 10] = [
    "Buffers:",
    "Buckets:",
    "Execution",
    "Heap Blocks:",
    "Heap Fetches:",
    "I/O Timings:",
    "Planning",
    "Rows Removed",
    "Sort Method:",
    "Workers Launched:",
];

/// The time of tests, divided, and plans.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimeBudgets {
    /// The tests of which a budget is known.
    pub tests: Vec<BudgetedTest>,
    /// The statements of which plans are known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plans: Vec<ComparedPlans>,
}

/// The budgets of a test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BudgetedTest {
    /// The test, by its id.
    pub test: String,
    /// For each contender shown of which a budget is known.
    pub lines: Vec<BudgetLine>,
}

/// The budget of a contender in a test: of one pass, which is no measured trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BudgetLine {
    /// The contender, by its position in the run.
    pub contender: usize,
    /// The time of the pass, in nanoseconds: the sum of the parts.
    pub wall_ns: u64,
    /// The median of the measured trials, in nanoseconds, to hold it against; absent where the test lasts a given time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_ns: Option<f64>,
    /// The parts.
    #[serde(flatten)]
    pub budget: TimeBudget,
}

/// The plans of one statement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedPlans {
    /// The test, by its id.
    pub test: String,
    /// The statement.
    pub statement: String,
    /// True if contenders of one engine have different plans for it. Costs, row counts and what is about one
    /// execution are not compared.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub differ: bool,
    /// The plan of each contender shown that has one.
    pub plans: Vec<ContenderPlan>,
}

/// The plan of a contender for a statement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContenderPlan {
    /// The contender, by its position in the run.
    pub contender: usize,
    /// The plan, line by line.
    pub plan: Vec<String>,
}

/// The budgets and plans of a run; none where dyno did not look.
pub(super) fn why(run: &Run, tests: &[TestVerdict]) -> Option<TimeBudgets> {
    let shown = |trial: &&TrialRecord| trial.watched && run.contenders[trial.contender].named;
    let mut passes: Vec<&TrialRecord> = run.trials.iter().filter(shown).collect();
    passes.sort_by_key(|pass| pass.contender);
    let budgeted = tests.iter().map(|test| budgeted(test, &passes)).filter(|test| !test.lines.is_empty());
    let why = TimeBudgets { tests: budgeted.collect(), plans: plans(run, &passes) };
    (!why.tests.is_empty() || !why.plans.is_empty()).then_some(why)
}

fn budgeted(test: &TestVerdict, passes: &[&TrialRecord]) -> BudgetedTest {
    let line = |pass: &&TrialRecord| {
        let sample = pass.samples.iter().find(|sample| sample.sample.test == test.id)?;
        let budget = sample.budget?;
        let lasts = test.model == Model::Mix.name();
        let measured = test.cell(pass.contender).and_then(|cell| cell.figures.summary);
        Some(BudgetLine {
            contender: pass.contender,
            wall_ns: budget.wall_ns(),
            measured_ns: measured.filter(|_| !lasts).map(|summary| summary.median),
            budget,
        })
    };
    BudgetedTest { test: test.id.clone(), lines: passes.iter().filter_map(line).collect() }
}

/// The plans by statement, in the order of the tests.
fn plans(run: &Run, passes: &[&TrialRecord]) -> Vec<ComparedPlans> {
    let mut found: Vec<ComparedPlans> = Vec::new();
    for (pass, plan) in passes.iter().flat_map(|pass| pass.plans.iter().map(move |plan| (pass, plan))) {
        let StatementPlan { test, statement, plan } = plan.clone();
        let own = ContenderPlan { contender: pass.contender, plan };
        match found.iter_mut().find(|known| known.test == test && known.statement == statement) {
            Some(known) => known.plans.push(own),
            None => found.push(ComparedPlans { test, statement, differ: false, plans: vec![own] }),
        }
    }
    let place = |test: &str| run.tests.iter().position(|known| known.id == test);
    found.sort_by_key(|plans| place(&plans.test));
    found.iter_mut().for_each(|plans| plans.differ = differ(run, &plans.plans));
    found
}

/// True if two plans of one engine have different shapes.
fn differ(run: &Run, plans: &[ContenderPlan]) -> bool {
    let mut shapes: BTreeMap<&str, BTreeSet<Vec<String>>> = BTreeMap::new();
    for plan in plans {
        shapes.entry(&run.contenders[plan.contender].engine).or_default().insert(shape(&plan.plan));
    }
    shapes.values().any(|shapes| shapes.len() > 1)
}

/// A plan without costs, row counts and what is about one execution of it.
fn shape(plan: &[String]) -> Vec<String> {
    let is_of_plan = |line: &&String| !OF_EXECUTIONS.iter().any(|start| line.trim_start().starts_with(start));
    let line = |line: &String| {
        let known = ["(cost=", "(actual "].iter().filter_map(|figures| line.find(figures)).min();
        let cells = line[..known.unwrap_or(line.len())].split(" | ");
        let cells = cells.map(|cell| if cell.parse::<f64>().is_ok() { "#" } else { cell });
        cells.collect::<Vec<_>>().join(" | ").trim_end().to_owned()
    };
    plan.iter().filter(is_of_plan).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_shape_is_what_an_engine_chose() {
        let one = "Aggregate  (cost=2.1..2.2 rows=1 width=8) (actual rows=1 loops=1)\n  Buffers: shared hit=3\n  ->  Seq Scan on t1  (cost=0..2 rows=9 width=0) (actual rows=9 loops=1)\n        Rows Removed by Filter: 7";
        let other = "Aggregate  (cost=9.9..9.9 rows=1 width=8) (actual rows=1 loops=1)\n  ->  Seq Scan on t1  (cost=0..4 rows=8 width=0) (actual rows=8 loops=1)";
        assert_eq!(shape(&lines(one)), ["Aggregate", "  ->  Seq Scan on t1"]);
        assert_eq!(shape(&lines(one)), shape(&lines(other)));
        assert_ne!(shape(&lines(other)), shape(&lines(&other.replace("t1", "t2"))));
        assert_eq!(
            shape(&lines("1 | SIMPLE | t1 | ALL | 1000 | Using where")),
            ["# | SIMPLE | t1 | ALL | # | Using where"]
        );
        assert_ne!(shape(&lines("SCAN t1")), shape(&lines("SEARCH t1 USING INDEX i3 (b=?)")));
    }
}
