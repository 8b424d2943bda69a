//! The means of every proof: where its data are, its programs, and how much it does.

use std::path::PathBuf;

use dyno_launch::Interrupts;

use crate::disk::Program;
use crate::disk::files::System;
use crate::subject::Subject;

/// The storage of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StorageKind {
    /// A recorded disk with this file system on it. Its cuts are what that file system lets happen.
    Disk(System),
    /// Recorded files. Their cuts are what POSIX lets happen.
    Files,
    /// A folder of the machine. Of it no cuts can be made.
    Folder,
}

impl StorageKind {
    /// Its name, for people.
    pub fn name(self) -> &'static str {
        match self {
            StorageKind::Disk(system) => system.name(),
            StorageKind::Files => "the least that POSIX promises",
            StorageKind::Folder => "a folder",
        }
    }
}

/// The amount of work that a proof does.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// The number of power cuts.
    pub cuts: usize,
    /// The number of kills.
    pub kills: usize,
    /// The number of cuts in succession, each during the work after the cut before.
    pub rounds: usize,
    /// True if failures of the device are tried too.
    pub errors: bool,
    /// The seed of the random choices.
    pub seed: u64,
}

/// The place, the programs and the interrupts that every proof uses.
#[derive(Debug)]
pub struct ProofContext {
    /// A folder in memory, in a view of the mounts of dyno's own ([`crate::private_mount`]).
    pub place: PathBuf,
    /// On what the data are.
    pub storage: StorageKind,
    /// The recorder of disks.
    pub recorder: Program,
    /// The recorder of files.
    pub keeper: Program,
    /// The watcher of calls.
    pub watcher: Program,
    /// By which everything is ended.
    pub interrupts: Interrupts,
    /// The folder that keeps the smallest cut that does harm; none where it is not kept.
    pub keep: Option<PathBuf>,
}

/// The subject of a proof.
#[derive(Clone, Copy)]
pub struct Named<'a> {
    /// The one.
    pub subject: &'a dyn Subject,
    /// The name.
    pub label: &'a str,
    /// The arguments by which dyno makes the same subject; without them nothing is kept.
    pub again: &'a [String],
}
