//! The driver tax: every driver of an engine beside its lowest-level one, as a percentage. What is added
//! is what the language and the client library cost; below zero, a way of loading that saves something.

use dyno_record::{ContenderRecord, Run};
use dyno_verdict::{CellStanding, Verdict, contenders_ratio};

use super::grid::Grid;
use super::units;

/// A table for each engine of which several drivers ran with the same profile.
pub fn grids(run: &Run, verdict: &Verdict) -> Vec<Grid> {
    let shown: Vec<(usize, &ContenderRecord)> = run.shown_contenders().collect();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (place, (_, contender)) in shown.iter().enumerate().filter(|(_, (_, contender))| !contender.harness) {
        match groups.iter_mut().find(|group| is_alike(shown[group[0]].1, contender)) {
            Some(group) => group.push(place),
            None => groups.push(vec![place]),
        }
    }
    let several = groups.iter().filter(|group| group.len() > 1);
    several.map(|group| grid(run, verdict, &shown, group)).collect()
}

/// Whether two contenders differ in nothing but the driver and its way of working.
fn is_alike(a: &ContenderRecord, b: &ContenderRecord) -> bool {
    (&a.engine, &a.build, &a.profile, &a.asked, &a.url) == (&b.engine, &b.build, &b.profile, &b.asked, &b.url)
}

fn grid(run: &Run, verdict: &Verdict, shown: &[(usize, &ContenderRecord)], group: &[usize]) -> Grid {
    // Drivers in a file's order: the engine's default, called directly, is the lowest.
    let lowest = group.iter().copied().find(|&place| shown[place].1.lowest).unwrap_or(group[0]);
    let base = shown[lowest].1;
    let mut header = vec![String::new(), format!("over {}", base.label)];
    header.extend(verdict.tests.iter().map(|test| test.id.clone()));
    let rows = group.iter().filter(|&&place| place != lowest).map(|&place| {
        let mut row = vec![String::new(), shown[place].1.label.clone()];
        row.extend(verdict.tests.iter().map(|test| {
            let counts = |place: usize| test.cells[place].standing == CellStanding::Counts;
            let ratio = contenders_ratio(run, shown[place].0, shown[lowest].0, &test.id);
            match ratio.filter(|_| counts(place) && counts(lowest)) {
                None => "–".to_owned(),
                Some(ratio) => {
                    let signed = |ratio: f64| {
                        format!(
                            "{}{}",
                            if ratio >= 1.0 { "+" } else { "−" },
                            units::percent((ratio - 1.0).abs())
                        )
                    };
                    let interval = ratio
                        .interval
                        .map(|interval| format!(" ({} … {})", signed(interval.low), signed(interval.high)));
                    format!("{}{}", signed(ratio.ratio), interval.unwrap_or_default())
                }
            }
        }));
        row
    });
    Grid { header, rows: rows.collect() }
}
