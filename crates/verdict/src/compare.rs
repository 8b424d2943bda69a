//! Two runs against each other, test by test and contender by contender.
//!
//! The runs share no blocks, so drift between them does not cancel: what changed on the machine
//! between them is part of the ratio. Intervals are widened for the number of comparisons
//! (Bonferroni), so that comparing a hundred equal figures raises a false alarm in one of twenty
//! comparisons of runs and not in nearly all.

use anyhow::{Result, bail};
use dyno_record::Run;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::figures::used;
use super::judge::{CellStanding, Verdict, judge};
use crate::statistics::{Difference, Ratio, independent_ratio, median};

/// The chance, over all tests together, that equal runs are told apart.
const FALSE_ALARMS: f64 = 0.05;

/// What may be said about two runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// The contenders in both runs, by label.
    pub contenders: Vec<String>,
    /// The tests in both runs.
    pub tests: Vec<TestComparison>,
    /// What is not alike in the two runs beside the times.
    pub changes: Vec<String>,
}

/// A test in two runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TestComparison {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// One for each contender in both runs.
    pub cells: Vec<CellComparison>,
}

/// A contender in one test of two runs. Medians are nanoseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellComparison {
    /// The old median.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_ns: Option<f64>,
    /// The new median.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_ns: Option<f64>,
    /// New over old; absent where one of them does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Ratio>,
    /// Whether that is a difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
    /// Why there is no ratio.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_not: Option<String>,
}

impl Comparison {
    /// Tests and contenders that are slower by more than `share` (0.05 is 5 %) and really so: the ratio of
    /// medians is above it, and the interval excludes no difference.
    pub fn slower_than(&self, share: f64) -> Vec<(&TestComparison, &str, Ratio)> {
        let mut slower = Vec::new();
        for test in &self.tests {
            for (cell, label) in test.cells.iter().zip(&self.contenders) {
                if let (Some(ratio), Some(Difference::Slower)) = (cell.ratio, cell.difference)
                    && ratio.ratio > 1.0 + share
                {
                    slower.push((test, label.as_str(), ratio));
                }
            }
        }
        slower
    }

    /// Contenders whose figures in the new run do not count although those in the old one do.
    pub fn broken(&self) -> Vec<(&TestComparison, &str, &str)> {
        let mut broken = Vec::new();
        for test in &self.tests {
            for (cell, label) in test.cells.iter().zip(&self.contenders) {
                if let (Some(_), None, Some(why)) = (cell.old_ns, cell.new_ns, &cell.why_not) {
                    broken.push((test, label.as_str(), why.as_str()));
                }
            }
        }
        broken
    }
}

/// Compares two runs of one suite with the same parameters.
pub fn compare(old: &Run, new: &Run) -> Result<Comparison> {
    if old.suite.name != new.suite.name {
        bail!("one run is of the suite {}, the other of {}", old.suite.name, new.suite.name);
    }
    if old.suite.parameters != new.suite.parameters {
        bail!("the runs have different parameters, so they measured different work");
    }
    let contenders: Vec<String> = old
        .shown_contenders()
        .filter(|(_, contender)| new.shown_contenders().any(|(_, other)| other.label == contender.label))
        .map(|(_, contender)| contender.label.clone())
        .collect();
    if contenders.is_empty() {
        bail!("the runs have no contender in common");
    }
    let ids: Vec<&str> = old
        .shown_tests()
        .filter(|test| new.shown_tests().any(|other| other.id == test.id))
        .map(|test| test.id.as_str())
        .collect();
    if ids.is_empty() {
        bail!("the runs have no test in common");
    }
    let confidence = 1.0 - FALSE_ALARMS / (ids.len() * contenders.len()) as f64;
    let (judged_old, judged_new) = (Side::new(old), Side::new(new));
    let tests = ids.iter().map(|id| {
        let cells = contenders.iter().map(|label| judged_old.against(&judged_new, label, id, confidence));
        let title = new.tests.iter().find(|test| test.id == **id).map(|test| test.title.clone());
        TestComparison { id: (*id).to_owned(), title: title.unwrap_or_default(), cells: cells.collect() }
    });
    Ok(Comparison { tests: tests.collect(), changes: changes(old, new, &contenders), contenders })
}

/// One of the two runs.
struct Side<'a> {
    run: &'a Run,
    verdict: Verdict,
}

impl<'a> Side<'a> {
    fn new(run: &'a Run) -> Side<'a> {
        Side { run, verdict: judge(run) }
    }

    /// Compares this old run with a new one.
    fn against(&self, new: &Side, label: &str, test: &str, confidence: f64) -> CellComparison {
        let (old_times, old_why) = self.times(label, test);
        let (new_times, new_why) = new.times(label, test);
        let ratio = independent_ratio(&new_times, &old_times, self.run.schedule.seed, confidence);
        let (old_ns, new_ns) = (median(&old_times), median(&new_times));
        let floor = self.floor(test).max(new.floor(test));
        let difference = match (ratio, old_ns, new_ns) {
            (Some(ratio), Some(old), Some(new)) => Some(ratio.difference_above(new, old, floor)),
            _ => None,
        };
        CellComparison { old_ns, new_ns, ratio, difference, why_not: old_why.or(new_why) }
    }

    /// The durations that count, or why none do.
    fn times(&self, label: &str, test: &str) -> (Vec<f64>, Option<String>) {
        let Some(index) = self.run.contenders.iter().position(|contender| contender.label == label) else {
            return (Vec::new(), Some("not in the run".into()));
        };
        let tests = self.verdict.tests.iter().filter(|candidate| candidate.id == test);
        let cell = tests.flat_map(|test| &test.cells).find(|cell| cell.contender == index);
        match cell.map(|cell| &cell.standing) {
            Some(CellStanding::Counts) => {
                let samples = used(self.run, index, test);
                (samples.iter().map(|(_, sample)| sample.duration_ns()).collect(), None)
            }
            Some(CellStanding::Wrong(why)) => (Vec::new(), Some(format!("wrong: {why}"))),
            Some(CellStanding::Missing(why)) => (Vec::new(), Some(why.clone())),
            Some(CellStanding::NotEncrypted) => (Vec::new(), Some("not encrypted".into())),
            Some(CellStanding::NotApplicable) => (Vec::new(), Some("does not apply".into())),
            None => (Vec::new(), Some("not in the run".into())),
        }
    }

    fn floor(&self, test: &str) -> f64 {
        let test = self.verdict.tests.iter().find(|candidate| candidate.id == test);
        test.and_then(|test| test.floor_ns).unwrap_or(0.0)
    }
}

/// What changed beside the times: machine, placement, versions, settings of these contenders (by label).
pub fn changes(old: &Run, new: &Run, contenders: &[String]) -> Vec<String> {
    let mut changes = Vec::new();
    let mut note = |what: &str, old: String, new: String| {
        if old != new {
            changes.push(format!("{what}: {old} before, {new} now"));
        }
    };
    note("dyno", old.dyno.clone(), new.dyno.clone());
    let processor = |run: &Run| {
        let cpu = &run.machine.cpu;
        format!("{} × {}", cpu.online, cpu.model.as_deref().unwrap_or("unknown"))
    };
    note("processor", processor(old), processor(new));
    note("kernel", old.machine.kernel.release.clone(), new.machine.kernel.release.clone());
    note("file system", old.storage.file_system.clone(), new.storage.file_system.clone());
    note("placement", old.placement.note.clone(), new.placement.note.clone());
    if old.suite.text != new.suite.text {
        note("the suite's text", "another".into(), "this one".into());
    }
    for label in contenders {
        let find = |run: &Run| run.contenders.iter().find(|contender| contender.label == *label).cloned();
        let (Some(old), Some(new)) = (find(old), find(new)) else { continue };
        let (Some(old), Some(new)) = (old.hello, new.hello) else { continue };
        note(&format!("{label}, engine version"), old.engine_version.clone(), new.engine_version.clone());
        note(&format!("{label}, driver version"), old.driver_version.clone(), new.driver_version.clone());
        for setting in &new.settings {
            let before = old.settings.iter().find(|candidate| candidate.name == setting.name);
            let before = before.map_or("unknown".to_owned(), |setting| setting.value.clone());
            note(&format!("{label}, {}", setting.name), before, setting.value.clone());
        }
        if old.build != new.build {
            note(
                &format!("{label}, build"),
                "another".into(),
                "this one (see `build` in the run files)".into(),
            );
        }
    }
    changes
}
