//! The parts of a test's time, as columns.

use dyno_record::TimeBudget;
use dyno_verdict::{BudgetLine, Verdict};

use crate::csv_column::Column;

/// The columns of a contender in a test, by their places.
pub fn columns(verdict: &Verdict, contender: usize, test: usize) -> Vec<Column> {
    let id = &verdict.tests[test].id;
    let budgeted = verdict.views.why.iter().flat_map(|why| &why.tests).find(|test| test.test == *id);
    let line = budgeted.and_then(|test| test.lines.iter().find(|line| line.contender == contender));
    let of = |part: fn(&TimeBudget) -> u64| line.map(|line: &BudgetLine| part(&line.budget)).into();
    vec![
        ("why_wall_ns", line.map(|line| line.wall_ns).into()),
        ("why_client_cpu_ns", of(|budget| budget.client_cpu_ns)),
        ("why_server_cpu_ns", of(|budget| budget.server_cpu_ns)),
        ("why_flush_ns", of(|budget| budget.flush_ns)),
        ("why_io_ns", of(|budget| budget.io_ns)),
        ("why_lock_ns", of(|budget| budget.lock_ns)),
        ("why_processor_ns", of(|budget| budget.processor_ns)),
        ("why_unplaced_ns", of(|budget| budget.unplaced_ns)),
        ("why_looks", of(|budget| budget.looks)),
    ]
}
