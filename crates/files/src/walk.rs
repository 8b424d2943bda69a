//! The way along a path: one part after another, each looked for in the folder before it, which is held open. So what
//! was checked is what is used, whatever another user puts in the place of a name meanwhile.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind};
use std::os::fd::RawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail};
use nix::fcntl::readlinkat;

use crate::held::HeldFolder;

/// The number of links that the kernel follows at most.
const MOST_LINKS: usize = 40;

/// The kind of the next part of a path.
#[derive(Debug)]
pub(crate) enum Part {
    /// A folder, in which the walk now is.
    Folder,
    /// A link, which is not followed yet.
    Link(Link),
    /// Neither of both.
    Other(Entry),
    /// The name of nothing.
    Missing(OsString),
}

/// A link.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) name: OsString,
    pub(crate) found: Metadata,
    pub(crate) target: PathBuf,
}

/// An entry of a folder that is neither a folder nor a link.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: OsString,
    pub(crate) found: Metadata,
    /// It, held but not opened.
    pub(crate) held: File,
}

/// A walk along a path.
#[derive(Debug)]
pub(crate) struct Walk {
    /// The folder that was reached.
    pub(crate) folder: HeldFolder,
    /// The names that are left, the next one last.
    rest: Vec<OsString>,
    links: usize,
}

impl Walk {
    /// Begins at the root, or in the working folder.
    pub(crate) fn begin(path: &Path) -> io::Result<Walk> {
        let start = if path.is_absolute() { "/" } else { "." };
        Ok(Walk { folder: HeldFolder::open(Path::new(start))?, rest: names(path), links: 0 })
    }

    /// True if no part is left.
    pub(crate) fn is_over(&self) -> bool {
        self.rest.is_empty()
    }

    /// Looks at the next part, and enters it if it is a folder. `None` after the last one.
    pub(crate) fn step(&mut self) -> Result<Option<Part>> {
        let Some(name) = self.rest.pop() else { return Ok(None) };
        let shown = self.folder.path().join(&name);
        self.part(name).map(Some).with_context(|| format!("cannot look at {}", shown.display()))
    }

    fn part(&mut self, name: OsString) -> io::Result<Part> {
        match self.folder.folder(&name) {
            Ok(folder) => self.folder = folder,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Part::Missing(name)),
            Err(error) if error.kind() == ErrorKind::NotADirectory => return self.look(name),
            Err(error) => return Err(error),
        }
        Ok(Part::Folder)
    }

    fn look(&self, name: OsString) -> io::Result<Part> {
        let held = self.folder.look(&name)?;
        let found = held.metadata()?;
        if found.is_symlink() {
            let target = readlinkat(&held, "")?.into();
            return Ok(Part::Link(Link { name, found, target }));
        }
        Ok(Part::Other(Entry { name, found, held }))
    }

    /// Goes on along a link.
    pub(crate) fn follow(&mut self, link: &Link) -> Result<()> {
        self.links += 1;
        if self.links > MOST_LINKS {
            bail!(
                "{} leads over more than {MOST_LINKS} links",
                self.folder.path().join(&link.name).display()
            );
        }
        if link.target.is_absolute() {
            self.folder = HeldFolder::open(Path::new("/"))?;
        }
        self.rest.extend(names(&link.target));
        Ok(())
    }

    /// Makes a folder that is missing, and enters it.
    pub(crate) fn make(&mut self, name: &OsStr) -> Result<()> {
        let context = || format!("cannot make the folder {}", self.folder.path().join(name).display());
        match self.folder.make(name, 0o777) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                return Err(error).with_context(context);
            }
            _ => {}
        }
        let made = self.folder.folder(name).with_context(context)?;
        self.folder = made;
        Ok(())
    }

    /// The number of a descriptor of this process, where what is left is its name in `/proc`.
    pub(crate) fn descriptor(&self) -> Option<RawFd> {
        let [name] = &self.rest[..] else { return None };
        let number = name.to_str()?.parse().ok()?;
        let same = |found: Metadata| (found.dev(), found.ino());
        let own = fs::metadata("/proc/self/fd").map(same).ok()?;
        (self.folder.about().map(same).ok()? == own).then_some(number)
    }
}

/// The names of a path, the first one last.
fn names(path: &Path) -> Vec<OsString> {
    let name = |part: Component| match part {
        Component::Normal(_) | Component::ParentDir => Some(part.as_os_str().to_owned()),
        _ => None,
    };
    path.components().rev().filter_map(name).collect()
}
