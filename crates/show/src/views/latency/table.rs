//! Durations of single operations, as rows of text.

use dyno_record::Load;
use dyno_verdict::{LatencyLine, LatencyTest, Verdict};

use crate::grid::Grid;
use crate::headings::level_name;
use crate::plain::plain;
use crate::table_options::TableOptions;
use crate::units;

/// The headers of the columns after the contender.
pub const COLUMNS: [&str; 6] = ["survives", "p50", "p90", "p99", "p99.9", "max"];

/// A table for each test whose operations were timed.
pub fn tables(verdict: &Verdict, _options: TableOptions) -> Vec<String> {
    let tests = verdict.views.latency.iter().flat_map(|latency| &latency.tests);
    let grid = |test: &LatencyTest| Grid {
        header: ["", &format!("{}: latency", test.test)]
            .into_iter()
            .chain(COLUMNS)
            .map(String::from)
            .collect(),
        rows: test.lines.iter().map(|line| row(verdict, "", line)).collect(),
    };
    tests.map(|test| plain(&grid(test))).collect()
}

/// A contender's percentiles, with what stands before its label.
pub fn row(verdict: &Verdict, first: &str, line: &LatencyLine) -> Vec<String> {
    let (contender, found) = (&verdict.contenders[line.contender], &line.percentiles);
    let label = match &line.class {
        Some(class) => format!("{}, {class}", contender.label),
        None => contender.label.clone(),
    };
    let mut row = vec![first.to_owned(), label, level_name(contender)];
    let any = |duration: u64| (found.count > 0).then_some(duration);
    let durations = [
        ("p50", any(found.p50)),
        ("p90", found.p90),
        ("p99", found.p99),
        ("p999", found.p999),
        ("max", any(found.max)),
    ];
    let shown = |(name, found): (&str, Option<u64>)| {
        let sign = if line.at_least.iter().any(|least| least == name) { "≥ " } else { "" };
        found.map_or_else(|| "–".into(), |ns| format!("{sign}{}", units::duration(ns as f64)))
    };
    row.extend(durations.map(shown));
    row
}

/// Notes on durations: the cost of the clock that each includes, and operations that failed or were late.
pub fn notes(verdict: &Verdict) -> Vec<String> {
    let Some(latency) = &verdict.views.latency else { return Vec::new() };
    let lines = || {
        latency.tests.iter().flat_map(|test| test.lines.iter().map(move |line| (test.test.as_str(), line)))
    };
    let has_arrivals = lines().any(|(_, line)| line.late.is_some());
    let has_least = lines().any(|(_, line)| !line.at_least.is_empty());
    let mut notes = Vec::new();
    notes.extend(latency.clock_ns.filter(|_| latency.apart).map(clock));
    notes.extend(latency.tests.iter().filter_map(|test| a_minute(verdict, test)));
    notes.extend(has_arrivals.then(|| arrivals(verdict)));
    notes.extend(latency.tests.iter().flat_map(|test| left(verdict, test)));
    notes.extend(has_least.then(|| LEAST.to_owned()));
    notes.extend(lines().filter_map(|(test, line)| retried(verdict, test, line)));
    notes.extend(lines().filter_map(|(test, line)| rolled_back(verdict, test, line)));
    notes.extend(lines().filter_map(|(test, line)| ignored(verdict, test, line)));
    notes.extend(lines().filter_map(|(test, line)| late(verdict, test, line)));
    notes
}

const LEAST: &str = "≥ at least this: the figure counts operations that were still under way, or had not succeeded, when the time was up";

fn clock(clock_ns: u64) -> String {
    format!(
        "Latency comes from separate trials after the others. Each duration includes one reading of the clock, which \
         takes {} here.",
        units::duration(clock_ns as f64)
    )
}

/// The operations a minute of those tests whose suite asks for it.
fn a_minute(verdict: &Verdict, test: &LatencyTest) -> Option<String> {
    let rates = test.a_minute.as_ref()?;
    let line = |(contender, rate): &(usize, f64)| {
        format!("{} {}", verdict.label(*contender), units::whole(rate.round() as u64))
    };
    let lines: Vec<String> = rates.lines.iter().map(line).collect();
    Some(format!("{}, {} a minute: {}.", test.test, rates.says, lines.join(", ")))
}

/// The moment from which durations count if operations arrive at planned times.
fn arrivals(verdict: &Verdict) -> String {
    let how = if verdict.about.load == Some(Load::Sessions) {
        "Operations arrived in sessions, each of which connected, did them one after another and left. `connect` lasts from \
         when a session arrived until its statements were prepared: waiting for a free client is a part of it. Each other \
         duration begins when the one before has ended."
    } else {
        "Operations arrived at planned times, and each duration begins when its operation arrived: waiting for a \
         free client is a part of it."
    };
    format!(
        "{how} The figure of such a test is the 99th percentile of all its durations; the 90th with fewer than 1,000 \
         arrivals, the median with fewer than 100."
    )
}

fn left(verdict: &Verdict, test: &LatencyTest) -> Vec<String> {
    let note = |&(contender, left, all): &(usize, u64, u64)| {
        format!(
            "{}, {}: {} of {} operations were due and not done at the end; they count with the time they had waited by \
             then.",
            test.test,
            verdict.label(contender),
            units::whole(left),
            units::whole(all)
        )
    };
    test.left.iter().map(note).collect()
}

fn retried(verdict: &Verdict, test: &str, line: &LatencyLine) -> Option<String> {
    let count = |number: u64, one: &str, many: &str| match number {
        1 => format!("1 {one}"),
        number => format!("{} {many}", units::whole(number)),
    };
    let repeated = || {
        let tries = count(line.retried, "try", "tries");
        let was = if line.retried == 1 { "was" } else { "were" };
        format!("{tries}{} {was} repeated because others were in the way", of_class(line))
    };
    let failed = || {
        let first = match line.failure.as_str() {
            "" => String::new(),
            why => format!(", the first of them because of this: {why}"),
        };
        let operations = count(line.failed, "operation", "operations");
        format!("{operations}{} never succeeded{first}", of_class(line))
    };
    let parts = [(line.retried > 0).then(repeated), (line.failed > 0).then(failed)]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>();
    (!parts.is_empty()).then(|| format!("{test}, {}: {}.", verdict.label(line.contender), parts.join("; ")))
}

fn rolled_back(verdict: &Verdict, test: &str, line: &LatencyLine) -> Option<String> {
    let rolled_back = line.undone.checked_sub(line.ignored).filter(|&count| count > 0)?;
    Some(format!(
        "{test}, {}: {} were undone at their end, as planned.",
        verdict.label(line.contender),
        share(rolled_back, line)
    ))
}

fn ignored(verdict: &Verdict, test: &str, line: &LatencyLine) -> Option<String> {
    (line.ignored > 0).then(|| {
        format!(
            "{test}, {}: {} ended with an error that the suite ignores; they count as done.",
            verdict.label(line.contender),
            share(line.ignored, line)
        )
    })
}

/// A part of the operations of a line, in words.
fn share(part: u64, line: &LatencyLine) -> String {
    format!("{} of {} operations{}", units::whole(part), units::whole(line.percentiles.count), of_class(line))
}

/// The class of a line, where a test has several.
fn of_class(line: &LatencyLine) -> String {
    line.class.as_ref().map(|class| format!(" of {class}")).unwrap_or_default()
}

fn late(verdict: &Verdict, test: &str, line: &LatencyLine) -> Option<String> {
    let (late, p99) = (line.late?.p99?, line.percentiles.p99?);
    (late as f64 > MOST_LATE * p99 as f64).then(|| {
        format!(
            "{test}, {}: dyno itself sent operations{} late, 1 % of them by more than {}; do not rely on their \
             durations.",
            verdict.label(line.contender),
            of_class(line),
            units::duration(late as f64)
        )
    })
}

/// The largest share of the 99th percentile that the runner's own lateness may have.
const MOST_LATE: f64 = 0.05;
