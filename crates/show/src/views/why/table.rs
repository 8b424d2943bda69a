//! The parts of each test's time as rows of text, and the statements whose plans differ.

use dyno_verdict::{BudgetLine, BudgetedTest, ComparedPlans, TimeBudgets, Verdict};

use crate::grid::Grid;
use crate::layout::cut_line;
use crate::plain::{plain, with_texts};
use crate::table_options::TableOptions;
use crate::units;

/// The names of the parts, in their order.
const PARTS: [&str; 7] =
    ["client\non CPU", "server\non CPU", "flush", "other\nI/O", "lock", "processor", "not\nplaced"];
/// The mark of threads that worked at the same time.
const OVERLAPS: &str = " ∥";
/// The most characters of a statement that a table shows.
const SHOWN: usize = 60;

/// The table of budgets, and that of plans that differ.
pub fn tables(verdict: &Verdict, _options: TableOptions) -> Vec<String> {
    let Some(why) = &verdict.views.why else { return Vec::new() };
    let plans = plans(verdict, why.plans.iter().filter(|plans| plans.differ));
    let grids = [(budgets(verdict, why), plain as fn(&Grid) -> String), (plans, with_texts)];
    grids.iter().filter(|(grid, _)| !grid.rows.is_empty()).map(|(grid, draw)| draw(grid)).collect()
}

/// The budgets of all tests: a part that is zero everywhere has no column.
pub fn budgets(verdict: &Verdict, why: &TimeBudgets) -> Grid {
    let lines = || why.tests.iter().flat_map(|test| &test.lines);
    let has_part = |part: usize| lines().any(|line| line.budget.parts()[part].1 > 0);
    let parts: Vec<usize> = (0..PARTS.len()).filter(|&part| has_part(part)).collect();
    let mut header = ["", "where the time went", "measured", "this pass"].map(String::from).to_vec();
    header.extend(parts.iter().map(|&part| PARTS[part].to_owned()));
    let of_test = |test: &BudgetedTest| -> Vec<Vec<String>> {
        let first = |place: usize| if place == 0 { test.test.clone() } else { String::new() };
        test.lines.iter().enumerate().map(|(place, line)| row(verdict, first(place), line, &parts)).collect()
    };
    Grid { header, rows: why.tests.iter().flat_map(of_test).collect() }
}

fn row(verdict: &Verdict, first: String, line: &BudgetLine, parts: &[usize]) -> Vec<String> {
    let share = |nanoseconds: u64| units::percent(nanoseconds as f64 / line.wall_ns.max(1) as f64);
    let part = |&part: &usize| {
        let mark = if part == 0 && line.budget.overlaps { OVERLAPS } else { "" };
        match line.budget.parts()[part].1 {
            0 => "–".to_owned(),
            nanoseconds => format!("{}{mark}", share(nanoseconds)),
        }
    };
    let mut row = vec![
        first,
        verdict.label(line.contender).to_owned(),
        units::duration_or_dash(line.measured_ns),
        units::duration(line.wall_ns as f64),
    ];
    row.extend(parts.iter().map(part));
    row
}

/// The lines of plans of some statements.
pub fn plans<'a>(verdict: &Verdict, statements: impl Iterator<Item = &'a ComparedPlans>) -> Grid {
    let mut rows = Vec::new();
    for plans in statements {
        let mark = if plans.differ { " ≠" } else { "" };
        rows.push(vec![
            plans.test.clone(),
            format!("{}{mark}", cut_line(&plans.statement, SHOWN)),
            String::new(),
        ]);
        for own in &plans.plans {
            let label = verdict.label(own.contender);
            let first = |place: usize| if place == 0 { label.to_owned() } else { String::new() };
            rows.extend(
                own.plan
                    .iter()
                    .enumerate()
                    .map(|(place, line)| vec![String::new(), first(place), line.clone()]),
            );
        }
    }
    Grid { header: ["", "statement, contender", "plan"].map(String::from).to_vec(), rows }
}

/// The meaning of the parts, and their limits.
pub fn notes(verdict: &Verdict) -> Vec<String> {
    let Some(why) = &verdict.views.why else { return Vec::new() };
    let mut notes = vec![
        "Where the time went: one pass of each contender after the measured trials, and so without an interval. The parts add \
         up to the time of the pass. The client's CPU time and its wait for a processor are the kernel's counts; the other \
         parts are shares of the moments, some two thousand a second, at which dyno looked at the threads. docs/why.md explains \
         each part."
            .to_owned(),
    ];
    let lines = || why.tests.iter().flat_map(|test| &test.lines);
    if lines().any(|line| line.budget.clients > 1) {
        notes.push("Of several clients each part is the mean over the threads that drive them.".into());
    }
    if lines().any(|line| line.budget.overlaps) {
        notes.push(
            "∥ threads worked at the same time, for longer than the test took: their CPU time and wait for a processor are \
             scaled to its time, and waits behind them are not seen"
                .into(),
        );
    }
    let differing = why.plans.iter().filter(|plans| plans.differ).count();
    if !why.plans.is_empty() {
        notes.push(format!(
            "Plans: {} statements that only read; the page and JSON have all of them. ≠ contenders of one engine have different \
             plans: {differing}. A plan is that of the database after the test.",
            why.plans.len()
        ));
    }
    notes
}
