//! The rates that were tried, and what is sustained: a section for each test.

use dyno_verdict::{JointVerdict, Outcome, Sustained, SustainedLine, Verdict};

use super::{table, words};
use crate::measure;
use crate::report::charts::{self, Figure, Samples, grouped};
use crate::report::{anchors, words as page_words};
use crate::views::parts::View;

/// The views of a run in which rates were sought.
pub fn page(verdict: &Verdict, _beside: &JointVerdict) -> Vec<View> {
    verdict.views.sustained.iter().map(|sustained| view(verdict, sustained)).collect()
}

fn view(verdict: &Verdict, sustained: &Sustained) -> View {
    let (test, target) = (&sustained.test, words::target(&sustained.target));
    let shows = verdict.test(test).map_or("", |test| &test.shows);
    let rows = rows(verdict, sustained);
    let lines = rows.len();
    View {
        // In place of the test's own section.
        anchor: anchors::test(test),
        title: format!("{test}: what is sustained with {target}"),
        text: format!("{} {shows}", words::sentence(verdict, sustained)),
        choices: Vec::new(),
        figure: Figure::new(
            format!("The rates of all trials, of each contender. {}", words::sentence(verdict, sustained)),
            "Operations that arrive in a second: further to the right is more. Filled: trials in which the target held. \
             Hollow: trials in which it did not. The line is the rate sustained with its 95% interval.",
            lines,
            // Charts of samples hold durations: here how far apart arrivals are.
            &charts::samples(rows, Some(1)),
        ),
        details: "What is sustained",
        header: ["", "contender"].into_iter().chain(table::COLUMNS).map(String::from).collect(),
        rows: sustained.lines.iter().map(|line| table::row(verdict, test, line)).collect(),
        notes: words::notes(verdict),
    }
}

fn rows(verdict: &Verdict, sustained: &Sustained) -> Vec<charts::Row<Samples>> {
    let groups = page_words::LEVELS.map(|level| {
        let lines = sustained.lines.iter();
        let of_level = lines.filter(|line| page_words::level(&verdict.contenders[line.contender]) == level);
        (page_words::heading(level), of_level.map(|line| row(verdict, line)).collect::<Vec<_>>())
    });
    grouped(groups.into(), false)
}

fn row(verdict: &Verdict, line: &SustainedLine) -> Samples {
    let tries = |held: bool| {
        let tries = line.tries.iter().filter(move |each| each.sought.held == held);
        tries.map(|each| (each.block, measure::per_second(each.sought.rate) as u64)).collect()
    };
    let interval = match line.outcome {
        Outcome::Sustains { interval, .. } => interval,
        Outcome::AtLeast { .. } | Outcome::NotSustained { .. } => None,
    };
    Samples {
        label: verdict.label(line.contender).to_owned(),
        colour: charts::colour(verdict, line.contender),
        text: words::outcome(&line.outcome),
        median: line.outcome.per_second().map(measure::per_second),
        interval: interval.map(|mut interval| {
            (interval.low, interval.high) =
                (measure::per_second(interval.high), measure::per_second(interval.low));
            interval
        }),
        used: tries(true),
        left_out: tries(false),
    }
}
