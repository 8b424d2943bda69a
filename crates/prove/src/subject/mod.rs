//! The subject of a proof: a program that makes commits in a folder, reports when each is acknowledged, and can find
//! out afterwards which of them are there.

mod command;
pub(crate) mod data;
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
use nix::unistd::Uid;

use crate::calls::CallWatch;
use crate::history::Line;
pub use command::{FOLDER, Program};
pub use data::CLIENT;
pub use encrypted::Encrypted;
pub use import::{Import, ServerImport, SqliteImport};
pub use runner::Embedded;
pub(crate) use server::DATABASE;
pub use server::PrivateSubject;

/// The prefix of the line by which a subject of dyno's own reports that upkeep begins; its name follows.
const UPKEEP: &str = "upkeep ";

/// The finding in a folder after a cut or a kill.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contents {
    /// The commits that are there, whole.
    pub commits: BTreeSet<u64>,
    /// Errors other than missing commits: it does not open, half a transaction, a failed check of the engine's own.
    pub troubles: Vec<String>,
    /// True if the subject itself reported one of them or stopped; false where only dyno found them.
    pub is_noticed: bool,
    /// The reason why nothing is known of the content, where the check did not end in time: that is no loss.
    pub late: Option<String>,
}

impl Contents {
    /// Nothing but one thing that is wrong.
    pub fn trouble(what: String) -> Contents {
        Contents { troubles: vec![what], ..Contents::default() }
    }

    /// Nothing but an error that the subject reported.
    pub fn reported(what: String) -> Contents {
        Contents { is_noticed: true, ..Contents::trouble(what) }
    }

    /// Adds an error that the subject reported.
    pub fn report(&mut self, what: String) {
        self.troubles.push(what);
        self.is_noticed = true;
    }

    /// Nothing is known, because the look did not end in time.
    pub fn late(why: String) -> Contents {
        Contents { late: Some(why), ..Contents::default() }
    }
}

/// The outcome of a program's work.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkOutcome {
    /// The reason why it did not come to its end, if it did not.
    pub failure: Option<String>,
    /// The duration of its commits; where they cannot be timed separately, with the work before and after them.
    pub took: Duration,
}

/// The way in which a subject is to work.
#[derive(Debug, Clone, Copy, Default)]
pub struct WorkMode<'a> {
    /// The time after which it is killed; none where it may come to its end.
    pub kill_after: Option<Duration>,
    /// The tracer that watches it, from before the first commit on.
    pub watch: Option<&'a CallWatch>,
    /// The last commit that is there already, where it is to go on after a power cut: a few more follow.
    pub after: Option<u64>,
    /// The folder in which an encrypting file system keeps the encrypted files.
    pub below: Option<&'a Path>,
}

/// A program whose commits are to be proved.
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
    fn work(&self, folder: &Path, output: File, manner: WorkMode) -> Result<WorkOutcome>;

    /// The meaning of a line of its output.
    fn read(&self, line: &str) -> Line;

    /// Looks at what is there after a cut or a kill.
    ///
    /// # Errors
    /// It cannot be looked at, for reasons that are not the folder's; or dyno is asked to stop.
    fn check(&self, folder: &Path) -> Result<Contents>;

    /// The same where another user may have put together what is there: `accept` refuses what may not be followed, in the
    /// folder and in each in which a subject shows its files in the clear.
    ///
    /// # Errors
    /// As for [`Subject::check`], or something is refused.
    fn check_accepted(&self, folder: &Path, accept: &dyn Fn(&Path) -> Result<()>) -> Result<Contents> {
        accept(folder)?;
        self.check(folder)
    }

    /// The commit that was there before the work began; none if nothing was.
    fn before(&self) -> Option<u64>;

    /// The accounts that own its files; `None` if these are its own affair.
    fn accounts(&self) -> Option<Vec<Uid>> {
        Some(vec![Uid::effective()])
    }

    /// True if it can be traced while it works: it makes its commits in a process that waits for a signal to begin.
    fn can_be_watched(&self) -> bool {
        true
    }

    /// True if it can go on after a power cut, from the last commit that is there.
    fn can_go_on(&self) -> bool {
        false
    }

    /// True if a commit that is there implies all that its client made before it.
    fn is_in_order(&self) -> bool;
}
