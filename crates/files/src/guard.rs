//! Folders that no other user can change: for what dyno finds without having been given its name, and trusts.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use nix::unistd::Uid;

use crate::owner::{is_open, is_own, is_sticky, is_trusted, user_name};
use crate::walk::{Part, Walk};

/// Checks that only root and the user who runs dyno can change what a path leads to: all folders on the way belong to
/// one of them, and no other user can write to them; nor can one put a link there. In a folder such as `/tmp` others
/// can make files, but cannot move those that are there. What is missing at the end is no fault.
///
/// # Errors
/// Another user can change it; with the folder or the link. Or it is no folder, or cannot be looked at.
pub fn check_guarded(path: &Path) -> Result<()> {
    check(path, is_own, |walk, found| !walk.is_over() && is_sticky(found))
}

/// Checks that no user but root, the one who runs dyno and the one who has `sudo` run it can exchange a folder that dyno
/// makes in the folder of a path: the rule of [`check_guarded`], and the last folder may be one such as `/tmp`, too.
///
/// # Errors
/// As for [`check_guarded`].
fn check_lasting(path: &Path) -> Result<()> {
    check(path, is_trusted, |_, found| is_sticky(found))
}

/// Refuses, as root, a folder in which another user could put another one in the place of one of dyno's while dyno and
/// its engines work there by path, and have root write elsewhere. The path may be relative.
///
/// # Errors
/// As for [`check_guarded`], and dyno is root.
pub fn check_lasting_for_root(path: &Path) -> Result<()> {
    if !Uid::effective().is_root() {
        return Ok(());
    }
    // The engines' processes reach it by its whole path.
    check_lasting(&std::path::absolute(path)?).context("another user could have root write elsewhere")
}

/// Walks along a path. Others may write to those folders on it that `may_write` accepts.
fn check(path: &Path, is_trusted: fn(u32) -> bool, may_write: fn(&Walk, &Metadata) -> bool) -> Result<()> {
    ensure!(path.is_absolute(), "{} is no absolute path", path.display());
    let check_owner = |shown: &Path, found: &Metadata| -> Result<()> {
        ensure!(is_trusted(found.uid()), "{} belongs to {}", shown.display(), user_name(found.uid()));
        Ok(())
    };
    let mut walk = Walk::begin(path)?;
    loop {
        let (path, found) = (walk.folder.path(), walk.folder.about()?);
        check_owner(path, &found)?;
        let is_open = is_open(&found) || walk.folder.may_list_others(&found);
        let can_others = is_open && !may_write(&walk, &found);
        ensure!(!can_others, "other users can write to {}", path.display());
        match walk.step()? {
            None | Some(Part::Missing(_)) => return Ok(()),
            Some(Part::Folder) => {}
            Some(Part::Link(link)) => {
                check_owner(&walk.folder.path().join(&link.name), &link.found)?;
                walk.follow(&link)?;
            }
            Some(Part::Other(entry)) => {
                bail!("{} is no folder", walk.folder.path().join(&entry.name).display())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, chown, lchown, symlink};

    use nix::unistd::Uid;

    use super::*;

    fn fault(path: &Path) -> String {
        check_guarded(path).expect_err("it was accepted").to_string()
    }

    #[test]
    fn a_folder_to_which_others_can_write_is_not_guarded() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        fs::create_dir_all(path("around/inner")).unwrap();
        symlink("around", path("link")).unwrap();
        for name in ["around/inner", "link/inner", "around/missing/below"] {
            check_guarded(&path(name)).unwrap();
        }
        let mode = |mode| fs::set_permissions(path("around"), Permissions::from_mode(mode)).unwrap();
        mode(0o777);
        assert!(fault(&path("around/inner")).contains("other users can write"));
        assert!(fault(&path("link/inner")).contains("other users can write"));
        // Others cannot move the files that are there, but can put theirs next to them.
        mode(0o1777);
        check_guarded(&path("around/inner")).unwrap();
        assert!(fault(&path("around")).contains("other users can write"));
        check_lasting(&path("around")).unwrap();
        mode(0o777);
        assert!(check_lasting(&path("around")).is_err());
        mode(0o1777);
        fs::write(path("file"), "").unwrap();
        assert!(fault(&path("file")).contains("is no folder"));
        assert!(fault(Path::new("around")).contains("absolute"));
    }

    #[test]
    fn another_users_folder_or_link_is_not_guarded() {
        if !Uid::effective().is_root() {
            return eprintln!("not run: another user's files need root");
        }
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        fs::create_dir_all(path("theirs/inner")).unwrap();
        fs::create_dir(path("ours")).unwrap();
        symlink("ours", path("link")).unwrap();
        check_guarded(&path("link")).unwrap();
        chown(path("theirs"), Some(65534), Some(65534)).unwrap();
        lchown(path("link"), Some(65534), Some(65534)).unwrap();
        for name in ["theirs", "theirs/inner", "theirs/missing", "link"] {
            assert!(fault(&path(name)).contains("belongs to the user"), "{name}");
        }
    }
}
