//! The disks of nodes, whose power is cut at once: each is recorded, and afterwards holds what was flushed before the cut.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use crate::context::{ProofContext, StorageKind};
use crate::cuts;
use crate::disk::Disk;
use crate::disk::files::{self, Mounted, System};
use crate::disk::log::Entry;
use crate::image::Image;
use crate::phase::PhaseMarker;

/// The disks of all nodes, in their order. Drop them after the servers on them.
pub struct NodeDisks {
    nodes: Vec<NodeDisk>,
    /// The content of each when it was new.
    base: Image,
    system: System,
}

/// One of them. Its fields are dropped in this order.
struct NodeDisk {
    /// The disk before the cut, whose writes and flushes are recorded.
    recorded: Option<Disk>,
    /// The one after the cut, which has what was kept.
    _kept: Option<Mounted>,
    folder: PathBuf,
    place: TempDir,
}

impl NodeDisks {
    /// Makes an empty disk for each of a number of nodes.
    ///
    /// # Errors
    /// The place has no disks, or the system refuses one.
    pub fn new(context: &ProofContext, nodes: usize) -> Result<NodeDisks> {
        let StorageKind::Disk(system) = context.storage else {
            bail!("the power of nodes is cut of disks, and not of {}", context.storage.name());
        };
        let base = empty(system, &context.place)?;
        let mut disks = NodeDisks { nodes: Vec::new(), base, system };
        for number in 1..=nodes {
            let place = tempfile::Builder::new().prefix("node-").tempdir_in(&context.place)?;
            let folder = context.place.join(format!("disk-{number}"));
            let others = disks.mounts();
            let content = (system, &disks.base);
            let disk = Disk::new(&context.recorder, content, None, (place.path(), &folder), &others)
                .with_context(|| format!("cannot make the disk of node {number}"))?;
            disks.nodes.push(NodeDisk { recorded: Some(disk), _kept: None, folder, place });
        }
        Ok(disks)
    }

    fn mounts(&self) -> Vec<PathBuf> {
        self.nodes.iter().filter_map(|node| node.recorded.as_ref()).flat_map(Disk::mounts).collect()
    }

    /// The folders of the disks.
    pub fn folders(&self) -> Vec<PathBuf> {
        self.nodes.iter().map(|node| node.folder.clone()).collect()
    }

    /// Cuts the power of all: from here on nothing is kept. The first node is cut last: what it sent to the others, as a
    /// leader does, it then has too. Returns the time between the cut of the first disk and that of the last.
    ///
    /// # Errors
    /// A recorder does not answer.
    pub fn cut(&self) -> Result<Duration> {
        let mut outputs = Vec::new();
        for node in self.nodes.iter().rev() {
            let disk = node.recorded.as_ref().context("the power was cut before")?;
            outputs.push(disk.output()?);
        }
        let begin = Instant::now();
        outputs.iter().try_for_each(|output| PhaseMarker::Ends.set(output))?;
        Ok(begin.elapsed())
    }

    /// Replaces what is on the disks by what each kept, after all processes on them have ended. Returns the number of writes
    /// that are gone.
    ///
    /// # Errors
    /// A process still uses one, or a recorder died meanwhile.
    pub fn restore(&mut self) -> Result<u64> {
        let mut gone = 0;
        for (node, number) in self.nodes.iter_mut().zip(1..) {
            let disk = node.recorded.take();
            let disk = disk.with_context(|| format!("the power of node {number} was not cut"))?;
            let restored = disk.finish().and_then(|entries| node.restore(self.system, &self.base, &entries));
            gone += restored.with_context(|| format!("cannot cut the power of node {number}"))?;
        }
        Ok(gone)
    }
}

impl NodeDisk {
    /// Mounts what was flushed before the cut.
    fn restore(&mut self, system: System, base: &Image, entries: &[Entry]) -> Result<u64> {
        let place = PhaseMarker::Ends.place(entries).context("the recorder has no mark of the cut")?;
        // There is room for the next ones.
        for name in ["disk", "log"] {
            fs::remove_file(self.place.path().join(name))?;
        }
        let kept = self.place.path().join("kept");
        keep(base, &entries[..cuts::durable(entries, place)], &kept)
            .with_context(|| format!("cannot write {}", kept.display()))?;
        self._kept = Some(Mounted::new(system, &kept, &self.folder, self.place.path())?);
        Ok(cuts::unflushed(entries, place).len() as u64)
    }
}

/// Writes the content of a disk after these entries to a file.
fn keep(base: &Image, entries: &[Entry], path: &Path) -> std::io::Result<()> {
    let file = File::create_new(path)?;
    base.write(&file)?;
    entries.iter().try_for_each(|entry| match entry {
        Entry::Write { offset, bytes } => file.write_all_at(bytes, *offset),
        _ => Ok(()),
    })
}

/// An empty file system.
fn empty(system: System, place: &Path) -> Result<Image> {
    let made = tempfile::Builder::new().prefix("empty-").tempdir_in(place)?;
    let file = made.path().join("disk");
    files::make(system, &file)?;
    Image::read(&File::open(&file)?).context("cannot read an empty disk")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_keeps_what_was_flushed_before_the_cut() {
        let write = |offset, byte| Entry::Write { offset, bytes: vec![byte; 4096] };
        let cut = Entry::Text(PhaseMarker::Ends.text().to_owned());
        let entries =
            [write(0, 1), write(4096, 2), Entry::Flush, write(0, 3), cut, write(4096, 4), Entry::Flush];
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kept");
        let place = PhaseMarker::Ends.place(&entries).unwrap();
        keep(&Image::default(), &entries[..cuts::durable(&entries, place)], &path).unwrap();
        let bytes = fs::read(&path).unwrap();
        assert_eq!((bytes.len(), bytes[0], bytes[4096]), (8192, 1, 2));
        assert_eq!(cuts::unflushed(&entries, place).len(), 1);
    }
}
