//! Two runs against each other, test by test and contender by contender.
//!
//! The runs share no blocks, so drift between them does not cancel: what changed on the machine
//! between them is part of the ratio. Intervals are widened for the number of comparisons
//! (Bonferroni), so that comparing a hundred equal figures raises a false alarm in one of twenty
//! comparisons of runs and not in nearly all.

mod clients;
mod counted;
mod functions;
mod side;

use std::collections::BTreeSet;

use anyhow::{Result, bail, ensure};
use dyno_record::{Parameters, Seals};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::about::About;
use crate::changes::changes;
use crate::judge::Verdict;
use crate::statistics::{Difference, Ratio};
use crate::test_verdict::TestVerdict;
use crate::views::Outcome;

use clients::same_clients;
use counted::counted;
pub use counted::{CountComparison, CountedCell};
pub use functions::ContenderFunctions;
pub use side::CheckedAnswers;
use side::Side;

/// The probability, over all tests together, that equal runs are called different.
pub(crate) const FALSE_ALARMS: f64 = 0.05;

/// The judgement on two runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// The contenders in both runs, by label.
    pub contenders: Vec<String>,
    /// The tests in both runs.
    pub tests: Vec<TestComparison>,
    /// The functions in which contenders differ, of those whose functions both runs counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<ContenderFunctions>,
    /// The differences between the two runs other than the times.
    pub changes: Vec<String>,
    /// The contenders and tests of the old run that the new one lacks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<String>,
    /// The results of checking the seals of the two run files, the old one first, in words.
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
    /// The events that both runs counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counts: Vec<CountComparison>,
}

/// A contender in one test of two runs. Medians are nanoseconds; where the highest rate was sought at which a target
/// holds, rates stand in their place.
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
    /// The reason that there is no ratio.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_not: Option<String>,
    /// The state of the answers in both runs.
    #[serde(default)]
    pub answers: CheckedAnswers,
}

impl CellComparison {
    /// Returns true if the figures in the new run do not count although those in the old one do.
    pub(crate) fn is_broken(&self) -> bool {
        let has_one = |median: Option<f64>, sustained: Option<Outcome>| {
            median.is_some() || sustained.and_then(|outcome| outcome.per_second()).is_some()
        };
        self.why_not.is_some()
            && has_one(self.old_ns, self.old_sustained)
            && !has_one(self.new_ns, self.new_sustained)
    }
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
    same_network(old, new)?;
    same_clients(old, new)?;
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
        let sides =
            contenders.iter().map(|label| (Side::new(old, before, label), Side::new(new, now, label)));
        let cells = sides.map(|(before, now)| {
            before.against(&now, old.about.schedule.seed, confidence, old.about.schedule.margin)
        });
        TestComparison {
            id: now.id.clone(),
            title: now.title.clone(),
            cells: cells.collect(),
            counts: counted((old, before), (new, now), &contenders),
        }
    });
    let failures = contenders.iter().filter_map(|label| failures(old, new, label));
    let mut changes = changes((&old.about, &old.contenders), (&new.about, &new.contenders), &contenders);
    changes.extend(seals(&old.about, &new.about));
    let tests: Vec<TestComparison> = tests.collect();
    let (gone, added) = (alone(old, new), alone(new, old));
    let apart = [said_alone("old", &gone), said_alone("new", &added)].into_iter().flatten();
    Ok(Comparison {
        functions: functions::functions(old, new, &contenders, &tests),
        tests,
        changes: changes.into_iter().chain(failures).chain(apart).collect(),
        gone,
        run_files: [old, new].map(|run| run.about.seals.to_string()).to_vec(),
        contenders,
    })
}

/// The contenders and tests that a run has and another one lacks.
fn alone(run: &Verdict, other: &Verdict) -> Vec<String> {
    let labels = |run: &Verdict| -> Vec<String> {
        run.shown_contenders().map(|(_, contender)| contender.label.clone()).collect()
    };
    let tests =
        |run: &Verdict| -> Vec<String> { run.tests.iter().map(|test| format!("test {}", test.id)).collect() };
    let missing = |of: &dyn Fn(&Verdict) -> Vec<String>| -> Vec<String> {
        let there = of(other);
        of(run).into_iter().filter(|name| !there.contains(name)).collect()
    };
    [missing(&labels), missing(&tests)].concat()
}

/// A sentence about what only one of two runs has, which is therefore not compared.
fn said_alone(which: &str, missing: &[String]) -> Option<String> {
    (!missing.is_empty())
        .then(|| format!("only in the {which} run, and not compared: {}", missing.join(", ")))
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

/// Runs whose clients were at different distances from their servers say nothing of each other.
///
/// # Errors
/// They are.
fn same_network(old: &Verdict, new: &Verdict) -> Result<()> {
    let distance = |run: &Verdict| match run.about.limits.added_ms() {
        None => "reached their servers directly".to_owned(),
        Some(added) => format!("waited {added} ms for each round trip (--delay)"),
    };
    ensure!(
        old.about.limits.round_trip_ns == new.about.limits.round_trip_ns,
        "the clients of one run {} and those of the other {}, so the times are of different networks; `dyno scaling` shows \
         what the contenders make of a delay",
        distance(old),
        distance(new)
    );
    Ok(())
}

/// States the seals of two runs' files if one of the files is not as it was written.
fn seals(old: &About, new: &About) -> impl Iterator<Item = String> {
    let files = [("old", old.seals), ("new", new.seals)].into_iter();
    let broken = files.filter(|(_, seals)| *seals != Seals::Whole);
    broken.map(|(which, seals)| format!("the file of the {which} run {seals}"))
}
