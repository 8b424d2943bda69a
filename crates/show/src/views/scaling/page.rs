//! Runs of several sizes: how fast each contender is as one parameter grows, on logarithmic axes.

use dyno_record::ContenderRecord;
use dyno_verdict::statistics::Interval;
use dyno_verdict::{JointVerdict, Scaling, ScalingTest, Verdict};

use super::words as in_words;
use crate::report::charts::{self, Chart, Figure, Panel, ScalingLine, ScalingPoint, ScalingSeries};
use crate::report::words;
use crate::views::parts::View;

/// With more lines than this in one of them, each profile of a level gets a separate panel.
const TOGETHER: usize = 8;

/// The view of runs that differ in one parameter; the verdict is that of the page's subject.
pub fn page(verdict: &Verdict, beside: &JointVerdict) -> Vec<View> {
    beside.scaling.iter().map(|found| view(verdict, found)).collect()
}

fn view(verdict: &Verdict, found: &Scaling) -> View {
    let named: Vec<String> = found.sizes.iter().map(|size| format!("{} = {size}", found.parameter)).collect();
    let panels = panels(found);
    let series: Vec<ScalingSeries> = found
        .tests
        .iter()
        .map(|test| ScalingSeries {
            name: in_words::name(test),
            rate: has_rates(test),
            panels: panels.iter().map(|panel| drawn(verdict, panel, test, &found.sizes)).collect(),
        })
        .collect();
    let has = |rate: bool| series.iter().any(|series| series.rate == rate);
    let mut header = vec![String::new(), "contender".to_owned()];
    header.extend(named.iter().cloned());
    let figure = match (has(true), has(false)) {
        (true, false) => "Rows or operations a second by the median (higher is faster)",
        (true, true) => {
            "Rows or operations a second (higher is faster) or durations (lower is faster) by the median"
        }
        (false, _) => "Durations by the median (lower is faster)",
    };
    View {
        anchor: "scaling".into(),
        title: format!("How speed changes with {}", found.parameter),
        text: [in_words::sentences(found), vec![format!(
            "The same work with {}. Where a line stays level, {} makes no difference. The runs followed each \
             other and share no trials, so what changed on the machine between them is part of each line.",
            words::list(&named.iter().map(String::as_str).collect::<Vec<_>>()),
            found.parameter
        )]].concat().join(" "),
        choices: series.iter().map(|series| series.name.clone()).collect(),
        figure: Figure::new(
            format!(
                "Medians of each contender at each {}. The table below has every figure.",
                found.parameter
            ),
            &format!(
                "{figure}, with its 95% interval, over {}. Both axes are logarithmic.",
                found.parameter
            ),
            panels.len().div_ceil(2) * 11,
            &Chart::Scaling { parameter: found.parameter.clone(), sizes: found.sizes.clone(), series },
        ),
        details: "Every figure",
        header,
        rows: found.tests.iter().flat_map(table).collect(),
        notes: in_words::notes(found).collect(),
    }
}

/// Contenders that are drawn together, and what stands above them.
struct Together<'a> {
    head: String,
    contenders: Vec<&'a ContenderRecord>,
    /// True if the heading names their profile, so that labels need not.
    profile: bool,
}

/// The contenders by level, and where these are many by profile, the safest first.
fn panels(found: &Scaling) -> Vec<Together<'_>> {
    let labels = found.tests.iter().take(1).flat_map(|test| &test.lines).map(|line| &line.contender);
    let known = |label: &String| found.contenders.iter().find(|contender| contender.label == *label);
    let contenders: Vec<&ContenderRecord> =
        labels.filter_map(known).filter(|contender| !contender.harness).collect();
    let mut panels: Vec<Together> = Vec::new();
    for level in words::LEVELS {
        let of_level: Vec<&ContenderRecord> =
            contenders.iter().copied().filter(|contender| words::level(contender) == level).collect();
        let mut profiles: Vec<&str> = Vec::new();
        for contender in &of_level {
            if of_level.len() > TOGETHER && !profiles.contains(&contender.profile.as_str()) {
                profiles.push(&contender.profile);
            }
        }
        if profiles.is_empty() && !of_level.is_empty() {
            panels.push(Together {
                head: words::heading(level).into(),
                contenders: of_level,
                profile: false,
            });
            continue;
        }
        panels.extend(profiles.into_iter().map(|profile| Together {
            head: format!("{}: {profile}", words::heading(level)),
            contenders: of_level.iter().copied().filter(|contender| contender.profile == profile).collect(),
            profile: true,
        }));
    }
    panels
}

fn drawn(verdict: &Verdict, panel: &Together, test: &ScalingTest, sizes: &[f64]) -> Panel {
    let rate = has_rates(test);
    let line = |contender: &&ContenderRecord| {
        let found = test.lines.iter().find(|line| line.contender == contender.label)?;
        let points = sizes.iter().zip(&found.points).filter_map(|(&size, point)| {
            let point = point.as_ref()?;
            // Durations turned over: what is done in one of them by the time it takes.
            let amount = point.per_second.map(|per_second| per_second * point.time.median);
            let value =
                |nanoseconds: f64| amount.filter(|_| rate).map_or(nanoseconds, |amount| amount / nanoseconds);
            let ends = point.time.interval.map(|ends| (value(ends.low), value(ends.high)));
            Some(ScalingPoint {
                size,
                value: value(point.time.median),
                interval: ends.map(|(a, b)| Interval { low: a.min(b), high: a.max(b) }),
                at_least: point.at_least,
                text: format!("{}: {}", contender.label, in_words::figure(point, rate)),
            })
        });
        let label = &contender.label;
        Some(ScalingLine {
            label: if panel.profile {
                label.replace(&format!(":{}", contender.profile), "")
            } else {
                label.clone()
            },
            colour: charts::engine_colour(verdict, &contender.engine).unwrap_or(charts::UNKNOWN),
            points: points.collect(),
        })
    };
    Panel { head: panel.head.clone(), lines: panel.contenders.iter().filter_map(line).collect() }
}

/// True if a test counts something, so that it has rates.
fn has_rates(test: &ScalingTest) -> bool {
    let mut points = test.lines.iter().flat_map(|line| line.points.iter().flatten());
    points.all(|point| point.per_second.is_some())
}

/// A row for each contender of a test.
fn table(test: &ScalingTest) -> Vec<Vec<String>> {
    let rate = has_rates(test);
    let row = |line: &dyno_verdict::ScalingLine| {
        let mut row = vec![in_words::name(test), line.contender.clone()];
        row.extend(
            line.points
                .iter()
                .map(|point| point.as_ref().map_or("–".into(), |point| in_words::figure(point, rate))),
        );
        row
    };
    test.lines.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use dyno_verdict::statistics::Summary;

    use super::*;

    #[test]
    fn a_bound_is_marked_in_the_table_and_in_what_the_chart_draws() {
        let time = Summary { n: 3, median: 1e6, sd: None, spread: None, min: 1e6, max: 1e6, interval: None };
        let of = |at_least| dyno_verdict::ScalingPoint { per_second: Some(1e3), time, at_least };
        let line = dyno_verdict::ScalingLine {
            contender: "sqlite:wal".to_owned(),
            points: vec![Some(of(false)), Some(of(true)), None],
            predicted: Vec::new(),
        };
        let test = ScalingTest {
            id: "transfer".to_owned(),
            target: None,
            response: None,
            unit: None,
            lines: vec![line],
        };
        let rows = table(&test);
        let is_marked: Vec<bool> = rows[0][2..].iter().map(|cell| cell.starts_with('≥')).collect();
        assert_eq!(is_marked, [false, true, false]);
        let drawn = |at_least| {
            let point = ScalingPoint { size: 1.0, value: 1e3, interval: None, at_least, text: String::new() };
            serde_json::to_value(point).unwrap()
        };
        assert_eq!(drawn(true)["at_least"], true);
        assert!(drawn(false)["at_least"].is_null());
    }
}
