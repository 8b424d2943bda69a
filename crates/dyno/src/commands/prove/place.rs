//! The place of proofs: the one that was asked for, or where the system does not allow that, a plain folder, where no
//! power can be cut but kills and system calls can be seen.

use std::env;
use std::path::PathBuf;

use anyhow::{Context, Result};
use dyno_lab::scratch::Scratch;
use dyno_launch::Interrupts;
use dyno_prove::context::{ProofContext, StorageKind};
use dyno_prove::disk::Program;
use dyno_prove::disk::files::System;
use dyno_prove::private_mount::{self, PrivateMount};

use crate::cli::{DiskFileSystem, ProveArgs, ProvedDevice};

/// The names of the hidden commands that record a disk, record files, and watch system calls.
const RECORDER: &str = "prove-recorder";
const KEEPER: &str = "prove-files";
const WATCHER: &str = "prove-watcher";

/// The place.
pub struct ProofPlace {
    /// The folder in which everything is done.
    pub context: ProofContext,
    /// The reason that no power can be cut here, if it cannot.
    pub no_cuts: Option<String>,
    // Left before the folder is removed, in which it is.
    _mount: Option<PrivateMount>,
}

impl ProofPlace {
    /// Opens the place that was asked for. A disk that the system does not allow gives way to a plain folder.
    ///
    /// # Errors
    /// Nothing can be made, or recorded files are asked for that the system does not allow.
    pub fn find(arguments: &ProveArgs, scratch: &Scratch, interrupts: &Interrupts) -> Result<ProofPlace> {
        let storage = storage(arguments);
        let entered = PrivateMount::enter(scratch.folder()).and_then(|mount| {
            let place = mount.folder().to_owned();
            let context = context(arguments, place, storage, interrupts)?;
            context.try_storage()?;
            Ok((context, mount))
        });
        let error = match entered {
            Ok((context, mount)) => return Ok(ProofPlace { context, no_cuts: None, _mount: Some(mount) }),
            Err(error) => error,
        };
        interrupts.check()?;
        // A device or file system that was asked for is used or refused.
        if storage != StorageKind::Disk(System::default()) {
            return Err(error);
        }
        let place = private_mount::plain(scratch.folder())?;
        let context = context(arguments, place, StorageKind::Folder, interrupts)?;
        Ok(ProofPlace { context, no_cuts: Some(format!("{error:#}")), _mount: None })
    }
}

fn storage(arguments: &ProveArgs) -> StorageKind {
    match (arguments.device, arguments.file_system) {
        (ProvedDevice::Posix, _) => StorageKind::Files,
        (ProvedDevice::Disk, DiskFileSystem::Ext4) => StorageKind::Disk(System::Ext4),
        (ProvedDevice::Disk, DiskFileSystem::Xfs) => StorageKind::Disk(System::Xfs),
        (ProvedDevice::Disk, DiskFileSystem::Btrfs) => StorageKind::Disk(System::Btrfs),
    }
}

fn context(
    arguments: &ProveArgs,
    place: PathBuf,
    storage: StorageKind,
    interrupts: &Interrupts,
) -> Result<ProofContext> {
    Ok(ProofContext {
        place,
        storage,
        recorder: program(RECORDER)?,
        keeper: program(KEEPER)?,
        watcher: program(WATCHER)?,
        interrupts: interrupts.clone(),
        keep: arguments.keep.clone(),
    })
}

/// dyno itself as another program.
fn program(command: &str) -> Result<Program> {
    let path = env::current_exe().context("cannot find dyno's own program")?;
    Ok(Program { path, arguments: vec![command.to_owned()] })
}
