//! Who is on trial: something that makes commits in a folder, says when each is acknowledged, and can tell afterwards
//! which are there.

mod command;
mod data;
mod encrypted;
mod import;
mod link;
mod runner;
mod server;
mod threads;

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;

use crate::calls::Watch;
use crate::history::Line;
pub use command::Program;
pub use data::CLIENT;
pub use encrypted::Encrypted;
pub use import::{Import, ServerImport, SqliteImport};
pub use runner::Embedded;
pub use server::PrivateSubject;

/// How a line begins by which a subject of dyno's own reports that upkeep begins; its name follows.
const UPKEEP: &str = "upkeep ";

/// What was found in a folder after a cut or a kill.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// The commits that are there, whole.
    pub commits: BTreeSet<u64>,
    /// What is wrong beside missing commits: it does not open, half a transaction, a check of the engine's own.
    pub troubles: Vec<String>,
    /// Why nothing is known of what is there, where the look did not end in time: that is no loss.
    pub late: Option<String>,
}

impl Found {
    /// Nothing but one thing that is wrong.
    pub fn trouble(what: String) -> Found {
        Found { troubles: vec![what], ..Found::default() }
    }

    /// Nothing is known, because the look did not end in time.
    pub fn late(why: String) -> Found {
        Found { late: Some(why), ..Found::default() }
    }
}

/// What became of a program that worked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Worked {
    /// Why it did not come to its end, if it did not.
    pub failure: Option<String>,
    /// How long its commits took, with what goes before them and after them only where it cannot be told.
    pub took: Duration,
}

/// How somebody is to work.
#[derive(Debug, Clone, Copy, Default)]
pub struct Manner<'a> {
    /// When it is killed; none where it may come to its end.
    pub kill_after: Option<Duration>,
    /// Who is to watch it, from before the first commit on.
    pub watch: Option<&'a Watch>,
    /// The last commit that is there already, where it is to go on after a power cut: a few more follow.
    pub after: Option<u64>,
    /// Where the files are in which an encrypting file system keeps those that it works on.
    pub below: Option<&'a Path>,
}

/// Somebody whose commits are to be proved.
pub trait Subject {
    /// Makes what is there before the first commit. The disk is unmounted afterwards, so that it is durable.
    ///
    /// # Errors
    /// It cannot.
    fn prepare(&self, folder: &Path) -> Result<()>;

    /// Makes all its commits. What it says goes to `output`, a line in one write.
    ///
    /// # Errors
    /// It cannot be started, or dyno is asked to stop.
    fn work(&self, folder: &Path, output: File, manner: Manner) -> Result<Worked>;

    /// What a line of its output says.
    fn read(&self, line: &str) -> Line;

    /// Looks at what is there after a cut or a kill.
    ///
    /// # Errors
    /// It cannot be looked at, for reasons that are not the folder's; or dyno is asked to stop.
    fn check(&self, folder: &Path) -> Result<Found>;

    /// The commit that was there before the work began; none if nothing was.
    fn before(&self) -> Option<u64>;

    /// Whether it can be watched while it works: it makes its commits in a process that waits to be told to begin.
    fn can_be_watched(&self) -> bool {
        true
    }

    /// Whether it can go on after a power cut, from the last commit that is there.
    fn can_go_on(&self) -> bool {
        false
    }

    /// Whether a commit that is there implies all that its client made before it.
    fn is_in_order(&self) -> bool;
}
