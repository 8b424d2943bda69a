//! The seconds of each contender, as bars.

use dyno_verdict::{JointVerdict, Second, Timeline, TimelineLine, Verdict};

use super::{table, words as in_words};
use crate::report::charts::{self, Chart, Figure, TestLines, TimelineRow, grouped};
use crate::report::words;
use crate::units;
use crate::views::parts::View;

/// The view of a run with tests whose operations were counted by second.
pub fn page(verdict: &Verdict, _beside: &JointVerdict) -> Vec<View> {
    let timelines = &verdict.views.timelines;
    let title = |test: &str| verdict.test(test).map_or("", |test| &test.title);
    let series = timelines.iter().map(|timeline| TestLines {
        name: format!("{} {}", timeline.test, title(&timeline.test)),
        rows: rows(verdict, timeline),
    });
    let series: Vec<TestLines<_>> = series.collect();
    let Some(longest) = series.iter().map(|series| series.rows.len()).max() else { return Vec::new() };
    let lines = timelines.iter().flat_map(|timeline| timeline.lines.iter().map(move |line| (timeline, line)));
    vec![View {
        anchor: "seconds".into(),
        title: "Second by second".into(),
        text: "How much was done in each second of each trial. A database that works evenly has bars of one height. Where \
               one stops to write out deferred work, its users wait."
            .into(),
        choices: series.iter().map(|series| series.name.clone()).collect(),
        figure: Figure::new(
            "Operations in each second of every trial, of each contender. The table below has the figures.".into(),
            "Each row has its own scale, whose top is the contender's best second. Gaps part the trials. Dark: a second \
             with less than a tenth of the usual. The line below the bars is the disk, the darker the busier; dots \
             on it are checkpoints, compactions and flushes, where the engine reports them.",
            longest,
            &Chart::Timeline { series },
        ),
        details: "Seconds and stalls",
        header: ["", "contender"]
            .into_iter()
            .chain(table::COLUMNS)
            .chain(table::BESIDE)
            .map(String::from)
            .collect(),
        rows: lines.map(|(timeline, line)| whole_row(verdict, &timeline.test, line)).collect(),
        notes: in_words::notes(verdict),
    }]
}

/// A contender's seconds and the activity around them.
fn whole_row(verdict: &Verdict, test: &str, line: &TimelineLine) -> Vec<String> {
    let beside = table::surroundings(verdict, test, line);
    let beside = beside.map_or_else(|| vec!["–".to_owned(); table::BESIDE.len()], |row| row[2..].to_vec());
    table::row(verdict, test, line).into_iter().chain(beside).collect()
}

/// Something of each second, by trial.
fn of_seconds<T>(line: &TimelineLine, part: impl Fn(&Second) -> T) -> Vec<Vec<T>> {
    line.trials.iter().map(|trial| trial.iter().map(&part).collect()).collect()
}

/// The share of a second in which the disk was busy; `None` if that is not known.
fn busy(second: &Second) -> Option<f64> {
    second.around.as_ref()?.disk_busy_ns.map(|busy| second.share(busy))
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
            trials: of_seconds(line, |second| second.per_second),
            busy: of_seconds(line, busy),
            made: of_seconds(line, |second| {
                second.around.as_ref().map_or(0, |around| around.upkeep.values().sum())
            }),
            beside: of_seconds(line, in_words::second),
        });
        (words::heading(level), rows.collect::<Vec<_>>())
    });
    grouped(groups.into(), false)
}
