//! Data that are damaged after the work was done: a bit is flipped, or a block cannot be read. Does the subject report it,
//! or does it answer wrongly without an error?
//!
//! This is no test of durability: only an engine with checksums can notice a flipped bit.

mod extents;

use std::collections::BTreeSet;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use anyhow::{Context, Result};
use dyno_files::{HeldFolder, writable};
use dyno_record::{Corruption, Damage};
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

use crate::content::Content;
use crate::context::{ProofContext, StorageKind};
use crate::cuts::{Cut, KeptWrites, Replay, Why};
use crate::disk::faults::{BLOCK, Fault};
use crate::disk::files::System;
use crate::disk::log::Entry;
use crate::history::History;
use crate::image::Image;
use crate::judge::judge_at;
use crate::subject::{Contents, Subject};
use extents::Block;

/// The number of bits that are flipped, each on another copy of the disk.
const FLIPS: usize = 10;
/// The number of blocks that cannot be read, each on another copy of the disk.
const UNREADABLE: usize = 5;

impl ProofContext {
    /// Damages what a subject left at the end of its work, in one place at a time, and looks at it; nothing where no block
    /// of its files is known.
    pub(crate) fn corrupt(
        &self,
        subject: &dyn Subject,
        (base, history): (&Content, &History),
        seed: u64,
    ) -> Result<Option<Corruption>> {
        let StorageKind::Disk(system) = self.storage else { return Ok(None) };
        let end = Cut { place: history.entries().len(), kept: KeptWrites::All, why: Why::Flushed };
        let content = Replay::new(history.entries(), base.clone()).content(&end);
        let Content::Disk(image) = &content else { return Ok(None) };
        let stand = self.stand(&content)?;
        let mut blocks = extents::blocks(stand.folder());
        stand.end()?;
        let written = written(history);
        // The numbers of Btrfs are not those of its device.
        blocks.retain(|block| system == System::Btrfs || written.contains(&(block.on_disk / BLOCK)));
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        blocks.shuffle(&mut random);
        let mut corruption = Corruption::default();
        for block in blocks.iter().cycle().take(if blocks.is_empty() { 0 } else { FLIPS }) {
            self.interrupts.check()?;
            let Some(flip) = draw(block, image, system, &mut random) else { continue };
            let stand = self.stand(&content)?;
            apply(&flip, stand.folder(), &block.file)?;
            let found = subject.check(stand.folder());
            stand.end()?;
            count(&mut corruption.flips, subject, history, found);
        }
        let unreadable = if system == System::Btrfs { 0 } else { UNREADABLE };
        for block in blocks.iter().rev().take(unreadable) {
            self.interrupts.check()?;
            let disk = self.recorded(&content, Some(Fault::Unreadable { offset: block.on_disk }))?;
            let found = subject.check(disk.folder()?);
            disk.finish()?;
            count(&mut corruption.unreadable, subject, history, found);
        }
        self.interrupts.check()?;
        Ok((corruption.flips.tried + corruption.unreadable.tried > 0).then_some(corruption))
    }
}

/// Adds what was found; nothing where that could not be looked at.
fn count(damage: &mut Damage, subject: &dyn Subject, history: &History, found: Result<Contents>) {
    let Ok(found) = found else { return };
    if found.late.is_some() {
        return;
    }
    let losses = judge_at(subject, history, history.entries().len(), &found);
    damage.tried += 1;
    match losses.broken.is_empty() {
        _ if found.is_noticed => damage.noticed += 1,
        false => damage.wrong += 1,
        true => damage.gone += u64::from(!losses.lost.is_empty()),
    }
}

/// The blocks of the disk that were written since the work began, by their numbers.
fn written(history: &History) -> BTreeSet<u64> {
    let entries = &history.entries()[history.places(true).start..];
    let mut written = BTreeSet::new();
    for entry in entries {
        if let Entry::Write { offset, bytes } = entry {
            written.extend(offset / BLOCK..(offset + bytes.len() as u64).div_ceil(BLOCK));
        }
    }
    written
}

/// A bit of a file.
struct Flip {
    offset: u64,
    bit: u8,
}

/// Draws a bit of a block: of a byte that is not zero, since most others are not in use. Where the position of the block on
/// the disk is not known, any byte is taken.
fn draw(block: &Block, image: &Image, system: System, random: &mut ChaCha8Rng) -> Option<Flip> {
    let bytes = image.bytes(block.on_disk, BLOCK as usize);
    let is_known = system != System::Btrfs;
    let used: Vec<usize> = (0..bytes.len()).filter(|&place| !is_known || bytes[place] != 0).collect();
    let place = used.get(random.random_range(0..used.len().max(1)))?;
    Some(Flip { offset: block.in_file + *place as u64, bit: random.random_range(0..8) })
}

fn apply(flip: &Flip, folder: &Path, file: &Path) -> Result<()> {
    let flip_bit = || -> io::Result<()> {
        let file = writable(&HeldFolder::open(folder)?.file(file)?)?;
        let mut byte = [0];
        file.read_exact_at(&mut byte, flip.offset)?;
        file.write_all_at(&[byte[0] ^ (1 << flip.bit)], flip.offset)
    };
    flip_bit().with_context(|| format!("cannot damage {}", folder.join(file).display()))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_file_is_damaged_and_not_what_a_link_in_its_place_leads_to() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        fs::create_dir_all(path("data/inner")).unwrap();
        fs::write(path("precious"), "a").unwrap();
        fs::write(path("data/inner/file"), "a").unwrap();
        symlink(path("precious"), path("data/link")).unwrap();
        symlink(path(""), path("data/up")).unwrap();
        let damage = |file: &str| apply(&Flip { offset: 0, bit: 1 }, &path("data"), Path::new(file));
        damage("inner/file").unwrap();
        assert_eq!(fs::read_to_string(path("data/inner/file")).unwrap(), "c");
        for planted in ["link", "up/precious"] {
            damage(planted).unwrap_err();
        }
        assert_eq!(fs::read_to_string(path("precious")).unwrap(), "a");
    }
}
