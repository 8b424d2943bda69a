//! A disk whose every write and flush is recorded, with a real file system on it.
//!
//! From the bottom: a file that the [`recorder`] serves, a loop device that shows it as a disk, the file system. The
//! kernel turns what the file system asks of the disk into writes and flushes of the file, and the recorder takes notice
//! of each before the file system goes on.

pub mod faults;
pub mod files;
pub mod log;
mod loops;
pub mod recorder;
pub(crate) mod served;

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::image::Image;
use faults::Fault;
use files::{Mounted, System};
use log::Entry;
use served::Served;

/// A program that dyno starts for a proof, with the arguments that make it what it is. It is this same executable.
#[derive(Debug, Clone)]
pub struct Program {
    /// The executable.
    pub path: PathBuf,
    /// Its first arguments; others follow.
    pub arguments: Vec<String>,
}

/// The disk. Dropped, it is unmounted and its recorder ends.
#[derive(Debug)]
pub struct Disk {
    // First: it is unmounted while its disk still answers.
    mounted: Option<Mounted>,
    served: Served,
}

impl Disk {
    /// Makes a disk with this content in `place`, a new folder in memory, and mounts the file system on it on `folder`.
    /// `others` are the mount points of other disks ([`Disk::mounts`]).
    ///
    /// Must be called by a thread that outlives it: the kernel kills the recorder when that ends.
    ///
    /// # Errors
    /// The system allows no FUSE, no loop devices or no mounts.
    pub fn new(
        program: &Program,
        (system, content): (System, &Image),
        fault: Option<Fault>,
        (place, folder): (&Path, &Path),
        others: &[PathBuf],
    ) -> Result<Disk> {
        let (file, log) = (place.join("disk"), place.join("log"));
        let write = || content.write(&File::create_new(&file)?);
        write().with_context(|| format!("cannot write the disk {}", file.display()))?;
        let arguments = (file.as_path(), fault.map(|fault| fault.to_string()));
        let served = Served::new(program, place.join("served"), log, "", arguments, others)?;
        let mut disk = Disk { mounted: None, served };
        disk.mounted = Some(Mounted::new(system, &disk.served.folder().join(recorder::DISK), folder, place)?);
        Ok(disk)
    }

    /// Its mount points.
    pub fn mounts(&self) -> Vec<PathBuf> {
        let upper = self.mounted.as_ref().map(|mounted| mounted.folder().to_owned());
        upper.into_iter().chain([self.served.folder().to_owned()]).collect()
    }

    /// The folder of its files.
    pub fn folder(&self) -> Result<&Path> {
        Ok(self.mounted.as_ref().context("the disk is not mounted")?.folder())
    }

    /// The file for the standard output of the program that works on the disk.
    pub fn output(&self) -> Result<File> {
        self.served.output(recorder::OUTPUT)
    }

    /// Unmounts the disk, after the programs that worked on it have ended, and returns everything that happened to it.
    ///
    /// # Errors
    /// A process still uses it, or the recorder died meanwhile.
    pub fn finish(mut self) -> Result<Vec<Entry>> {
        if let Some(mounted) = self.mounted.take() {
            mounted.unmount()?;
        }
        self.served.finish()
    }
}
