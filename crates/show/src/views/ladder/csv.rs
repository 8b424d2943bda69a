//! The rungs of a ladder, as columns.

use dyno_verdict::Verdict;

use crate::csv_column::{Column, ratio};

/// The columns of a contender in a test, by their places.
pub fn columns(verdict: &Verdict, contender: usize, test: usize) -> Vec<Column> {
    let id = &verdict.tests[test].id;
    let ladder = verdict.views.ladders.iter().find(|ladder| ladder.test == *id);
    let rungs = ladder.map(|ladder| &ladder.rungs[..]).unwrap_or_default();
    let rung = rungs.iter().find(|rung| rung.contender == contender);
    let over = rung.and_then(|rung| rung.over).map(|over| rungs[over].name.as_str());
    let interval = rung.and_then(|rung| rung.interval);
    let mut columns = vec![
        ("rung", rung.map(|rung| rung.name.as_str()).into()),
        ("per_second", rung.and_then(|rung| rung.rate).into()),
        ("per_second_low", interval.map(|interval| interval.low).into()),
        ("per_second_high", interval.map(|interval| interval.high).into()),
        ("rung_over", over.into()),
    ];
    let gain = rung.and_then(|rung| rung.gain.as_ref());
    columns.extend(ratio(["gain", "gain_low", "gain_high"], gain));
    columns
}
