//! Sustained rates, as columns.

use dyno_verdict::{Outcome, SustainedLine, Verdict};

use crate::csv_column::{Column, Field};

/// The columns of a contender in a test, by their places.
pub fn columns(verdict: &Verdict, contender: usize, test: usize) -> Vec<Column> {
    let id = &verdict.tests[test].id;
    let found = verdict.views.sustained.iter().find(|sustained| sustained.test == *id);
    let line = found.and_then(|found| found.lines.iter().find(|line| line.contender == contender));
    let of = |part: fn(&SustainedLine) -> Field| line.map_or(Field::Absent, part);
    vec![
        (
            "sustained",
            of(|line| {
                Field::from(match line.outcome {
                    Outcome::Sustains { .. } => "sustains",
                    Outcome::AtLeast { .. } => "at-least",
                    Outcome::NotSustained { .. } => "not-sustained",
                })
            }),
        ),
        ("sustained_per_second", of(|line| line.outcome.per_second().into())),
        ("sustained_low", of(|line| ends(&line.outcome).map(|(low, _)| low).into())),
        ("sustained_high", of(|line| ends(&line.outcome).map(|(_, high)| high).into())),
        ("sustained_trials", of(|line| line.tries.len().into())),
        ("sustained_held", of(|line| line.tries.iter().filter(|each| each.sought.held).count().into())),
        ("closed_per_second", of(|line| line.closed.into())),
    ]
}

fn ends(outcome: &Outcome) -> Option<(f64, f64)> {
    match outcome {
        Outcome::Sustains { interval: Some(interval), .. } => Some((interval.low, interval.high)),
        _ => None,
    }
}
