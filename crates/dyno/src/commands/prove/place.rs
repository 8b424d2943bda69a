//! Where proofs are made: on what was asked for, or where the system does not allow that, in a plain folder, where no power
//! can be cut but kills and system calls can be seen.

use std::env;
use std::path::PathBuf;

use anyhow::{Context, Result};
use dyno_lab::interrupts::Interrupts;
use dyno_lab::scratch::Scratch;
use dyno_prove::disk::Program;
use dyno_prove::disk::files::System;
use dyno_prove::private_mount::{self, PrivateMount};
use dyno_prove::proof::ProofContext;
use dyno_prove::storage::StorageKind;

use crate::cli::{Device, FileSystem, ProveArgs};

/// The names of the hidden commands that record a disk, record files, and watch system calls.
const RECORDER: &str = "prove-recorder";
const KEEPER: &str = "prove-files";
const WATCHER: &str = "prove-watcher";

/// The place.
pub struct Place {
    /// Where everything is done.
    pub workshop: ProofContext,
    /// Why no power can be cut here, if it cannot.
    pub no_cuts: Option<String>,
    // Left before the folder is removed, in which it is.
    _refuge: Option<PrivateMount>,
}

impl Place {
    /// What was asked for. A disk that the system does not allow gives way to a plain folder.
    ///
    /// # Errors
    /// Nothing can be made, or recorded files are asked for that the system does not allow.
    pub fn find(arguments: &ProveArgs, scratch: &Scratch, interrupts: &Interrupts) -> Result<Place> {
        let ground = ground(arguments);
        let entered = PrivateMount::enter(scratch.folder()).and_then(|refuge| {
            let place = refuge.folder().to_owned();
            let workshop = workshop(arguments, place, ground, interrupts)?;
            workshop.try_ground()?;
            Ok((workshop, refuge))
        });
        let error = match entered {
            Ok((workshop, refuge)) => return Ok(Place { workshop, no_cuts: None, _refuge: Some(refuge) }),
            Err(error) => error,
        };
        interrupts.check()?;
        // Who asks for something else than the usual gets it or nothing.
        if ground != StorageKind::Disk(System::default()) {
            return Err(error);
        }
        let place = private_mount::plain(scratch.folder())?;
        let workshop = workshop(arguments, place, StorageKind::Folder, interrupts)?;
        Ok(Place { workshop, no_cuts: Some(format!("{error:#}")), _refuge: None })
    }
}

fn ground(arguments: &ProveArgs) -> StorageKind {
    match (arguments.device, arguments.file_system) {
        (Device::Posix, _) => StorageKind::Files,
        (Device::Disk, FileSystem::Ext4) => StorageKind::Disk(System::Ext4),
        (Device::Disk, FileSystem::Xfs) => StorageKind::Disk(System::Xfs),
        (Device::Disk, FileSystem::Btrfs) => StorageKind::Disk(System::Btrfs),
    }
}

fn workshop(
    arguments: &ProveArgs,
    place: PathBuf,
    ground: StorageKind,
    interrupts: &Interrupts,
) -> Result<ProofContext> {
    Ok(ProofContext {
        place,
        ground,
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
