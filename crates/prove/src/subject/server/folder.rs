//! The folder of a server's data: while it runs, after it has ended, and after a cut.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use dyno_lab::server::PrivateServer;

/// The data while no server runs on them.
const DATA: &str = "data";
/// The prefix of the name of the folder in which a server has its data while it runs.
const RUNNING: &str = "server-";
/// PostgreSQL's note of which process uses the data. After a power cut that process is no more, and its number may be
/// anybody's.
const STALE: &str = "postmaster.pid";
/// Keeps the data of a server that has ended, whose folder goes with it.
pub fn keep(server: &PrivateServer, folder: &Path) -> Result<()> {
    fs::rename(server.data(), folder.join(DATA)).context("the server's data are gone")
}

/// Finds the folder of the data after a cut, and removes the note of a process that no longer exists.
pub(super) fn left(folder: &Path) -> io::Result<Option<PathBuf>> {
    let Some(data) = find(folder)? else { return Ok(None) };
    match fs::remove_file(data.join(STALE)) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(Some(data)),
    }
}

/// The folder of the data after a cut: perhaps the folder of the server that ran.
fn find(folder: &Path) -> io::Result<Option<PathBuf>> {
    let kept = folder.join(DATA);
    if kept.is_dir() {
        return Ok(Some(kept));
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let data = entry.path().join(DATA);
        if entry.file_name().to_string_lossy().starts_with(RUNNING) && data.is_dir() {
            return Ok(Some(data));
        }
    }
    Ok(None)
}
