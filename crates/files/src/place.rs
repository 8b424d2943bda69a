//! Resolves a path without opening the file at its end.

use std::fs;
use std::io::ErrorKind;
use std::os::fd::RawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use nix::unistd::Uid;

use crate::folder;

/// The number of links that the kernel follows at most.
const MOST_LINKS: usize = 40;
/// The bits of a folder in which everybody may make files and only their owners may remove them.
const SHARED: u32 = 0o1002;

/// The kind of file at the end of a path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A regular file, or nothing yet.
    File(PathBuf),
    /// A character device, such as `/dev/null`.
    Device(PathBuf),
    /// A FIFO.
    Fifo(PathBuf),
    /// A descriptor that dyno was started with: `/dev/stdout`, `/dev/fd/3`, `>(command)`.
    Descriptor(RawFd),
}

impl Place {
    /// Follows the links of a path to what it leads to.
    ///
    /// # Errors
    /// It leads to something that cannot hold a result, or over another user's link in a shared folder.
    pub(crate) fn of(path: &Path) -> Result<Place> {
        if path.as_os_str().is_empty() {
            bail!("the name of the file is empty");
        }
        let mut at = path.to_owned();
        for _ in 0..MOST_LINKS {
            if let Some(descriptor) = descriptor(&at) {
                return Ok(Place::Descriptor(descriptor));
            }
            let found = match fs::symlink_metadata(&at) {
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    if at.as_os_str().to_string_lossy().ends_with('/') {
                        bail!("{} is the name of a folder; name a file in it", at.display());
                    }
                    return Ok(Place::File(at));
                }
                found => found.with_context(|| format!("cannot look at {}", at.display()))?,
            };
            let kind = found.file_type();
            if !kind.is_symlink() {
                return kind_of(kind, at);
            }
            check_link(&at, &found)?;
            let target =
                fs::read_link(&at).with_context(|| format!("cannot read the link {}", at.display()))?;
            at = folder(&at).join(target);
        }
        bail!("{} leads over more than {MOST_LINKS} links", path.display())
    }
}

fn kind_of(kind: fs::FileType, path: PathBuf) -> Result<Place> {
    let shown = path.display();
    if kind.is_dir() {
        bail!("{shown} is a folder; name a file in it");
    }
    if kind.is_block_device() {
        bail!("{shown} is a block device: dyno writes no results to a disk itself; name a file");
    }
    if kind.is_socket() {
        bail!("{shown} is a socket, which cannot be opened like a file; name a file");
    }
    Ok(match kind {
        kind if kind.is_char_device() => Place::Device(path),
        kind if kind.is_fifo() => Place::Fifo(path),
        _ => Place::File(path),
    })
}

/// The number of a descriptor of this process, where a path is its name in `/proc`.
fn descriptor(path: &Path) -> Option<RawFd> {
    let number = path.file_name()?.to_str()?.parse().ok()?;
    let own = fs::canonicalize("/proc/self/fd").ok()?;
    (fs::canonicalize(folder(path)).ok()? == own).then_some(number)
}

/// Refuses a link that another user put into a folder which all may write to, as the kernel does for programs that
/// open it (`fs.protected_symlinks`): it could make root overwrite any file.
fn check_link(link: &Path, found: &fs::Metadata) -> Result<()> {
    let parent = fs::metadata(folder(link)).with_context(|| format!("cannot look at {}", link.display()))?;
    let is_shared = parent.mode() & SHARED == SHARED;
    if is_shared && found.uid() != Uid::effective().as_raw() && found.uid() != parent.uid() {
        bail!(
            "{} is a link that another user made in a folder that all may write to; dyno does not follow it",
            link.display()
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, lchown, symlink};

    use super::*;

    #[test]
    fn links_lead_to_their_target_and_no_further() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        symlink("second", path("first")).unwrap();
        symlink(path("target"), path("second")).unwrap();
        symlink("round", path("round")).unwrap();
        assert_eq!(Place::of(&path("first")).unwrap(), Place::File(path("target")));
        assert!(Place::of(&path("round")).unwrap_err().to_string().contains("links"));
        assert_eq!(Place::of(Path::new("/dev/null")).unwrap(), Place::Device("/dev/null".into()));
        assert_eq!(Place::of(Path::new("/dev/stdout")).unwrap(), Place::Descriptor(1));
        assert_eq!(Place::of(Path::new("/dev/fd/7")).unwrap(), Place::Descriptor(7));
        assert!(Place::of(folder.path()).unwrap_err().to_string().contains("is a folder"));
    }

    #[test]
    fn a_strangers_link_in_a_shared_folder_is_not_followed() {
        if !Uid::effective().is_root() {
            return eprintln!("not run: another user's link needs root");
        }
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        symlink("/etc/passwd", &link).unwrap();
        lchown(&link, Some(65534), Some(65534)).unwrap();
        // In a folder that is dyno's alone, a link is what its owner wants.
        assert_eq!(Place::of(&link).unwrap(), Place::File("/etc/passwd".into()));
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o1777)).unwrap();
        assert!(Place::of(&link).unwrap_err().to_string().contains("another user"));
    }
}
