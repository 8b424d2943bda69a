//! A table for each test that does deferred work, with a row for each contender.

use dyno_verdict::{Debt, DebtLine, Verdict};

use crate::grid::Grid;
use crate::headings;
use crate::plain::plain;
use crate::table_options::TableOptions;
use crate::units;

/// The headers of the columns after the contender.
pub const COLUMNS: [&str; 8] =
    ["survives", "writes", "settle", "of both", "written", "by settling", "times the input", "files"];

/// The tables.
pub fn tables(verdict: &Verdict, _options: TableOptions) -> Vec<String> {
    verdict.views.debts.iter().map(|debt| plain(&table(verdict, debt))).collect()
}

fn table(verdict: &Verdict, debt: &Debt) -> Grid {
    let about = format!("{}: work that {} deferred", debt.test, debt.writes.join(", "));
    let header = ["", &about].into_iter().chain(COLUMNS).map(String::from).collect();
    Grid { header, rows: debt.lines.iter().map(|line| row(verdict, debt, line)).collect() }
}

/// The row of a contender, the first cell of which is empty.
pub fn row(verdict: &Verdict, debt: &Debt, line: &DebtLine) -> Vec<String> {
    let times =
        |written: f64| format!("{:.1}", (written + line.settle_bytes) / debt.input_bytes.max(1) as f64);
    vec![
        String::new(),
        verdict.label(line.contender).to_owned(),
        headings::survives(verdict, line.contender),
        units::duration(line.writes_ns),
        units::duration(line.settle_ns),
        units::percent(line.share()),
        line.written_bytes.map_or("–".into(), units::bytes),
        units::bytes(line.settle_bytes),
        line.written_bytes.map_or("–".into(), times),
        units::bytes(line.database_bytes),
    ]
}
