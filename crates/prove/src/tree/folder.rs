//! Trees and folders of a real file system.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;

use anyhow::{Context, Result};
use nix::unistd::Uid;

use super::{Kind, Node, NodeKind, Number, Op, ROOT, Rights, Tree};
use crate::image::Image;

impl Tree {
    /// The content of a folder. The same folder always gets the same numbers.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn of(folder: &Path) -> Result<Tree> {
        let mut tree = Tree::new(rights(&fs::metadata(folder)?));
        tree.take(folder, ROOT).with_context(|| format!("cannot read {}", folder.display()))?;
        Ok(tree)
    }

    fn take(&mut self, folder: &Path, parent: Number) -> Result<()> {
        let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let (path, about) = (entry.path(), entry.metadata()?);
            let kind = entry.file_type()?;
            // A socket or a pipe that no process holds any more is nothing.
            if kind.is_socket() || kind.is_fifo() {
                continue;
            }
            let made = match () {
                () if kind.is_dir() => Kind::Folder,
                () if kind.is_symlink() => Kind::Link(fs::read_link(&path)?),
                () => Kind::File,
            };
            let number = self.fresh();
            self.apply(&Op::Make(number, made, rights(&about)));
            self.apply(&Op::Name { folder: parent, name: entry.file_name(), node: Some(number) });
            if kind.is_dir() {
                self.take(&path, number)?;
            } else if kind.is_file() {
                let image = Image::read(&path)?;
                self.content(number, |content| *content = image);
            }
        }
        Ok(())
    }

    /// Puts everything into an empty folder.
    ///
    /// # Errors
    /// There is no room for it, or a right is missing.
    pub fn put_into(&self, folder: &Path) -> Result<()> {
        let root = self.node(ROOT).context("the tree has no root")?;
        self.put(root, folder).with_context(|| format!("cannot write to {}", folder.display()))
    }

    fn put(&self, folder: &Node, place: &Path) -> Result<()> {
        let NodeKind::Folder(names) = &folder.what else { return Ok(()) };
        for (name, number) in names {
            let path = place.join(name);
            // A name whose file was never made durable names nothing that could be read.
            let Some(node) = self.node(*number) else { continue };
            match &node.what {
                NodeKind::Folder(_) => {
                    fs::create_dir(&path)?;
                    self.put(node, &path)?;
                }
                NodeKind::File(image) => {
                    image.write(&path)?;
                    give(node, &path)?;
                }
                NodeKind::Other(Kind::Link(to)) => symlink(to, &path)?,
                NodeKind::Other(_) => drop(File::create(&path)?),
            }
        }
        give(folder, place)
    }
}

fn rights(about: &fs::Metadata) -> Rights {
    Rights { mode: about.mode() & 0o7777, uid: about.uid(), gid: about.gid() }
}

fn give(node: &Node, path: &Path) -> Result<()> {
    let Rights { mode, uid, gid } = node.rights;
    if Uid::effective().is_root() {
        chown(path, Some(uid), Some(gid))?;
    }
    Ok(fs::set_permissions(path, Permissions::from_mode(mode))?)
}
