//! The places of a private server: its data, its log, and a socket whose path is short enough.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use dyno_files::HeldFolder;
use tempfile::TempDir;

use super::account::Account;
use crate::scratch::{Scratch, sockets};

/// The beginning of the name of a server's folder.
pub const SERVER_PREFIX: &str = "server-";
/// The name of the folder of its socket, which belongs to its account.
pub const SOCKETS: &str = "run";

/// The folders of a server. Dropped, they are removed with what is in them.
///
/// The folder that holds the others is dyno's, and those that the server writes to are its account's: so no link of that
/// account stands in a path by which dyno writes.
#[derive(Debug)]
pub struct Folders {
    /// The database; not there until it is made.
    pub data: PathBuf,
    /// The folder in which the engine makes an empty database.
    pub made: PathBuf,
    /// The folder for the server's temporary files.
    pub temporary: PathBuf,
    /// Its socket.
    pub sockets: PathBuf,
    /// The file of its messages.
    pub log: PathBuf,
    whole: TempDir,
    short: Option<Scratch>,
}

impl Folders {
    /// Makes them within `place`, for a server under an account with a socket of a name.
    ///
    /// # Errors
    /// They cannot be made, or the account cannot enter them.
    pub fn create(place: &Path, account: &Account, socket: &str) -> Result<Folders> {
        let whole = closed_folder(place)
            .with_context(|| format!("cannot make a folder for the server in {}", place.display()))?;
        account.admit(place)?;
        let within = |name| whole.path().join(name);
        let (temporary, sockets, made) = (within("tmp"), within(SOCKETS), within("made"));
        let make = || {
            account.admit_group(whole.path())?;
            [&temporary, &sockets, &made].into_iter().try_for_each(|folder| make_for(account, folder))
        };
        make().with_context(|| format!("cannot make folders in {}", whole.path().display()))?;
        account.check_way(&temporary)?;
        let short = match sockets::fits(&sockets.join(socket)) {
            true => None,
            false => Some(short_folder(account, socket, sockets::parents())?),
        };
        Ok(Folders {
            data: within("data"),
            sockets: short.as_ref().map_or(sockets, |short| short.folder().join(SOCKETS)),
            log: within("log"),
            made,
            temporary,
            whole,
            short,
        })
    }

    /// The one that holds the others, but for a socket's that had to be elsewhere.
    pub fn whole(&self) -> &Path {
        self.whole.path()
    }

    /// Empties the folders that a machine has in memory, which a power cut empties: those of sockets and of temporary files.
    ///
    /// # Errors
    /// Something cannot be removed.
    pub fn forget_volatile(&self) -> Result<()> {
        for folder in [&self.sockets, &self.temporary] {
            empty(folder).with_context(|| format!("cannot empty {}", folder.display()))?;
        }
        Ok(())
    }

    /// The folders and files that a server leaves behind when it dies.
    pub fn all(&self) -> Vec<&Path> {
        [Some(self.whole()), self.short.as_ref().map(Scratch::folder)].into_iter().flatten().collect()
    }
}

/// Removes all that is in a folder. No link is followed, nor one that stands in the folder's place.
fn empty(folder: &Path) -> io::Result<()> {
    let held = HeldFolder::open(folder)?;
    for entry in fs::read_dir(held.within(""))? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => fs::remove_dir_all(entry.path())?,
            false => fs::remove_file(entry.path())?,
        }
    }
    Ok(())
}

/// Makes a folder that only an account and root may enter: of a socket's, it is all that keeps others from the server.
fn make_for(account: &Account, folder: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(folder)?;
    account.own(folder)
}

/// A folder elsewhere for a socket whose path would be too long, in the first of `parents` that takes one and that the
/// account may enter.
fn short_folder(account: &Account, socket: &str, parents: impl Iterator<Item = PathBuf>) -> Result<Scratch> {
    let prepare = |short: &Scratch| {
        let folder = short.folder().join(SOCKETS);
        account.admit(short.folder())?;
        make_for(account, &folder)?;
        account.check_way(&folder)
    };
    sockets::short_folder(parents, &Path::new(SOCKETS).join(socket), prepare)
        .context("there is no place for the server's socket")
}

/// The folder of a server, which only its owner and root may enter.
fn closed_folder(parent: &Path) -> io::Result<TempDir> {
    let mode = fs::Permissions::from_mode(0o700);
    tempfile::Builder::new().prefix(SERVER_PREFIX).permissions(mode).tempdir_in(parent)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{chown, symlink};
    use std::process::{Command, Stdio};

    use nix::sys::signal::Signal;
    use nix::unistd::Uid;

    use super::*;

    #[test]
    fn a_folder_is_emptied_and_not_what_a_link_in_its_place_names() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        fs::create_dir_all(path("other/inner")).unwrap();
        fs::create_dir_all(path("own/inner")).unwrap();
        fs::write(path("own/file"), "text").unwrap();
        symlink("../other", path("own/link")).unwrap();
        symlink("other", path("exchanged")).unwrap();
        assert!(empty(&path("exchanged")).is_err());
        empty(&path("own")).unwrap();
        assert_eq!(fs::read_dir(path("own")).unwrap().count(), 0);
        assert!(path("other/inner").exists());
    }

    #[test]
    fn root_makes_no_folder_for_a_socket_in_one_of_another_user() {
        if !Uid::effective().is_root() {
            return eprintln!("not run: another user's folders need root");
        }
        let theirs = tempfile::tempdir().unwrap();
        chown(theirs.path(), Some(65534), Some(65534)).unwrap();
        let account = Account::for_server("nobody").unwrap();
        let parents = [theirs.path(), Path::new("/tmp")].map(Path::to_owned);
        let short = short_folder(&account, "socket", parents.into_iter()).unwrap();
        assert_eq!(short.folder().parent(), Some(Path::new("/tmp")));
    }

    #[test]
    fn the_account_of_a_server_writes_to_its_own_folders_and_not_where_dyno_writes() {
        if !Uid::effective().is_root() {
            eprintln!("not run: only root starts servers under another account");
            return;
        }
        let place = tempfile::tempdir().unwrap();
        let account = Account::for_server("nobody").unwrap();
        let folders = Folders::create(place.path(), &account, "socket").unwrap();
        let links = |link: &Path| {
            let mut command = Command::new("ln");
            command.args(["-s", "/etc/passwd"]).arg(link).stderr(Stdio::null());
            account.prepare(&mut command, Signal::SIGKILL);
            command.status().unwrap().success()
        };
        assert!(!links(&folders.log) && !links(&folders.data));
        for own in [&folders.temporary, &folders.sockets, &folders.made] {
            assert!(links(&own.join("link")), "{}", own.display());
        }
        // The log of a server may hold what its clients sent.
        drop(crate::server::process::new_log(&folders.log).unwrap());
        assert_eq!(fs::metadata(&folders.log).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
