//! The invariants of a test, as rows of text.

use dyno_protocol::Value;
use dyno_verdict::answers::shown;
use dyno_verdict::{InvariantVerdict, Invariants, Verdict};

use crate::grid::Grid;
use crate::plain::plain;
use crate::table_options::TableOptions;

/// The number of contenders in a row, so that the invariants are printed in full.
const IN_A_ROW: usize = 4;

/// A table for each test with invariants.
pub fn tables(verdict: &Verdict, _options: TableOptions) -> Vec<String> {
    let tests = verdict.views.invariants.iter();
    let grids =
        tests.flat_map(|test| test.lines.chunks(IN_A_ROW).map(move |lines| grid(verdict, test, lines)));
    grids.map(|grid| plain(&grid)).collect()
}

fn grid(verdict: &Verdict, test: &Invariants, lines: &[(usize, Vec<InvariantVerdict>)]) -> Grid {
    let label =
        |index: usize| verdict.label(index).replace('/', "\n/").replace(':', "\n:").replace(',', "\n,");
    let mut header = vec![String::new(), format!("{}: what must hold", test.test)];
    header.extend(lines.iter().map(|(contender, _)| label(*contender)));
    let rows = test.says.iter().enumerate().map(|(place, says)| {
        let cells = lines.iter().map(|(_, line)| text(&line[place]));
        [String::new(), says.clone()].into_iter().chain(cells).collect()
    });
    Grid { header, rows: rows.collect() }
}

/// `held`, or how often it did not.
pub fn text(invariant: &InvariantVerdict) -> String {
    match invariant {
        InvariantVerdict { trials: 0, .. } => "–".to_owned(),
        InvariantVerdict { trials, held, .. } if trials == held => "held".to_owned(),
        InvariantVerdict { trials, held, .. } => format!("✗ {} of {trials}", trials - held),
    }
}

/// Notes on the invariants that were broken.
pub fn notes(verdict: &Verdict) -> Vec<String> {
    let mut notes = Vec::new();
    for test in &verdict.views.invariants {
        for (contender, line) in &test.lines {
            let broken = line.iter().enumerate().filter(|(_, invariant)| invariant.held < invariant.trials);
            notes.extend(
                broken.map(|(place, invariant)| note(test, verdict.label(*contender), place, invariant)),
            );
        }
    }
    notes
}

/// The note on one that was broken, by its place among those of its test.
fn note(test: &Invariants, label: &str, place: usize, invariant: &InvariantVerdict) -> String {
    let says = test.says.get(place).map_or("", String::as_str);
    let line = test.lines_in_suite.get(place).map(|line| format!(" (line {line} of the suite)"));
    let rows = match invariant.broken {
        1 => "1 row broke it".to_owned(),
        rows => format!("up to {rows} rows broke it"),
    };
    let rows = (invariant.broken > 0).then_some(rows);
    let value = (invariant.unknown > 0).then(|| {
        let value = shown(invariant.came.as_ref().unwrap_or(&Value::Null));
        format!("its query returned {value} after {} of them, which is no number of rows", invariant.unknown)
    });
    let how: Vec<String> = rows.into_iter().chain(value).collect();
    format!(
        "Broken: {label} in test {}: \"{says}\"{} did not hold after {} of {} trials{}{}.",
        test.test,
        line.unwrap_or_default(),
        invariant.trials - invariant.held,
        invariant.trials,
        if how.is_empty() { "" } else { "; " },
        how.join(", and ")
    )
}
