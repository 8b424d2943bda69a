//! Two runs against each other, test by test and contender by contender.
//!
//! The runs share no blocks, so drift between them does not cancel: what changed on the machine
//! between them is part of the ratio. Intervals are widened for the number of comparisons
//! (Bonferroni), so that comparing a hundred equal figures raises a false alarm in one of twenty
//! comparisons of runs and not in nearly all.

use std::collections::BTreeSet;

use anyhow::{Result, bail, ensure};
use dyno_record::{ContenderRecord, Content, Hole, Parameters, Seals, Target};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::about::About;
use crate::builds::changed_files;
use crate::cell::CellStanding;
use crate::judge::Verdict;
use crate::statistics::{Difference, Ratio, independent_ratio, median};
use crate::test_verdict::TestVerdict;
use crate::views::{Outcome, SustainedLine};

/// The probability, over all tests together, that equal runs are called different.
pub(crate) const FALSE_ALARMS: f64 = 0.05;

/// The judgement on two runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// The contenders in both runs, by label.
    pub contenders: Vec<String>,
    /// The tests in both runs.
    pub tests: Vec<TestComparison>,
    /// The differences between the two runs other than the times.
    pub changes: Vec<String>,
    /// What the seals of the two run files show, the old one first, in words.
    #[serde(default)]
    pub run_files: Vec<String>,
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

/// A contender in one test of two runs. Medians are nanoseconds; where the highest rate was sought at which a target holds,
/// rates stand in their place.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellComparison {
    /// The old median.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_ns: Option<f64>,
    /// The new median.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_ns: Option<f64>,
    /// The number of the old run's samples that count.
    #[serde(default)]
    pub old_samples: usize,
    /// The number of the new run's samples that count.
    #[serde(default)]
    pub new_samples: usize,
    /// The old run's result of the rate search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_sustained: Option<Outcome>,
    /// The new run's result of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_sustained: Option<Outcome>,
    /// The new median over the old one, or the old rate over the new one: above one is slower. Absent where one of them
    /// does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Ratio>,
    /// The judgement on that ratio.
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
                let has_enough = |median: Option<f64>, sustained: Option<Outcome>| {
                    median.is_some() || sustained.and_then(|outcome| outcome.per_second()).is_some()
                };
                if let Some(why) = &cell.why_not
                    && has_enough(cell.old_ns, cell.old_sustained)
                    && !has_enough(cell.new_ns, cell.new_sustained)
                {
                    broken.push((test, label.as_str(), why.as_str()));
                }
            }
        }
        broken
    }
}

/// The names of the parameters in which two runs differ.
fn differing<'a>(was: &'a Parameters, is: &'a Parameters) -> Vec<&'a str> {
    let names: BTreeSet<&str> = was.iter().chain(is.iter()).map(|(name, _)| name).collect();
    names.into_iter().filter(|name| was.get(name) != is.get(name)).collect()
}

/// Compares two runs of one suite with the same parameters.
///
/// # Errors
/// They did not do the same work, or have no contender or no test in common.
pub fn compare(old: &Verdict, new: &Verdict) -> Result<Comparison> {
    let (was, is) = (&old.about.suite, &new.about.suite);
    if was.name != is.name {
        bail!("one run is of the suite {}, the other of {}", was.name, is.name);
    }
    same_load(&[old, new])?;
    if was.parameters != is.parameters {
        bail!(
            "the runs differ in {}, so they measured different work; `dyno scaling` shows what the engines make of one \
             parameter",
            differing(&was.parameters, &is.parameters).join(" and ")
        );
    }
    let contenders: Vec<String> = old
        .shown_contenders()
        .filter(|(_, contender)| new.shown_contenders().any(|(_, other)| other.label == contender.label))
        .map(|(_, contender)| contender.label.clone())
        .collect();
    if contenders.is_empty() {
        bail!("the runs have no contender in common");
    }
    let shared: Vec<(&TestVerdict, &TestVerdict)> =
        old.tests.iter().filter_map(|test| Some((test, new.test(&test.id)?))).collect();
    if shared.is_empty() {
        bail!("the runs have no test in common");
    }
    let confidence = 1.0 - FALSE_ALARMS / (shared.len() * contenders.len()) as f64;
    let tests = shared.into_iter().map(|(before, now)| {
        let cells = contenders.iter().map(|label| {
            let (before, now) = (Side::new(old, before, label), Side::new(new, now, label));
            before.against(&now, old.about.schedule.seed, confidence, old.about.schedule.margin)
        });
        TestComparison { id: now.id.clone(), title: now.title.clone(), cells: cells.collect() }
    });
    let failures = contenders.iter().filter_map(|label| failures(old, new, label));
    let mut changes = changes((&old.about, &old.contenders), (&new.about, &new.contenders), &contenders);
    changes.extend(seals(&old.about, &new.about));
    Ok(Comparison {
        tests: tests.collect(),
        changes: changes.into_iter().chain(failures).chain(alone(old, new)).collect(),
        run_files: [old, new].map(|run| run.about.seals.to_string()).to_vec(),
        contenders,
    })
}

/// The contenders and tests that only one of two runs has, which are therefore not compared.
fn alone(old: &Verdict, new: &Verdict) -> Vec<String> {
    let labels = |run: &Verdict| -> Vec<String> {
        run.shown_contenders().map(|(_, contender)| contender.label.clone()).collect()
    };
    let tests =
        |run: &Verdict| -> Vec<String> { run.tests.iter().map(|test| format!("test {}", test.id)).collect() };
    let missing = |here: Vec<String>, there: Vec<String>, which: &str| {
        let missing: Vec<String> = here.into_iter().filter(|name| !there.contains(name)).collect();
        (!missing.is_empty())
            .then(|| format!("only in the {which} run, and not compared: {}", missing.join(", ")))
    };
    let all = [
        missing(labels(old), labels(new), "old"),
        missing(labels(new), labels(old), "new"),
        missing(tests(old), tests(new), "old"),
        missing(tests(new), tests(old), "new"),
    ];
    all.into_iter().flatten().collect()
}

/// States the failed trials of a contender (by label) if their number differs between two runs.
fn failures(old: &Verdict, new: &Verdict, label: &str) -> Option<String> {
    let reported = |run: &Verdict| {
        let its = run.failures.iter().find(|failures| run.label(failures.contender) == label);
        its.map_or("none".to_owned(), |its| format!("{} of {}", its.failed, its.trials))
    };
    let (was, is) = (reported(old), reported(new));
    (was != is).then(|| format!("{label}, trials that failed: {was} before, {is} now"))
}

/// Runs whose operations arrive in different ways say nothing of each other.
///
/// # Errors
/// They do.
pub(crate) fn same_load(runs: &[&Verdict]) -> Result<()> {
    let mut timed = runs.iter().map(|run| run.about.schedule.statements);
    let first = timed.next();
    ensure!(
        timed.all(|is_timed| Some(is_timed) == first),
        "one run timed each statement (--statements) and another did not; reading the clock is a part of its durations, so \
         make both in the same way"
    );
    let mut loads = runs.iter().filter_map(|run| run.about.load);
    let first = loads.next();
    match first.zip(loads.find(|load| Some(*load) != first)) {
        None => Ok(()),
        Some((one, other)) => bail!(
            "the load of one run is {} and that of another {}, and one says nothing of the other: see docs/clients.md",
            one.name(),
            other.name()
        ),
    }
}

/// A contender in a test of one of the two runs.
struct Side<'a> {
    /// The durations that count.
    times: Vec<f64>,
    /// The result of the rate search.
    sustained: Option<&'a SustainedLine>,
    target: Option<Target>,
    /// Why none do.
    why_not: Option<String>,
    floor_ns: f64,
}

impl<'a> Side<'a> {
    fn new(run: &'a Verdict, test: &TestVerdict, label: &str) -> Side<'a> {
        let cell = test.cells.iter().find(|cell| run.contenders[cell.contender].label == label);
        let why_not = match cell.map(|cell| &cell.standing) {
            Some(CellStanding::Counts) if cell.is_some_and(|cell| cell.failed) => {
                Some("a trial failed, and the others may be the quick ones".into())
            }
            Some(CellStanding::Counts | CellStanding::Sought) => None,
            Some(CellStanding::Wrong(why)) => Some(format!("wrong: {why}")),
            Some(CellStanding::Disputed(why)) => Some(format!("disputed: {why}")),
            Some(CellStanding::Missing(why)) => Some(why.clone()),
            Some(CellStanding::Untried) => Some("the run was stopped before it measured this".into()),
            Some(CellStanding::NotEncrypted) => Some("not encrypted".into()),
            Some(CellStanding::NotIsolated) => Some("below its isolation level".into()),
            Some(CellStanding::NotReached) => Some("not reached".into()),
            Some(CellStanding::NotApplicable | CellStanding::TooFew | CellStanding::Uneven(_)) => {
                Some("does not apply".into())
            }
            None => Some("not in the run".into()),
        };
        let used =
            cell.filter(|cell| cell.is_comparable()).map(|cell| &cell.points.used[..]).unwrap_or_default();
        let times = used.iter().map(|(_, nanoseconds)| *nanoseconds).collect();
        let found = run.views.sustained.iter().find(|sustained| sustained.test == test.id);
        let mut lines = found.iter().flat_map(|found| &found.lines);
        let is_sought = cell.is_some_and(|cell| cell.standing == CellStanding::Sought);
        let line = lines.find(|line| is_sought && run.contenders[line.contender].label == label);
        Side {
            times,
            sustained: line,
            target: found.map(|found| found.target),
            why_not,
            floor_ns: test.floor_ns.unwrap_or(0.0),
        }
    }

    /// Compares this old side with a new one.
    fn against(&self, new: &Side, seed: u64, confidence: f64, margin: f64) -> CellComparison {
        if self.target.is_some() || new.target.is_some() {
            return self.rate_against(new, confidence, margin);
        }
        let ratio = independent_ratio(&new.times, &self.times, seed, confidence);
        let (old_ns, new_ns) = (median(&self.times), median(&new.times));
        let floor = self.floor_ns.max(new.floor_ns);
        let difference = match (ratio, old_ns, new_ns) {
            (Some(ratio), Some(old), Some(new)) => {
                Some(ratio.difference_above(new, old, floor).held(true, &ratio, margin))
            }
            _ => None,
        };
        let why_not = self.why_not.clone().or_else(|| new.why_not.clone());
        let (old_samples, new_samples) = (self.times.len(), new.times.len());
        CellComparison {
            old_ns,
            new_ns,
            old_samples,
            new_samples,
            ratio,
            difference,
            why_not,
            ..CellComparison::default()
        }
    }

    /// The same where a rate was sought.
    fn rate_against(&self, new: &Side, confidence: f64, margin: f64) -> CellComparison {
        let outcome = |side: &Side| side.sustained.map(|line| line.outcome);
        let (old_sustained, new_sustained) = (outcome(self), outcome(new));
        let why_not = self.why_not.clone().or_else(|| new.why_not.clone()).or_else(|| {
            if self.target != new.target {
                return Some("the runs do not seek the same target".into());
            }
            [("old", self), ("new", new)].into_iter().find_map(|(name, side)| match outcome(side) {
                None => Some(format!("the {name} run has no trial at a rate")),
                Some(Outcome::AtLeast { .. }) => {
                    Some(format!("in the {name} run the target held at every rate that was tried"))
                }
                Some(Outcome::NotSustained { .. }) => {
                    Some(format!("in the {name} run the target held at no rate that was tried"))
                }
                Some(Outcome::Sustains { .. }) => None,
            })
        });
        let threshold = |side: &Side| side.sustained.and_then(SustainedLine::threshold);
        let is_close =
            |outcome: Option<Outcome>| matches!(outcome, Some(Outcome::Sustains { interval: Some(_), .. }));
        let ratio = threshold(self).zip(threshold(new)).filter(|_| why_not.is_none()).map(|(old, new)| {
            let ratio = old.over(&new, confidence);
            let is_known = is_close(old_sustained) && is_close(new_sustained);
            Ratio { interval: ratio.interval.filter(|_| is_known), ..ratio }
        });
        let difference = ratio.map(|ratio| ratio.difference().held(true, &ratio, margin));
        CellComparison {
            old_sustained,
            new_sustained,
            ratio,
            difference,
            why_not,
            ..CellComparison::default()
        }
    }
}

/// The changes other than the times: machine, placement and limits, and for these contenders (by label) the failures
/// they survive, how they were measured, versions and settings.
pub(crate) fn changes(
    (was, old): (&About, &[ContenderRecord]),
    (is, new): (&About, &[ContenderRecord]),
    contenders: &[String],
) -> Vec<String> {
    let mut changes = Vec::new();
    let mut note = |what: &str, old: String, new: String| {
        if old != new {
            changes.push(format!("{what}: {old} before, {new} now"));
        }
    };
    note("dyno", program(was), program(is));
    let processor = |about: &About| {
        let cpu = &about.machine.cpu;
        format!("{} × {}", cpu.online, cpu.model.as_deref().unwrap_or("unknown"))
    };
    note("processor", processor(was), processor(is));
    note("kernel", was.machine.kernel.release.clone(), is.machine.kernel.release.clone());
    note("file system", was.storage.file_system.clone(), is.storage.file_system.clone());
    note("placement", was.placement.note.clone(), is.placement.note.clone());
    let memory =
        |about: &About| about.limits.memory_bytes.map_or("all".to_owned(), |bytes| format!("{bytes} bytes"));
    note("memory of a runner", memory(was), memory(is));
    if was.suite.text != is.suite.text {
        note("the suite's text", "another".into(), "this one".into());
    }
    for label in contenders {
        let find = |all: &[ContenderRecord]| all.iter().find(|contender| contender.label == *label).cloned();
        let (Some(old), Some(new)) = (find(old), find(new)) else { continue };
        note(&format!("{label}, its commits survive"), survives(&old), survives(&new));
        for (what, before, now) in changed_files(&old, &new) {
            note(&format!("{label}, {what}"), before.short().to_owned(), now.short().to_owned());
        }
        let isolation = |record: &ContenderRecord| {
            record.isolation.as_ref().map_or("unknown", |isolation| isolation.level.name()).to_owned()
        };
        note(&format!("{label}, isolation"), isolation(&old), isolation(&new));
        let commit = |record: &ContenderRecord| {
            record.per_commit.map_or("all of a test".to_owned(), |operations| operations.to_string())
        };
        note(&format!("{label}, operations a commit"), commit(&old), commit(&new));
        let takes_turns = |about: &About, record: &ContenderRecord| match about.schedule.turns {
            true if record.apart.is_none() => "in turns with others".to_owned(),
            _ => "each by itself".to_owned(),
        };
        note(&format!("{label}, trials"), takes_turns(was, &old), takes_turns(is, &new));
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

/// States the seals of two runs' files if one of the files is not as it was written.
fn seals(old: &About, new: &About) -> impl Iterator<Item = String> {
    let files = [("old", old.seals), ("new", new.seals)].into_iter();
    let broken = files.filter(|(_, seals)| *seals != Seals::Whole);
    broken.map(|(which, seals)| format!("the file of the {which} run {seals}"))
}

/// The program that wrote a run: its version, its commit, and its file.
fn program(about: &About) -> String {
    let known = about.program.as_ref();
    let commit = known.and_then(|program| program.commit.as_deref());
    let file = known.and_then(|program| program.content.as_ref()).map(Content::short);
    let parts = [commit, file].into_iter().flatten();
    parts.fold(about.dyno.clone(), |text, part| format!("{text} {part}"))
}

/// The failures that a contender's commits survive, in words.
fn survives(contender: &ContenderRecord) -> String {
    let Some(safety) = &contender.safety else { return "nobody knows what".to_owned() };
    let hole = safety.hole.map_or("", |hole| match hole {
        Hole::LastCommit => " but for the last commit",
        Hole::TornPages => " but for torn pages",
    });
    format!("{}{hole}", safety.name())
}
