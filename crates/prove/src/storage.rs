//! The storage of a proof's data: a disk with a real file system, files that are recorded themselves, or a plain folder
//! if the system allows neither. Each can be made with a content, and the first two record the operations on them.

use std::fs::{self, DirBuilder, File};
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use crate::content::Content;
use crate::context::{ProofContext, StorageKind};
use crate::disk::Disk;
use crate::disk::faults::Fault;
use crate::disk::files::{self, Mounted, System};
use crate::disk::log::Entry;
use crate::image::Image;
use crate::posix::Files;
use crate::tree::Tree;

/// Files with a content, on which a program can work or look. They are removed on drop.
#[derive(Debug)]
pub enum FileSet {
    /// Of a disk.
    Disk(Mounted),
    /// In a folder.
    Folder(PathBuf),
}

/// Storage that is recorded.
#[derive(Debug)]
pub struct Recorded {
    device: Device,
    // After what is in it.
    _place: TempDir,
}

#[derive(Debug)]
enum Device {
    Disk(Disk),
    Files(Files),
}

impl ProofContext {
    /// Checks that the system allows this storage: makes it, recorded, with no content.
    ///
    /// # Errors
    /// The system does not allow it; the error says why.
    pub fn try_storage(&self) -> Result<()> {
        let content = self.content(self.empty()?)?;
        let recorded = self.recorded(&content, None)?;
        // It answers: one that is unmounted before it said that it is ready would fail.
        drop(recorded.output()?);
        recorded.finish().map(drop)
    }

    /// Files with nothing in them.
    pub(crate) fn empty(&self) -> Result<FileSet> {
        let StorageKind::Disk(system) = self.storage else { return self.folder_anew() };
        let file = self.place.join("stand");
        remove(fs::remove_file(&file))?;
        files::make(system, &file)?;
        Ok(FileSet::Disk(self.mount(system, &file)?))
    }

    /// Files with a content.
    pub(crate) fn stand(&self, content: &Content) -> Result<FileSet> {
        match (content, self.storage) {
            (Content::Disk(image), StorageKind::Disk(system)) => {
                let file = self.place.join("stand");
                let write = || image.write(&File::create(&file)?);
                write().with_context(|| format!("cannot write the disk {}", file.display()))?;
                Ok(FileSet::Disk(self.mount(system, &file)?))
            }
            (Content::Files(tree), _) => {
                let stand = self.folder_anew()?;
                tree.put_into(stand.folder())?;
                Ok(stand)
            }
            (Content::Disk(_), _) => bail!("the content is that of a disk"),
        }
    }

    /// The content of files that were made empty.
    pub(crate) fn content(&self, stand: FileSet) -> Result<Content> {
        match stand {
            FileSet::Disk(mounted) => {
                mounted.unmount()?;
                let file = self.place.join("stand");
                let read = || Image::read(&File::open(&file)?);
                let image = read().with_context(|| format!("cannot read the disk {}", file.display()))?;
                fs::remove_file(&file)?;
                Ok(Content::Disk(image))
            }
            FileSet::Folder(folder) => {
                let content = Content::Files(Tree::of(&folder)?);
                FileSet::Folder(folder).end()?;
                Ok(content)
            }
        }
    }

    /// Files with a content that are recorded, and may have a fault.
    pub(crate) fn recorded(&self, content: &Content, fault: Option<Fault>) -> Result<Recorded> {
        let place = tempfile::Builder::new().prefix("recorded-").tempdir_in(&self.place)?;
        let device = match (content, self.storage) {
            (Content::Disk(image), StorageKind::Disk(system)) => {
                let programs = (system, image);
                Device::Disk(Disk::new(&self.recorder, programs, fault, (place.path(), &self.folder()), &[])?)
            }
            (Content::Files(tree), StorageKind::Files) => {
                Device::Files(Files::new(&self.keeper, tree, place.path(), &self.folder())?)
            }
            _ => bail!("{} cannot be recorded", self.storage.name()),
        };
        Ok(Recorded { device, _place: place })
    }

    fn mount(&self, system: System, file: &Path) -> Result<Mounted> {
        Mounted::new(system, file, &self.folder(), &self.place)
    }

    fn folder_anew(&self) -> Result<FileSet> {
        let folder = self.folder();
        remove(fs::remove_dir_all(&folder))?;
        // A server's account must be able to reach what is in it, and to exchange nothing.
        let made = DirBuilder::new().mode(0o755).create(&folder);
        made.with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(FileSet::Folder(folder))
    }

    /// The folder of the files, the same each time: an engine may store their paths.
    fn folder(&self) -> PathBuf {
        self.place.join("files")
    }
}

impl FileSet {
    /// The folder of the files.
    pub fn folder(&self) -> &Path {
        match self {
            FileSet::Disk(mounted) => mounted.folder(),
            FileSet::Folder(folder) => folder,
        }
    }

    /// Releases the files, which are not needed any more.
    ///
    /// # Errors
    /// A process still uses them.
    pub fn end(self) -> Result<()> {
        match self {
            FileSet::Disk(mounted) => mounted.unmount(),
            FileSet::Folder(folder) => {
                fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))
            }
        }
    }
}

impl Recorded {
    /// The folder of the files.
    pub fn folder(&self) -> Result<&Path> {
        match &self.device {
            Device::Disk(disk) => disk.folder(),
            Device::Files(files) => Ok(files.folder()),
        }
    }

    /// The file for the standard output of the program that works on them.
    pub fn output(&self) -> Result<File> {
        match &self.device {
            Device::Disk(disk) => disk.output(),
            Device::Files(files) => files.output(),
        }
    }

    /// Ends the record, after the programs that worked have ended, and returns it.
    ///
    /// # Errors
    /// A process still uses them, or the recorder died meanwhile.
    pub fn finish(self) -> Result<Vec<Entry>> {
        match self.device {
            Device::Disk(disk) => disk.finish(),
            Device::Files(files) => files.finish(),
        }
    }
}

/// It is no error that something is not there.
fn remove(removed: std::io::Result<()>) -> std::io::Result<()> {
    removed.or_else(|error| if error.kind() == ErrorKind::NotFound { Ok(()) } else { Err(error) })
}
