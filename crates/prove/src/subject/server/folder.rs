//! The folder of a server's data: while it runs, after it has ended, and after a cut.
//!
//! The data belong to the server's account, which may put a link in the place of any file of theirs. The folders around
//! them are dyno's.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use dyno_files::HeldFolder;
use dyno_lab::server::{Installation, PrivateServer};
use nix::unistd::{Uid, User};

/// The data while no server runs on them.
const DATA: &str = "data";
/// The prefix of the name of the folder in which a server has its data while it runs.
const RUNNING: &str = "server-";
/// PostgreSQL's note of which process uses the data. After a power cut that process is no more, and its number may be
/// anybody's.
const STALE: &str = "postmaster.pid";
/// The account of servers where the engine's usual one is missing.
const OTHERWISE: &str = "nobody";

/// Keeps the data of a server that has ended, whose folder goes with it.
pub fn keep(server: &PrivateServer, folder: &Path) -> Result<()> {
    fs::rename(server.data(), folder.join(DATA)).context("the server's data are gone")
}

/// The accounts that own what a server leaves, its own and dyno's.
pub(super) fn accounts(installation: &Installation) -> Vec<Uid> {
    let usual = installation.engine.start.as_ref().map(|start| start.account.as_str());
    let known = [usual, Some(OTHERWISE)].into_iter().flatten();
    let known = known.filter_map(|name| User::from_name(name).ok().flatten());
    known.map(|user| user.uid).chain([Uid::effective()]).collect()
}

/// Finds the folder of the data after a cut, and removes the note of a process that no longer exists.
///
/// # Errors
/// Others than dyno may exchange the folder, as no server's account can where dyno made the folder around it.
pub(super) fn left(folder: &Path) -> Result<Option<PathBuf>> {
    let Some((path, data)) = find(folder)? else { return Ok(None) };
    match data.remove(STALE) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", path.join(STALE).display()))
        }
        _ => Ok(Some(path)),
    }
}

/// The folder of the data after a cut: perhaps in that of the server that ran.
fn find(folder: &Path) -> Result<Option<(PathBuf, HeldFolder)>> {
    let held = HeldFolder::open(folder)?;
    if let Some(data) = data_in(&held, folder)? {
        return Ok(Some((folder.join(DATA), data)));
    }
    for name in held.names()? {
        if name.to_string_lossy().starts_with(RUNNING)
            && let Ok(server) = held.folder(&name)
        {
            let path = folder.join(&name);
            if let Some(data) = data_in(&server, &path)? {
                return Ok(Some((path.join(DATA), data)));
            }
        }
    }
    Ok(None)
}

/// The folder of the data in a folder at a path. One that cannot be opened is as good as gone.
fn data_in(folder: &HeldFolder, path: &Path) -> Result<Option<HeldFolder>> {
    let Ok(data) = folder.folder(DATA) else { return Ok(None) };
    ensure!(
        folder.is_own()?,
        "{} belongs to another user, or others can write to it, so dyno starts no server on what is in it",
        path.display()
    );
    Ok(Some(data))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn the_note_of_a_server_is_removed_from_its_data_alone() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        let mode =
            |name: &str, mode| fs::set_permissions(path(name), fs::Permissions::from_mode(mode)).unwrap();
        fs::create_dir_all(path("proof")).unwrap();
        fs::create_dir(path("other")).unwrap();
        mode("proof", 0o755);
        fs::write(path("other").join(STALE), "1").unwrap();
        assert_eq!(left(&path("proof")).unwrap(), None);
        // A link in the place of the data, or of the folder of a server that ran.
        symlink(path("other"), path("proof/data")).unwrap();
        assert_eq!(left(&path("proof")).unwrap(), None);
        fs::create_dir(path("real")).unwrap();
        fs::rename(path("proof/data"), path("real/data")).unwrap();
        symlink(path("real"), path("proof/server-link")).unwrap();
        assert_eq!(left(&path("proof")).unwrap(), None);
        assert!(path("other").join(STALE).exists());
        for data in ["proof/server-1/data", "proof/data"] {
            fs::create_dir_all(path(data)).unwrap();
            mode(data.trim_end_matches("/data"), 0o755);
            fs::write(path(data).join(STALE), "1").unwrap();
            assert_eq!(left(&path("proof")).unwrap(), Some(path(data)));
            assert!(!path(data).join(STALE).exists());
        }
        mode("proof", 0o777);
        assert!(left(&path("proof")).unwrap_err().to_string().contains("others can write to it"));
    }
}
