//! The seconds of each contender, as bars.

use dyno_verdict::{Beside, Timeline, Verdict};

use super::table;
use crate::report::charts::{self, Chart, Figure, TimelineRow, TimelineSeries, grouped};
use crate::report::words;
use crate::units;
use crate::views::View;

/// The view of a run with tests whose operations were counted by second.
pub fn page(verdict: &Verdict, _beside: &Beside) -> Vec<View> {
    let timelines = &verdict.views.timelines;
    let title = |test: &str| verdict.test(test).map_or("", |test| &test.title);
    let series = timelines.iter().map(|timeline| TimelineSeries {
        name: format!("{} {}", timeline.test, title(&timeline.test)),
        rows: rows(verdict, timeline),
    });
    let series: Vec<TimelineSeries> = series.collect();
    let Some(longest) = series.iter().map(|series| series.rows.len()).max() else { return Vec::new() };
    let lines = timelines.iter().flat_map(|timeline| timeline.lines.iter().map(move |line| (timeline, line)));
    vec![View {
        anchor: "seconds".into(),
        title: "Second by second".into(),
        text: "How much was done in each second of each trial. A database that works evenly has bars of one height. Where \
               one stops to write out what it has put off, its users wait."
            .into(),
        choices: series.iter().map(|series| series.name.clone()).collect(),
        figure: Figure::new(
            "Operations in each second of every trial, of each contender. The table below has the figures.".into(),
            "Each row has a scale of its own, whose top is the contender's best second. Gaps part the trials. Dark: a second \
             with less than a tenth of the usual, which is a stall.",
            longest,
            &Chart::Timeline { series },
        ),
        details: "Seconds and stalls",
        header: ["", "contender"].into_iter().chain(table::COLUMNS).map(String::from).collect(),
        rows: lines.map(|(timeline, line)| table::row(verdict, &timeline.test, line)).collect(),
        notes: Vec::new(),
    }]
}

fn rows(verdict: &Verdict, timeline: &Timeline) -> Vec<charts::Row<TimelineRow>> {
    let groups = words::LEVELS.map(|level| {
        let of_level =
            timeline.lines.iter().filter(|line| words::level(&verdict.contenders[line.contender]) == level);
        let rows = of_level.map(|line| TimelineRow {
            label: verdict.label(line.contender).to_owned(),
            colour: charts::colour(verdict, line.contender),
            text: match line.stalls {
                0 => format!("{} a second", units::in_a_second(line.usual)),
                1 => format!("one stall of {}", units::duration(line.longest_ns as f64)),
                many => format!("{many} stalls, up to {}", units::duration(line.longest_ns as f64)),
            },
            usual: line.usual,
            trials: line
                .trials
                .iter()
                .map(|trial| trial.iter().map(|second| second.per_second).collect())
                .collect(),
        });
        (words::heading(level), rows.collect::<Vec<_>>())
    });
    grouped(groups.into(), false)
}
