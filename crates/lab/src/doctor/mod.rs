//! Finds what disturbs measurement on this machine, and advises what to do about it.
//!
//! Looks and measures for about a second and gives a list of [`Check`]s. It changes nothing: the only
//! thing it writes is a file of 4 KiB in the folder to be measured, removed at the end. It judges the
//! machine and never an engine, and a file that the system hides is a check left out or a note, not
//! an error.
//!
//! Units: times in text carry their units; shares are percent of one CPU unless they say otherwise.

mod activity;
mod clock;
mod disk;
mod limits;
mod processor;
mod sync;
mod table;

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::machine;

pub use table::render;

/// The weight of a finding for measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// As it should be.
    Good,
    /// Worth knowing when figures are read; often cannot be changed.
    Note,
    /// Makes figures unsteady or untrue.
    Warning,
}

/// One thing looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// The subject, as `file system`.
    pub subject: String,
    /// Its weight for measurement.
    pub level: Level,
    /// The finding, in a phrase.
    pub found: String,
    /// Its meaning, or advice; there for every warning.
    pub advice: Option<String>,
}

impl Check {
    fn good(subject: &str, found: impl Into<String>) -> Check {
        Check { subject: subject.to_owned(), level: Level::Good, found: found.into(), advice: None }
    }

    fn note(subject: &str, found: impl Into<String>, advice: &str) -> Check {
        Check { level: Level::Note, advice: Some(advice.to_owned()), ..Check::good(subject, found) }
    }

    fn warning(subject: &str, found: impl Into<String>, advice: &str) -> Check {
        Check { level: Level::Warning, ..Check::note(subject, found, advice) }
    }
}

/// Looks at the machine and at the folder where databases would lie.
///
/// Takes about a second; longer only where a single sync does. Looks from the CPUs of the calling
/// thread, so call it before [`crate::placement::apply_to_self`].
pub fn checks(dir: &Path) -> Vec<Check> {
    let machine = machine::read();
    let storage = machine::storage(dir);
    let mut checks = Vec::new();
    match &storage {
        Ok(storage) => checks.extend(disk::checks(storage, &machine)),
        Err(error) => checks.push(Check::warning(
            "file system",
            format!("{}: {error}", dir.display()),
            "name a folder that exists and may be entered",
        )),
    }
    // One after the other: measurements that run at the same time would disturb each other.
    checks.extend(storage.ok().map(|storage| sync::check(dir, &storage)));
    checks.extend(processor::checks(&machine));
    checks.extend(clock::checks(&machine));
    checks.extend(activity::checks(machine.cpu.online));
    checks.extend(limits::checks(machine.cpu.allowed.len()));
    checks
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn a_look_at_this_machine_is_quick_and_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let start = Instant::now();
        let checks = checks(dir.path());
        // The promise is two seconds on an idle machine; tests run at the same time.
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        for subject in ["file system", "free space", "sync time", "processors", "clock", "run-queue wait"] {
            assert!(checks.iter().any(|check| check.subject == subject), "{subject}: {checks:#?}");
        }
        for check in &checks {
            assert!(!check.found.is_empty());
            assert!(check.level != Level::Warning || check.advice.is_some(), "{check:?}");
        }
        assert!(render(&checks, 100).lines().all(|line| line.chars().count() <= 100));
    }

    #[test]
    fn a_folder_that_is_not_there_is_a_warning() {
        let checks = checks(Path::new("/no/such/folder"));
        assert_eq!((checks[0].subject.as_str(), checks[0].level), ("file system", Level::Warning));
    }
}
