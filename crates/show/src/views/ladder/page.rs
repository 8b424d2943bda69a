//! The ladder of a suite as a waterfall: each rung from the rate of the one that it changes to its own.

use dyno_verdict::{CellStanding, JointVerdict, Ladder, RungVerdict, Verdict};

use super::table;
use crate::report::charts::{Chart, Figure, LadderRow, TestLines};
use crate::report::words;
use crate::units;
use crate::views::parts::View;

/// The view of a suite that has rungs.
pub fn page(verdict: &Verdict, _beside: &JointVerdict) -> Vec<View> {
    let ladders = &verdict.views.ladders;
    let Some(first) = ladders.first() else { return Vec::new() };
    let title = |ladder: &Ladder| {
        verdict.test(&ladder.test).map_or(ladder.test.clone(), |test| format!("{} {}", test.id, test.title))
    };
    let series: Vec<TestLines<_>> =
        ladders.iter().map(|ladder| TestLines { name: title(ladder), rows: rows(ladder) }).collect();
    let several = series.len() > 1;
    let spoken: Vec<String> =
        first.rungs.iter().map(|rung| format!("{}: {}", rung.name, said(rung))).collect();
    let grids = ladders.iter().map(|ladder| table::grid(verdict, ladder, false));
    let mut header = table::grid(verdict, first, false).header;
    header[1] = "rung".into();
    vec![View {
        anchor: "ladder".into(),
        title: "The ladder".into(),
        text: "Each rung changes one thing of another rung and is measured in the same blocks. Its bar goes from the rate of that \
               rung to its own; the figure at the right is the gain. ‡ marks a rung that is safer or less safe than the rung \
               it changes: it pays for safety, or buys speed with it. ≈ marks what is close: the interval of the \
               gain excludes changes beyond the run's margin. ? marks what the trials do not show: the interval includes 1.00, \
               there are too few trials for one, or it may be chance among all rungs."
            .into(),
        choices: if several { series.iter().map(|series| series.name.clone()).collect() } else { Vec::new() },
        figure: Figure::new(
            format!("Rows a second of each rung. {}", spoken.join("; ")),
            "Rows a second, logarithmic; further to the right is faster. Full bars are gains, outlined ones losses; the mark at \
             the end shows what the rung survives.",
            first.rungs.len() + 2,
            &Chart::Ladder { series },
        ),
        details: "Every rung",
        header,
        rows: grids.flat_map(|grid| grid.rows).collect(),
        notes: table::rungs_of(verdict, first),
    }]
}

fn rows(ladder: &Ladder) -> Vec<LadderRow> {
    let row = |(index, rung): (usize, &RungVerdict)| {
        let over = rung.over.filter(|_| rung.gain.is_some());
        LadderRow {
            label: format!("{} {}", index + 1, rung.name),
            text: said(rung),
            level: words::place(rung.level),
            rate: rung.rate,
            interval: rung.interval,
            from: over.and_then(|over| ladder.rungs[over].rate),
            next: over.is_some_and(|over| over + 1 == index),
            published: rung.published,
        }
    };
    ladder.rungs.iter().enumerate().map(row).collect()
}

/// The rate, and what it gains.
fn said(rung: &RungVerdict) -> String {
    let Some(rate) = rung.rate else { return "failed".into() };
    let mark = match rung.standing {
        CellStanding::Wrong(_) => " ✗ wrong",
        CellStanding::Disputed(_) => " ✗ disputed",
        _ => "",
    };
    let worked_out = if rung.extrapolated { " ~" } else { "" };
    let gain = rung.gain.as_ref().map(|_| table::short_gain(rung)).unwrap_or_default();
    format!("{}{worked_out}{mark}{}{gain}", units::rate(rate), if gain.is_empty() { "" } else { "  " })
}
