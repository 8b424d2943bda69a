//! The files of a folder, in memory: as a program made them, or as a power cut could have left them.

mod folder;
mod op;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use crate::image::Image;
pub use op::{Kind, Number, Op, Rights};

/// The number of the folder that holds everything.
pub const ROOT: Number = 1;
/// The first number that a file or a folder within it may have.
const FIRST: Number = 16;

/// The kind and the content of a node.
#[derive(Debug, Clone)]
pub enum NodeKind {
    /// A folder, with what has which name in it.
    Folder(BTreeMap<OsString, Number>),
    /// A file, with what it holds.
    File(Image),
    /// Anything else.
    Other(Kind),
}

/// A file or a folder.
#[derive(Debug, Clone)]
pub struct Node {
    /// Its kind and content.
    pub what: NodeKind,
    /// Its owner and permissions.
    pub rights: Rights,
}

/// Files and folders.
#[derive(Debug, Clone)]
pub struct Tree {
    nodes: BTreeMap<Number, Arc<Node>>,
}

impl Tree {
    /// An empty folder.
    pub fn new(rights: Rights) -> Tree {
        let root = Node { what: NodeKind::Folder(BTreeMap::new()), rights };
        Tree { nodes: [(ROOT, Arc::new(root))].into() }
    }

    /// Something by its number.
    pub fn node(&self, number: Number) -> Option<&Node> {
        self.nodes.get(&number).map(Arc::as_ref)
    }

    /// The node that has a name in a folder.
    pub fn named(&self, folder: Number, name: &OsStr) -> Option<Number> {
        self.names(folder)?.get(name).copied()
    }

    /// All names in a folder.
    pub fn names(&self, folder: Number) -> Option<&BTreeMap<OsString, Number>> {
        match &self.node(folder)?.what {
            NodeKind::Folder(names) => Some(names),
            _ => None,
        }
    }

    /// A number that nothing has.
    pub fn fresh(&self) -> Number {
        self.nodes.last_key_value().map_or(FIRST, |(&last, _)| FIRST.max(last + 1))
    }

    /// Does something. What has no object, since a cut took that, does nothing.
    pub fn apply(&mut self, op: &Op) {
        match op {
            Op::Make(number, kind, rights) => {
                let what = match kind {
                    Kind::Folder => NodeKind::Folder(BTreeMap::new()),
                    Kind::File => NodeKind::File(Image::default()),
                    other => NodeKind::Other(other.clone()),
                };
                self.nodes.insert(*number, Arc::new(Node { what, rights: *rights }));
            }
            Op::Rights(number, rights) => {
                self.change(*number, |node| node.rights = *rights);
            }
            Op::Name { folder, name, node } => self.name(*folder, name, *node),
            Op::Move { from, to, node } => {
                if self.named(from.0, &from.1) == Some(*node) {
                    self.name(from.0, &from.1, None);
                }
                self.name(to.0, &to.1, Some(*node));
            }
            Op::Write { node, offset, bytes } => self.write(*node, *offset, bytes),
            Op::Length(node, length) => self.content(*node, |image| image.set_length(*length)),
            Op::Sync(_) => {}
        }
    }

    /// Writes bytes to a file.
    pub fn write(&mut self, number: Number, offset: u64, bytes: &[u8]) {
        self.content(number, |image| image.put(offset, bytes));
    }

    /// Makes a file at least so long.
    pub fn grow(&mut self, number: Number, length: u64) {
        self.content(number, |image| image.set_length(image.length().max(length)));
    }

    fn content(&mut self, number: Number, change: impl FnOnce(&mut Image)) {
        self.change(number, |node| {
            if let NodeKind::File(image) = &mut node.what {
                change(image);
            }
        });
    }

    fn name(&mut self, folder: Number, name: &OsStr, node: Option<Number>) {
        self.change(folder, |folder| {
            let NodeKind::Folder(names) = &mut folder.what else { return };
            match node {
                Some(node) => names.insert(name.to_owned(), node),
                None => names.remove(name),
            };
        });
    }

    fn change(&mut self, number: Number, change: impl FnOnce(&mut Node)) {
        if let Some(node) = self.nodes.get_mut(&number) {
            change(Arc::make_mut(node));
        }
    }

    /// A digest of all that can be seen from the root.
    pub fn digest(&self) -> u128 {
        let mut hasher = DefaultHasher::new();
        self.hash(ROOT, &mut hasher);
        u128::from(hasher.finish())
    }

    fn hash(&self, number: Number, hasher: &mut DefaultHasher) {
        match self.node(number).map(|node| &node.what) {
            None => 0.hash(hasher),
            Some(NodeKind::Folder(names)) => {
                names.len().hash(hasher);
                for (name, &number) in names {
                    name.hash(hasher);
                    self.hash(number, hasher);
                }
            }
            Some(NodeKind::File(image)) => (image.length(), image.digest()).hash(hasher),
            Some(NodeKind::Other(kind)) => format!("{kind:?}").hash(hasher),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RIGHTS: Rights = Rights { mode: 0o755, uid: 0, gid: 0 };

    fn name(name: &str, node: Option<Number>) -> Op {
        Op::Name { folder: ROOT, name: name.into(), node }
    }

    #[test]
    fn files_are_written_and_read_again() {
        let place = tempfile::tempdir().unwrap();
        let mut tree = Tree::new(Rights {
            uid: nix::unistd::getuid().as_raw(),
            gid: nix::unistd::getgid().as_raw(),
            ..RIGHTS
        });
        let rights = tree.node(ROOT).unwrap().rights;
        let file = tree.fresh();
        let long = vec![7; 10_000];
        for op in [
            Op::Make(file, Kind::File, rights),
            name("draft", Some(file)),
            Op::Write { node: file, offset: 5000, bytes: long.clone() },
            Op::Length(file, 9000),
            Op::Move { from: (ROOT, "draft".into()), to: (ROOT, "final".into()), node: file },
            Op::Make(file + 1, Kind::Folder, rights),
            name("folder", Some(file + 1)),
            Op::Make(file + 2, Kind::Link("final".into()), rights),
            Op::Name { folder: file + 1, name: "link".into(), node: Some(file + 2) },
        ] {
            tree.apply(&op);
        }
        tree.put_into(place.path()).unwrap();
        let bytes = std::fs::read(place.path().join("final")).unwrap();
        assert_eq!((bytes.len(), &bytes[4990..5010]), (9000, &[[0; 10], [7; 10]].concat()[..]));
        assert!(!place.path().join("draft").exists());
        assert_eq!(
            std::fs::read_link(place.path().join("folder/link")).unwrap(),
            std::path::Path::new("final")
        );
        let again = Tree::of(place.path()).unwrap();
        assert_eq!(again.digest(), tree.digest());
        tree.apply(&Op::Write { node: file, offset: 0, bytes: vec![1] });
        assert_ne!(again.digest(), tree.digest());
    }

    #[test]
    fn what_lost_its_object_does_nothing() {
        let mut tree = Tree::new(RIGHTS);
        let before = tree.digest();
        for op in
            [Op::Write { node: 99, offset: 0, bytes: vec![1] }, Op::Length(99, 5), name("nothing", None)]
        {
            tree.apply(&op);
        }
        assert_eq!(tree.digest(), before);
    }
}
