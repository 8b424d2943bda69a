//! The way along a path: one part after another, each looked for in the folder before it, which is held open. So what
//! was checked is what is used, whatever another user puts in the place of a name meanwhile.

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail};
use nix::fcntl::{OFlag, openat, readlinkat};
use nix::sys::stat::Mode;

/// The number of links that the kernel follows at most.
const MOST_LINKS: usize = 40;

/// A folder that is held open.
#[derive(Debug)]
pub(crate) struct Folder {
    file: File,
    /// Its path, for messages.
    path: PathBuf,
}

impl Folder {
    fn open(path: &Path) -> io::Result<Folder> {
        let flags = (OFlag::O_PATH | OFlag::O_DIRECTORY).bits();
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
        Ok(Folder { file, path: if path == Path::new(".") { PathBuf::new() } else { path.to_owned() } })
    }

    /// Its path, for messages.
    pub(crate) fn own_path(&self) -> &Path {
        &self.path
    }

    /// A path in it, for messages.
    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path.join(name)
    }

    /// The same path, by which the system reaches this folder wherever it has been moved to.
    pub(crate) fn within(&self, name: impl AsRef<Path>) -> PathBuf {
        by_descriptor(&self.file).join(name)
    }

    pub(crate) fn metadata(&self) -> io::Result<Metadata> {
        self.file.metadata()
    }

    /// Opens a folder in it. A link is not followed.
    pub(crate) fn enter(&self, name: &OsStr) -> io::Result<Folder> {
        Ok(Folder { file: self.open_at(name, OFlag::O_DIRECTORY)?, path: self.path(name) })
    }

    /// Takes hold of an entry without opening it: a look at a device or a FIFO has no effect on it.
    pub(crate) fn look(&self, name: &OsStr) -> io::Result<File> {
        self.open_at(name, OFlag::empty())
    }

    /// Makes a folder in it with the rights of a mode that the umask leaves.
    pub(crate) fn make(&self, name: &OsStr, mode: u32) -> io::Result<()> {
        DirBuilder::new().mode(mode).create(self.within(name))
    }

    fn open_at(&self, name: &OsStr, flags: OFlag) -> io::Result<File> {
        let flags = flags | OFlag::O_PATH | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        Ok(openat(&self.file, name, flags, Mode::empty())?.into())
    }
}

/// A path that leads to what is held open, and past all names.
pub(crate) fn by_descriptor(file: &File) -> PathBuf {
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

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
    pub(crate) folder: Folder,
    /// The names that are left, the next one last.
    rest: Vec<OsString>,
    links: usize,
}

impl Walk {
    /// Begins at the root, or in the working folder.
    pub(crate) fn begin(path: &Path) -> io::Result<Walk> {
        let start = if path.is_absolute() { "/" } else { "." };
        Ok(Walk { folder: Folder::open(Path::new(start))?, rest: names(path), links: 0 })
    }

    /// True if no part is left.
    pub(crate) fn is_over(&self) -> bool {
        self.rest.is_empty()
    }

    /// Looks at the next part, and enters it if it is a folder. `None` after the last one.
    pub(crate) fn step(&mut self) -> Result<Option<Part>> {
        let Some(name) = self.rest.pop() else { return Ok(None) };
        let shown = self.folder.path(&name);
        self.part(name).map(Some).with_context(|| format!("cannot look at {}", shown.display()))
    }

    fn part(&mut self, name: OsString) -> io::Result<Part> {
        match self.folder.enter(&name) {
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
            bail!("{} leads over more than {MOST_LINKS} links", self.folder.path(&link.name).display());
        }
        if link.target.is_absolute() {
            self.folder = Folder::open(Path::new("/"))?;
        }
        self.rest.extend(names(&link.target));
        Ok(())
    }

    /// Makes a folder that is missing, and enters it.
    pub(crate) fn make(&mut self, name: &OsStr) -> Result<()> {
        let context = || format!("cannot make the folder {}", self.folder.path(name).display());
        match self.folder.make(name, 0o777) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                return Err(error).with_context(context);
            }
            _ => {}
        }
        let made = self.folder.enter(name).with_context(context)?;
        self.folder = made;
        Ok(())
    }

    /// The number of a descriptor of this process, where what is left is its name in `/proc`.
    pub(crate) fn descriptor(&self) -> Option<RawFd> {
        let [name] = &self.rest[..] else { return None };
        let number = name.to_str()?.parse().ok()?;
        let same = |found: Metadata| (found.dev(), found.ino());
        let own = fs::metadata("/proc/self/fd").map(same).ok()?;
        (self.folder.metadata().map(same).ok()? == own).then_some(number)
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
