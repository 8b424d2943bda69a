//! Empty data folders, made once and kept for later runs.
//!
//! Making one takes an engine a second or more. They are kept in the user's cache, by engine, version,
//! program and the arguments they were made with. A new one appears there by a rename, so that two dynos
//! at once are safe. The cache may be removed at any time; one that cannot be written, or that another user could
//! change, is done without.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use dyno_engine::Argument;
use dyno_launch::Interrupts;
use dyno_protocol::Setting;
use nix::sys::signal::Signal;

use super::account::Account;
use super::cache;
use super::commands::init_command;
use super::copy::{Zeros, copy_folder};
use super::folders::Folders;
use super::installation::Installation;
use super::process::{self, tail_of};
use crate::scratch::{self, Scratch};

/// The folder of kept folders in the cache.
const CACHE: &str = "servers";
/// The data within a folder of the cache.
const DATA: &str = "data";
/// The time limit for making one: it may be a large one on a slow disk.
const INITIALIZE_TIMEOUT: Duration = Duration::from_secs(300);
/// The name of the file that states in full what the data were made from: the folder's name is only a digest of it.
const KEY: &str = "key";
/// The length of a file of this name, in bytes, is less.
const LONGEST_KEY: u64 = 1 << 20;

/// Makes the data folder of a server and lets it come to rest, so that no trial pays for writing it.
///
/// # Errors
/// The engine cannot make an empty one, with what it said; or it cannot be copied.
pub fn fill(
    installation: &Installation,
    settings: &[Setting],
    account: &Account,
    folders: &Folders,
    interrupts: &Interrupts,
) -> Result<()> {
    let made = obtain(installation, settings, account, folders, interrupts)?;
    interrupts.check()?;
    let copy = || -> io::Result<()> {
        copy_folder(&made, &folders.data, Some(account), Zeros::Written)?;
        fs::remove_dir_all(&folders.made)?;
        Ok(nix::unistd::syncfs(File::open(folders.whole())?)?)
    };
    copy().with_context(|| format!("cannot copy the empty data folder to {}", folders.data.display()))
}

/// An empty data folder for an installation and settings: the cache's, or one made now.
fn obtain(
    installation: &Installation,
    settings: &[Setting],
    account: &Account,
    folders: &Folders,
    interrupts: &Interrupts,
) -> Result<PathBuf> {
    let arguments = installation.start.init_arguments(settings, &installation.version);
    let key = key(installation, &arguments);
    let cache = cache::cache_folder(CACHE);
    if let Some(cache) = &cache {
        // A dyno that was killed while it kept one left folders behind.
        scratch::sweep(cache);
    }
    let place = cache.map(|cache| cache.join(name(installation, &key)));
    if let Some(place) = &place
        && dyno_files::read_own(&place.join(KEY), LONGEST_KEY).is_ok_and(|found| found == key)
    {
        return Ok(place.join(DATA));
    }
    let made = make(installation, &arguments, account, folders, interrupts)?;
    if let Some(place) = &place {
        // The next run then makes its own; this one has what it needs.
        let _ = keep(&made, &key, place);
    }
    Ok(made)
}

/// Makes a data folder.
fn make(
    installation: &Installation,
    arguments: &[Argument],
    account: &Account,
    folders: &Folders,
    interrupts: &Interrupts,
) -> Result<PathBuf> {
    let data = folders.made.join(DATA);
    let mut command = init_command(installation, arguments, &data);
    account.prepare(&mut command, Signal::SIGKILL);
    // An interrupt from the terminal is for dyno.
    command.process_group(0).current_dir(folders.whole());
    let program = installation.initializer.display();
    let said = &folders.log;
    let status = process::run(&mut command, said, INITIALIZE_TIMEOUT, interrupts)
        .with_context(|| format!("cannot make an empty data folder by {program}"))?;
    if !status.success() {
        let said = tail_of(said);
        bail!("{program} could not make an empty data folder; it said:\n{said}");
    }
    Ok(data)
}

/// Puts a data folder into the cache. A dyno that is killed meanwhile leaves a folder that the next one
/// to get here sweeps.
fn keep(made: &Path, key: &str, place: &Path) -> Result<()> {
    let cache = place.parent().context("the cache is in no folder")?;
    cache::make(cache)?;
    let scratch = Scratch::create(cache)?;
    let new = scratch.trial()?;
    copy_folder(made, &new.path().join(DATA), None, Zeros::Skipped)?;
    fs::write(new.path().join(KEY), key)?;
    // A power cut must not leave a folder of this name with files that are empty.
    nix::unistd::syncfs(File::open(new.path())?)?;
    // Another dyno may have been quicker; a folder that is not empty is never replaced.
    fs::rename(new.path(), place)?;
    Ok(())
}

/// Everything that what a data folder holds may depend on.
fn key(installation: &Installation, arguments: &[Argument]) -> String {
    let arguments: Vec<String> = arguments.iter().map(Argument::to_string).collect();
    let program = fs::canonicalize(&installation.server).unwrap_or_else(|_| installation.server.clone());
    let stamp = fs::metadata(&program).map(|file| (file.len(), file.mtime())).unwrap_or_default();
    format!(
        "{} {}\n{} {stamp:?}\n{}\n",
        installation.engine.name,
        installation.version,
        program.display(),
        arguments.join("\n")
    )
}

fn name(installation: &Installation, key: &str) -> String {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    format!("{}-{}-{:016x}", installation.engine.name, installation.version, hasher.finish())
}
