//! A subject whose data are on an encrypted file system above the disk that is cut: gocryptfs writes blocks that can be
//! torn like any others.

use std::fs::File;
use std::path::Path;

use anyhow::Result;
use dyno_engine::Key;
use dyno_lab::file_system::Mounted;
use dyno_record::Placement;
use nix::unistd::Uid;

use super::{Contents, Subject, WorkMode, WorkOutcome};
use crate::history::Line;

/// The one within.
pub struct Encrypted {
    /// The subject that works on the decrypted files.
    pub inner: Box<dyn Subject>,
    /// The password of the file system.
    pub key: Key,
    /// The placement of the encrypting program.
    pub placement: Placement,
}

impl Encrypted {
    fn open(&self, folder: &Path) -> Result<Mounted> {
        Mounted::open(folder, &self.key, &self.placement)
    }
}

impl Subject for Encrypted {
    fn prepare(&self, folder: &Path) -> Result<()> {
        let mounted = Mounted::new(folder, &self.key, &self.placement)?;
        self.inner.prepare(mounted.clear())
    }

    fn work(&self, folder: &Path, output: File, manner: WorkMode) -> Result<WorkOutcome> {
        let mounted = self.open(folder)?;
        self.inner.work(mounted.clear(), output, WorkMode { below: Some(folder), ..manner })
    }

    fn read(&self, line: &str) -> Line {
        self.inner.read(line)
    }

    fn check(&self, folder: &Path) -> Result<Contents> {
        self.check_accepted(folder, &|_: &Path| Ok(()))
    }

    fn check_accepted(&self, folder: &Path, accept: &dyn Fn(&Path) -> Result<()>) -> Result<Contents> {
        accept(folder)?;
        match self.open(folder) {
            // Where a link leads is encrypted in the folder below.
            Ok(mounted) => self.inner.check_accepted(mounted.clear(), accept),
            Err(error) => Ok(Contents::reported(format!("{error:#}"))),
        }
    }

    fn before(&self) -> Option<u64> {
        self.inner.before()
    }

    fn accounts(&self) -> Option<Vec<Uid>> {
        self.inner.accounts()
    }

    fn can_go_on(&self) -> bool {
        self.inner.can_go_on()
    }

    fn is_in_order(&self) -> bool {
        self.inner.is_in_order()
    }
}
