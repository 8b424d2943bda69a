//! Files that are recorded themselves: the worst that POSIX allows.
//!
//! Between the program and a disk there is no file system that does more than it must, but one of dyno's own, in memory.
//! It keeps nothing that was not asked for: a file's bytes and length are durable when the file was synced, and a name,
//! or a name that was taken away or changed, when the folder was. Everything else may be lost, each thing by itself.
//! Real file systems keep more.

mod attributes;
mod names;
mod server;
mod state;

use std::fs::File;
use std::path::Path;

use anyhow::Result;

use crate::disk::Program;
use crate::disk::log::Entry;
use crate::disk::served::Served;
use crate::tree::Tree;
pub use server::serve;

/// Servers run under another account; the kernel itself holds rights against who asks.
const OPTIONS: &str = ",default_permissions,allow_other";

/// The files. Dropped, they are unmounted and their recorder ends.
#[derive(Debug)]
pub struct Files(Served);

impl Files {
    /// Files with this content, which is put into `place`, a new folder in memory. They are mounted on `folder`.
    ///
    /// Must be called by a thread that outlives it: the kernel kills the recorder when that ends.
    ///
    /// # Errors
    /// The system allows no FUSE or no mounts.
    pub fn new(program: &Program, content: &Tree, place: &Path, folder: &Path) -> Result<Files> {
        let (before, log) = (place.join("before"), place.join("log"));
        std::fs::create_dir(&before)?;
        content.put_into(&before)?;
        Ok(Files(Served::new(program, folder.to_owned(), log, OPTIONS, (&before, None))?))
    }

    /// Where they are.
    pub fn folder(&self) -> &Path {
        self.0.folder()
    }

    /// What is to be the standard output of the program that works on them.
    pub fn output(&self) -> Result<File> {
        self.0.output(server::OUTPUT)
    }

    /// Unmounts them, after those who worked on them have ended, and tells everything that happened.
    ///
    /// # Errors
    /// Somebody still uses them, or the recorder died meanwhile.
    pub fn finish(self) -> Result<Vec<Entry>> {
        self.0.finish()
    }
}
