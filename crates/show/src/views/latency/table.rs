//! Durations of single operations, as rows of text.

use dyno_record::Load;
use dyno_verdict::{LatencyLine, Verdict};

use crate::grid::{Grid, level_name};
use crate::plain::plain;
use crate::table_options::TableOptions;
use crate::units;

/// The headers of the columns after the contender.
pub const COLUMNS: [&str; 6] = ["survives", "p50", "p90", "p99", "p99.9", "max"];

/// A table for each test whose operations were timed.
pub fn tables(verdict: &Verdict, _options: TableOptions) -> Vec<String> {
    let tests = verdict.views.latency.iter().flat_map(|latency| &latency.tests);
    let grid = |test: &dyno_verdict::LatencyTest| Grid {
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
    let clock = latency.clock_ns.filter(|_| latency.apart).map(|clock| {
        format!(
            "Latency comes from separate trials after the others. Each duration includes one reading of the clock, which \
             takes {} here.",
            units::duration(clock as f64)
        )
    });
    let lines =
        || latency.tests.iter().flat_map(|test| test.lines.iter().map(move |line| (&test.test, line)));
    let is_open = lines().any(|(_, line)| line.late.is_some());
    let open = is_open.then(|| {
        let how = if verdict.about.load == Some(Load::Sessions) {
            "Operations arrived in sessions, each of which connected, did them one after another and left. `connect` lasts from \
             when a session arrived until its statements were prepared: waiting for a free client is a part of it. Each other \
             duration begins when the one before has ended."
        } else {
            "Operations arrived at times of their own, and each duration begins when its operation arrived: waiting for a \
             free client is a part of it."
        };
        format!(
            "{how} The figure of such a test is the 99th percentile of all its durations; the 90th with fewer than 1,000 \
             arrivals, the median with fewer than 100."
        )
    });
    let retried = lines().filter(|(_, line)| line.failed + line.retried > 0).map(|(test, line)| {
        format!(
            "{test}, {}: {} operations were tried again because others were in their way, and {} never succeeded.",
            verdict.label(line.contender),
            line.retried,
            line.failed
        ) + &if line.failure.is_empty() { String::new() } else { format!(" The first of these: {}.", line.failure) }
    });
    let ignored = lines().filter(|(_, line)| line.ignored > 0).map(|(test, line)| {
        format!(
            "{test}, {}: {} of {} operations{} ended with an error that the suite ignores; they count as done.",
            verdict.label(line.contender),
            units::whole(line.ignored),
            units::whole(line.percentiles.count),
            line.class.as_ref().map(|class| format!(" of {class}")).unwrap_or_default()
        )
    });
    let undone = lines().filter(|(_, line)| line.undone > line.ignored).map(|(test, line)| {
        format!(
            "{test}, {}: {} of {} operations{} were undone at their end, as planned.",
            verdict.label(line.contender),
            units::whole(line.undone - line.ignored),
            units::whole(line.percentiles.count),
            line.class.as_ref().map(|class| format!(" of {class}")).unwrap_or_default()
        )
    });
    let left = latency.tests.iter().flat_map(|test| test.left.iter().map(move |left| (&test.test, left)));
    let left = left.map(|(test, &(contender, left, due))| {
        format!(
            "{test}, {}: {} of {} operations that were due were not done at the end; they count with the time they had waited by then.",
            verdict.label(contender),
            units::whole(left),
            units::whole(due)
        )
    });
    let is_least = lines().any(|(_, line)| !line.at_least.is_empty());
    let least = is_least.then(|| {
        "≥ at least this: the figure counts operations that were still under way, or had not succeeded, when the time was up"
            .to_owned()
    });
    let a_minute = latency.tests.iter().filter_map(|test| {
        let rates = test.a_minute.as_ref()?;
        let line = |(contender, rate): &(usize, f64)| {
            format!("{} {}", verdict.label(*contender), units::whole(rate.round() as u64))
        };
        let lines: Vec<String> = rates.lines.iter().map(line).collect();
        Some(format!("{}, {} a minute: {}.", test.test, rates.says, lines.join(", ")))
    });
    let late = lines().filter_map(|(test, line)| {
        let (late, p99) = (line.late?.p99?, line.percentiles.p99?);
        (late as f64 > MOST_LATE * p99 as f64).then(|| {
            format!(
                "{test}, {}: dyno itself sent operations late, 1 % of them by more than {}; do not rely on these durations.",
                verdict.label(line.contender),
                units::duration(late as f64)
            )
        })
    });
    clock
        .into_iter()
        .chain(a_minute)
        .chain(open)
        .chain(left)
        .chain(least)
        .chain(retried)
        .chain(undone)
        .chain(ignored)
        .chain(late)
        .collect()
}

/// The largest share of the 99th percentile that the runner's own lateness may have.
const MOST_LATE: f64 = 0.05;
