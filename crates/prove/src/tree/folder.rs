//! Trees and folders of a real file system.
//!
//! Such a folder may belong to the account of a server, which can exchange what is in it at any moment: each folder is
//! held open, and no link is followed.

use std::collections::BTreeSet;
use std::fs::{File, Metadata};
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::Path;

use anyhow::{Context, Result, bail};
use dyno_files::{Found, HeldFolder};
use nix::sys::stat::{Mode, fchmod};
use nix::unistd::Uid;

use super::{Kind, Node, NodeKind, Number, Op, ROOT, Rights, Tree};
use crate::image::Image;

/// The bits of a mode that copies get. A program that runs as its owner is no part of any data.
const PERMISSIONS: u32 = 0o777;

impl Tree {
    /// The content of a folder. The same folder always gets the same numbers.
    ///
    /// # Errors
    /// It cannot be read, or holds a device.
    pub fn of(folder: &Path) -> Result<Tree> {
        let read = || Tree::read(&HeldFolder::open(folder)?);
        read().with_context(|| format!("cannot read {}", folder.display()))
    }

    /// The same of a folder that is held open.
    pub(crate) fn read(folder: &HeldFolder) -> Result<Tree> {
        let mut tree = Tree::new(rights(&folder.about()?));
        tree.take(folder, Path::new(""), ROOT)?;
        Ok(tree)
    }

    fn take(&mut self, folder: &HeldFolder, within: &Path, parent: Number) -> Result<()> {
        for name in folder.names()? {
            let path = within.join(&name);
            let shown = || path.display().to_string();
            let (found, about) = folder.find(&name).with_context(shown)?;
            let made = match &found {
                Found::Folder(_) => Kind::Folder,
                Found::File(_) => Kind::File,
                Found::Link(to) => Kind::Link(to.clone()),
                // One that no process holds any more is nothing.
                Found::Channel => continue,
                // It is not left out as well: what is missing in the copy would count as lost.
                Found::Device => bail!("{} is a device, and dyno copies none; remove it", shown()),
            };
            let number = self.fresh();
            self.apply(&Op::Make(number, made, rights(&about)));
            self.apply(&Op::Name { folder: parent, name, node: Some(number) });
            match found {
                Found::Folder(inner) => self.take(&inner, &path, number)?,
                Found::File(file) => {
                    let image = Image::read(&file).with_context(shown)?;
                    self.content(number, |content| *content = image);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Puts everything into an empty folder.
    ///
    /// # Errors
    /// There is no room for it, a right is missing, or the folder is not empty.
    pub fn put_into(&self, folder: &Path) -> Result<()> {
        let put = || self.write_into(&HeldFolder::open(folder)?);
        put().with_context(|| format!("cannot write to {}", folder.display()))
    }

    /// The same with a folder that is held open.
    pub(crate) fn write_into(&self, folder: &HeldFolder) -> Result<()> {
        self.put(self.node(ROOT).context("the tree has no root")?, folder)
    }

    fn put(&self, folder: &Node, place: &HeldFolder) -> Result<()> {
        let NodeKind::Folder(names) = &folder.what else { return Ok(()) };
        for (name, number) in names {
            // A name whose file was never made durable names nothing that could be read.
            let Some(node) = self.node(*number) else { continue };
            match &node.what {
                NodeKind::Folder(_) => self.put(node, &place.make_folder(name)?)?,
                NodeKind::File(image) => {
                    let file = place.make_file(name, Mode::S_IRUSR | Mode::S_IWUSR)?;
                    image.write(&file)?;
                    give(node, &file)?;
                }
                NodeKind::Other(Kind::Link(to)) => place.make_link(name, to)?,
                NodeKind::Other(_) => drop(place.make_file(name, Mode::S_IRUSR | Mode::S_IWUSR)?),
            }
        }
        // Last: until then no other account can put anything there.
        give(folder, File::open(place.within(""))?)
    }

    /// The owners of all files and folders.
    pub(crate) fn owners(&self) -> BTreeSet<u32> {
        self.nodes.values().map(|node| node.rights.uid).collect()
    }
}

fn rights(about: &Metadata) -> Rights {
    Rights { mode: about.mode() & 0o7777, uid: about.uid(), gid: about.gid() }
}

fn give(node: &Node, made: impl AsFd) -> Result<()> {
    let Rights { mode, uid, gid } = node.rights;
    if Uid::effective().is_root() {
        fchown(&made, Some(uid), Some(gid))?;
    }
    Ok(fchmod(&made, Mode::from_bits_truncate(mode & PERMISSIONS))?)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use nix::sys::stat::{SFlag, makedev, mknod};
    use nix::unistd::mkfifo;
    use tempfile::TempDir;

    use super::*;

    /// A new place with a file that is precious, and a path in it.
    fn place() -> (TempDir, impl Fn(&str) -> std::path::PathBuf) {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().to_owned();
        fs::write(folder.join("precious"), "private").unwrap();
        (place, move |name: &str| folder.join(name))
    }

    #[test]
    fn what_was_planted_is_copied_as_what_it_is() {
        let (_place, path) = place();
        fs::create_dir_all(path("data/inner")).unwrap();
        fs::create_dir(path("copy")).unwrap();
        symlink(path("precious"), path("data/link")).unwrap();
        symlink(path(""), path("data/inner/up")).unwrap();
        mkfifo(&path("data/fifo"), Mode::S_IRWXU).unwrap();
        fs::write(path("data/program"), "#!/bin/sh").unwrap();
        fs::set_permissions(path("data/program"), fs::Permissions::from_mode(0o6755)).unwrap();
        fs::set_permissions(path("data/inner"), fs::Permissions::from_mode(0o3755)).unwrap();
        Tree::of(&path("data")).unwrap().put_into(&path("copy")).unwrap();
        assert_eq!(fs::read_link(path("copy/link")).unwrap(), path("precious"));
        assert_eq!(fs::read_link(path("copy/inner/up")).unwrap(), path(""));
        assert!(!path("copy/fifo").exists());
        for name in ["copy/program", "copy/inner"] {
            let mode = fs::metadata(path(name)).unwrap().permissions().mode();
            assert_eq!(mode & 0o7777, 0o755, "{name}");
        }
    }

    #[test]
    fn a_link_in_the_place_of_a_copy_is_not_written_to() {
        let (_place, path) = place();
        for folder in ["data", "copy", "other"] {
            fs::create_dir(path(folder)).unwrap();
        }
        fs::write(path("data/file"), "data").unwrap();
        let tree = Tree::of(&path("data")).unwrap();
        symlink(path("precious"), path("copy/file")).unwrap();
        assert!(tree.put_into(&path("copy")).is_err());
        symlink(path("other"), path("link")).unwrap();
        assert!(tree.put_into(&path("link")).is_err() && !path("other/file").exists());
        assert_eq!(fs::read_to_string(path("precious")).unwrap(), "private");
    }

    #[test]
    fn a_device_is_refused() {
        let (_place, path) = place();
        fs::create_dir_all(path("data/inner")).unwrap();
        let made = mknod(&path("data/inner/disk"), SFlag::S_IFCHR, Mode::S_IRWXU, makedev(1, 3));
        if let Err(error) = made {
            return eprintln!("not run: no device can be made: {error}");
        }
        let error = format!("{:#}", Tree::of(&path("data")).unwrap_err());
        assert!(error.ends_with("inner/disk is a device, and dyno copies none; remove it"), "{error}");
    }
}
