//! The invariants of a test, as rows of text.

use dyno_verdict::{Invariant, Invariants, Verdict};

use crate::grid::Grid;
use crate::table::{TableOptions, plain};

/// The number of contenders in a row, so that the invariants are printed in full.
const IN_A_ROW: usize = 4;

/// A table for each test with invariants.
pub fn tables(verdict: &Verdict, _options: TableOptions) -> Vec<String> {
    let tests = verdict.views.invariants.iter();
    let grids =
        tests.flat_map(|test| test.lines.chunks(IN_A_ROW).map(move |lines| grid(verdict, test, lines)));
    grids.map(|grid| plain(&grid)).collect()
}

fn grid(verdict: &Verdict, test: &Invariants, lines: &[(usize, Vec<Invariant>)]) -> Grid {
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
pub fn text(invariant: &Invariant) -> String {
    match invariant {
        Invariant { trials: 0, .. } => "–".to_owned(),
        Invariant { trials, held, .. } if trials == held => "held".to_owned(),
        Invariant { trials, held, .. } => format!("✗ {} of {trials}", trials - held),
    }
}

/// Notes on the invariants that were broken.
pub fn notes(verdict: &Verdict) -> Vec<String> {
    let mut notes = Vec::new();
    for test in &verdict.views.invariants {
        for (contender, line) in &test.lines {
            let broken =
                line.iter().zip(&test.says).filter(|(invariant, _)| invariant.held < invariant.trials);
            notes.extend(broken.map(|(invariant, says)| {
                let broken =
                    (invariant.broken > 0).then(|| format!("up to {} rows broke it", invariant.broken));
                let unknown = (invariant.unknown > 0).then(|| {
                    format!("its query returned no whole number after {} of them", invariant.unknown)
                });
                // A negative value is not a number of rows.
                let how: Vec<String> = broken.into_iter().chain(unknown).collect();
                format!(
                    "Broken: {} in test {}: \"{says}\" did not hold after {} of {} trials{}{}.",
                    verdict.label(*contender),
                    test.test,
                    invariant.trials - invariant.held,
                    invariant.trials,
                    if how.is_empty() { "" } else { "; " },
                    how.join(", and ")
                )
            }));
        }
    }
    notes
}
