//! The places of a private server: its data, its log, and a socket whose path is short enough.

use std::env;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use super::account::Account;

/// The longest path of a socket in bytes: the kernel keeps 108, and the last is zero.
const LONGEST_SOCKET: usize = 107;

/// The folders of a server. Dropped, they are removed with what is in them.
#[derive(Debug)]
pub struct Folders {
    /// The database; not there until it is made.
    pub data: PathBuf,
    /// The folder for the server's temporary files.
    pub temporary: PathBuf,
    /// Its socket.
    pub sockets: PathBuf,
    /// The file of its messages.
    pub log: PathBuf,
    whole: TempDir,
    short: Option<TempDir>,
}

impl Folders {
    /// Makes them within `place`, for a server under an account with a socket of a name.
    ///
    /// # Errors
    /// They cannot be made, or the account cannot enter them.
    pub fn create(place: &Path, account: &Account, socket: &str) -> Result<Folders> {
        let whole = closed_folder("server-", place)
            .with_context(|| format!("cannot make a folder for the server in {}", place.display()))?;
        account.admit(place)?;
        let temporary = whole.path().join("tmp");
        let make = || {
            DirBuilder::new().mode(0o700).create(&temporary)?;
            account.own(&temporary)?;
            account.own(whole.path())
        };
        make().with_context(|| format!("cannot make folders in {}", whole.path().display()))?;
        account.check_way(whole.path())?;
        let short = if fits(whole.path(), socket) { None } else { Some(short_folder(account, socket)?) };
        Ok(Folders {
            data: whole.path().join("data"),
            sockets: short.as_ref().map_or(whole.path(), TempDir::path).to_owned(),
            log: whole.path().join("log"),
            temporary,
            whole,
            short,
        })
    }

    /// The one that holds the others, but for a socket's that had to be elsewhere.
    pub fn whole(&self) -> &Path {
        self.whole.path()
    }

    /// The folders and files that a server leaves behind when it dies.
    pub fn all(&self) -> Vec<&Path> {
        [Some(self.whole()), self.short.as_ref().map(TempDir::path)].into_iter().flatten().collect()
    }
}

fn fits(folder: &Path, socket: &str) -> bool {
    folder.join(socket).as_os_str().as_bytes().len() <= LONGEST_SOCKET
}

/// A folder elsewhere for a socket whose path would be too long.
fn short_folder(account: &Account, socket: &str) -> Result<TempDir> {
    let runtime = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    for parent in [Some(env::temp_dir()), runtime, Some("/tmp".into())].into_iter().flatten() {
        let Ok(folder) = closed_folder("dyno-", &parent) else { continue };
        let usable = account.own(folder.path()).is_ok() && account.check_way(folder.path()).is_ok();
        if fits(folder.path(), socket) && usable {
            return Ok(folder);
        }
    }
    bail!(
        "the path of the server's socket would be longer than the system's {LONGEST_SOCKET} bytes, and no \
         short folder for it can be made in /tmp; choose a shorter folder with --dir"
    )
}

/// A folder that only its owner and root may enter: it is all that keeps others from the server.
fn closed_folder(prefix: &str, parent: &Path) -> io::Result<TempDir> {
    let mode = fs::Permissions::from_mode(0o700);
    tempfile::Builder::new().prefix(prefix).permissions(mode).tempdir_in(parent)
}
