//! Runs over time: a test's medians, and the runs from which on they are others.

use dyno_record::{ContenderRecord, Run, TestRecord, hosts};

use crate::about::About;
use crate::cell::CellStanding;
use crate::cells::judge_test;
use crate::changes::changes;
use crate::disturbance::Disturbances;
use crate::statistics::{self, median};
use crate::test_verdict::TestVerdict;
use crate::views::sustained::{Sustained, sustained};

/// A test over several runs.
#[derive(Debug, Clone, PartialEq)]
pub struct SuiteHistory {
    /// The test's id and title.
    pub title: String,
    /// One for each contender of the runs, in the order in which they first appear.
    pub lines: Vec<HistoryLine>,
}

/// One contender's medians over the runs that have them.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryLine {
    /// The contender.
    pub contender: String,
    /// The run, by its position, and its median in nanoseconds; where a rate was sought, the time between two arrivals at the
    /// rate sustained.
    pub medians: Vec<(usize, f64)>,
    /// True if the newest of these runs searched for a rate.
    pub is_sought: bool,
    /// The runs at which it changed.
    pub turns: Vec<ChangePoint>,
}

/// A place where a contender became faster or slower.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangePoint {
    /// The first run after it, by position among the medians.
    pub at: usize,
    /// The median of the runs from here to the next turn, over that of the runs since the one before.
    pub ratio: f64,
    /// Other changes at the same run, as sentences.
    pub with: Vec<String>,
}

/// Returns true if two runs have the same load in each test that both have, from the same hosts: figures under one load say
/// nothing about another. Runs that do not record it are taken to be alike.
pub fn have_one_load(one: &Run, other: &Run) -> bool {
    let alike = |test: &TestRecord| {
        let Some(same) = other.shown_tests().find(|same| same.id == test.id) else { return true };
        test.load == same.load
            && test.clients.as_ref().zip(same.clients.as_ref()).is_none_or(|(was, is)| was == is)
    };
    let (schedule, same) = (&one.schedule, &other.schedule);
    schedule.sustain == same.sustain
        && schedule.statements == same.statements
        && hosts(&one.agents) == hosts(&other.agents)
        && one.shown_tests().all(alike)
}

/// A run with its verdict on the one test.
struct JudgedRun<'a> {
    about: About,
    contenders: &'a [ContenderRecord],
    test: Option<TestVerdict>,
    /// The sustained rate, if one was sought.
    sustained: Option<Sustained>,
}

/// A test (by id) over some runs of one suite, the oldest first; none where no run has it.
pub fn history(runs: &[&Run], test: &str) -> Option<SuiteHistory> {
    let judged: Vec<JudgedRun> = runs.iter().map(|run| judge_one(run, test)).collect();
    let newest = judged.iter().rev().find_map(|run| run.test.as_ref())?;
    let mut labels: Vec<&str> = Vec::new();
    for (_, contender) in runs.iter().flat_map(|run| run.shown_contenders()) {
        if !labels.contains(&contender.label.as_str()) {
            labels.push(&contender.label);
        }
    }
    Some(SuiteHistory {
        title: format!("{} {}", newest.id, newest.title),
        lines: labels.iter().map(|label| line(&judged, label)).collect(),
    })
}

fn judge_one<'a>(run: &'a Run, test: &str) -> JudgedRun<'a> {
    let shown: Vec<usize> = run.shown_contenders().map(|(index, _)| index).collect();
    let record = run.shown_tests().find(|record| record.id == test);
    let test = record.map(|record| judge_test(run, &Disturbances::new(run), &shown, record));
    JudgedRun {
        about: About::new(run),
        contenders: &run.contenders,
        sustained: test.as_ref().and_then(|test| sustained(run, std::slice::from_ref(test)).pop()),
        test,
    }
}

fn line(runs: &[JudgedRun], label: &str) -> HistoryLine {
    let middle = |run: &JudgedRun| {
        let mut cells = run.test.as_ref()?.cells.iter();
        let cell = cells.find(|cell| run.contenders[cell.contender].label == label)?;
        let lines = run.sustained.iter().flat_map(|sustained| &sustained.lines);
        let mut rates =
            lines.filter(|line| line.contender == cell.contender).map(|line| line.outcome.per_second());
        match cell.standing {
            CellStanding::Sought => rates.next().flatten().map(|rate| 1e9 / rate),
            _ => cell.figures.summary.filter(|_| cell.counts()).map(|summary| summary.median),
        }
    };
    // Rates and durations have no scale in common.
    let is_sought = runs.last().is_some_and(|run| run.sustained.is_some());
    let places = runs.iter().enumerate().filter(|(_, run)| run.sustained.is_some() == is_sought);
    let medians: Vec<(usize, f64)> = places.filter_map(|(place, run)| Some((place, middle(run)?))).collect();
    let logs: Vec<f64> = medians.iter().map(|(_, median)| median.ln()).collect();
    let found = statistics::changes(&logs, 1);
    let part = |part: &[(usize, f64)]| {
        median(&part.iter().map(|(_, median)| *median).collect::<Vec<_>>()).unwrap_or(f64::NAN)
    };
    let turn = |place: usize| {
        let at = found[place].at;
        let from = if place == 0 { 0 } else { found[place - 1].at };
        let to = found.get(place + 1).map_or(medians.len(), |next| next.at);
        let (before, after) = (&runs[medians[at - 1].0], &runs[medians[at].0]);
        let (was, is) = ((&before.about, before.contenders), (&after.about, after.contenders));
        ChangePoint {
            at,
            ratio: part(&medians[at..to]) / part(&medians[from..at]),
            with: changes(was, is, &[label.to_owned()]),
        }
    };
    let turns = (0..found.len()).map(turn).collect();
    HistoryLine { contender: label.to_owned(), turns, medians, is_sought }
}
