//! Names of one file: two paths may be written differently and lead to one place.

use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf, absolute};

use crate::folder;

/// The most links that are followed to a file that is not there.
const MOST_LINKS: usize = 40;

/// The place of a file.
#[derive(PartialEq)]
enum FileIdentity {
    /// The device and the inode of a regular file that is there.
    There((u64, u64)),
    /// A name that is free in a folder.
    Free((u64, u64), OsString),
    /// A path whose folder is missing.
    Missing(PathBuf),
}

/// True if two paths lead to one regular file, or to one place where a file would be made. Devices, FIFOs and folders are no
/// files: several results may go to `/dev/null`.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    identity(one).is_some_and(|known| identity(other) == Some(known))
}

fn identity(path: &Path) -> Option<FileIdentity> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        if let Ok(found) = fs::metadata(&path) {
            return found.is_file().then(|| FileIdentity::There(inode(&found)));
        }
        let Ok(target) = fs::read_link(&path) else { return free(&path) };
        path = folder(&path).join(target);
    }
    None
}

fn free(path: &Path) -> Option<FileIdentity> {
    match fs::metadata(folder(path)) {
        Ok(around) => Some(FileIdentity::Free(inode(&around), path.file_name()?.to_owned())),
        Err(_) => absolute(path).ok().map(FileIdentity::Missing),
    }
}

fn inode(found: &Metadata) -> (u64, u64) {
    (found.dev(), found.ino())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_file_is_the_same_under_each_of_its_names() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        fs::create_dir(path("folder")).unwrap();
        fs::write(path("file"), "text").unwrap();
        fs::write(path("copy"), "text").unwrap();
        fs::hard_link(path("file"), path("hard")).unwrap();
        symlink("file", path("link")).unwrap();
        symlink("folder", path("folder-link")).unwrap();
        symlink("new", path("dangling")).unwrap();
        let same = |one: &str, other: &str| is_same_file(&path(one), &path(other));
        for name in ["file", "hard", "link", "folder/../file", "./file"] {
            assert!(same("file", name) && same(name, "file"), "{name}");
        }
        for name in ["new", "dangling", "folder/../new"] {
            assert!(same("new", name) && same(name, "new"), "{name}");
        }
        assert!(same("folder/new", "folder-link/new"));
        assert!(same("missing/new", "missing/./new"));
        for (one, other) in [("file", "copy"), ("file", "new"), ("new", "folder/new"), ("missing/a", "a")] {
            assert!(!same(one, other), "{one} and {other}");
        }
    }

    #[test]
    fn what_is_no_file_is_not_the_same_file() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!is_same_file(folder.path(), folder.path()));
        assert!(!is_same_file(Path::new("/dev/null"), Path::new("/dev/null")));
    }
}
