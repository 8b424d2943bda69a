//! Files that are recorded themselves: the worst that POSIX allows.
//!
//! Between the program and the record there is no file system that does more than it must, but one of dyno's, in
//! memory. It keeps only what a program asked for: a file's bytes and length are durable once the file was synced, and
//! a name, or a name that was taken away or changed, once the folder was. Everything else may be lost, each change
//! independently. Real file systems keep more.

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

/// Servers run under another account; the kernel checks the permissions of the process that asks.
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
        Ok(Files(Served::new(program, folder.to_owned(), log, OPTIONS, (&before, None), &[])?))
    }

    /// The folder of the files.
    pub fn folder(&self) -> &Path {
        self.0.folder()
    }

    /// The file for the standard output of the program that works on them.
    pub fn output(&self) -> Result<File> {
        self.0.output(server::OUTPUT)
    }

    /// Unmounts them, after the programs that worked on them have ended, and returns everything that happened.
    ///
    /// # Errors
    /// A process still uses them, or the recorder died meanwhile.
    pub fn finish(self) -> Result<Vec<Entry>> {
        self.0.finish()
    }
}
