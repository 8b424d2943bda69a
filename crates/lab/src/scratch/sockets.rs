//! Folders for sockets whose path in the run's own folder would be longer than the system allows.

use std::env;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail, ensure};

use super::{BY_TMPDIR, PREFIX, Scratch};

/// The longest path of a socket in bytes: the kernel keeps 108, and the last is zero.
const LONGEST: usize = 107;

/// True if a socket can have this path.
pub(crate) fn fits(path: &Path) -> bool {
    path.as_os_str().as_bytes().len() <= LONGEST
}

/// The folders in which short ones are made, each once.
pub(crate) fn parents() -> impl Iterator<Item = PathBuf> {
    let runtime = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let mut parents: Vec<PathBuf> = Vec::new();
    for parent in [Some(env::temp_dir()), runtime, Some("/tmp".into())].into_iter().flatten() {
        if parent.is_absolute() && !parents.contains(&parent) {
            parents.push(parent);
        }
    }
    parents.into_iter()
}

/// A scratch folder for a socket of this path within it, in the first of `parents` that takes one: which another user
/// cannot exchange, where the whole path is short enough, and where `prepare` succeeds.
///
/// # Errors
/// None of `parents` takes one, with the reason of each.
pub(crate) fn short_folder(
    parents: impl Iterator<Item = PathBuf>,
    socket: &Path,
    prepare: impl Fn(&Scratch) -> Result<()>,
) -> Result<Scratch> {
    let mut refused = Vec::new();
    for parent in parents {
        match short_folder_in(&parent, socket, &prepare) {
            Ok(short) => return Ok(short),
            Err(why) => refused.push(format!("{}: {why:#}", parent.display())),
        }
    }
    bail!(
        "the path of a socket would be longer than the system's {LONGEST} bytes, and there is no short folder for it; \
         choose a shorter folder with --dir. These were tried: {}",
        refused.join("; ")
    )
}

fn short_folder_in(
    parent: &Path,
    socket: &Path,
    prepare: impl Fn(&Scratch) -> Result<()>,
) -> Result<Scratch> {
    // Six letters follow the beginning of the folder's name.
    let sample = parent.join(format!("{PREFIX}123456")).join(socket);
    ensure!(fits(&sample), "the path would be too long there as well");
    let short = Scratch::create_or(parent, BY_TMPDIR)?;
    prepare(&short)?;
    Ok(short)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_short_folder_is_in_the_first_place_that_takes_one_and_leaves_nothing_in_the_others() {
        let place = tempfile::tempdir().unwrap();
        let (long, good) = (place.path().join("long".repeat(30)), place.path().join("good"));
        for parent in [&long, &good] {
            fs::create_dir(parent).unwrap();
        }
        let parents =
            || [Path::new("/nonexistent"), long.as_path(), good.as_path()].map(Path::to_owned).into_iter();
        let short = short_folder(parents(), Path::new("run/socket"), |_| Ok(())).unwrap();
        assert_eq!(short.folder().parent(), Some(&*good));
        drop(short);
        let refused =
            short_folder(parents(), Path::new("run/socket"), |_| bail!("the account cannot enter it"));
        let refused = refused.unwrap_err().to_string();
        for part in ["--dir", "/nonexistent: ", "too long there as well", "good: the account cannot enter it"]
        {
            assert!(refused.contains(part), "{refused}");
        }
        for parent in [&long, &good] {
            assert_eq!(fs::read_dir(parent).unwrap().count(), 0);
        }
    }
}
