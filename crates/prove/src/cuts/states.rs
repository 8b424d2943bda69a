//! The states in which a power cut may leave a disk.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt;

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use super::Cut;
use crate::content::Content;
use crate::disk::log::Entry;
use crate::tree::Op;

/// The writes that are kept of those that no flush followed, which are counted from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeptWrites {
    /// Nothing.
    None,
    /// Everything.
    All,
    /// The first writes, as many as this number.
    First(usize),
    /// All but this one.
    Without(usize),
    /// Each or not, by a seed.
    Some(u64),
    /// All before this one; of this one some sectors, by a seed.
    Torn {
        /// The write.
        write: usize,
        /// The length of the sectors that the device writes whole, in bytes.
        sector: usize,
        /// The seed that selects the sectors.
        seed: u64,
    },
    /// All before this one; of this one the sectors before the one at which the device stopped, which holds neither the old
    /// content nor the new. SQLite's tests of crashes leave such sectors, and M. Zheng and others saw them on solid-state
    /// drives (Understanding the Robustness of SSDs under Power Fault, FAST 2013).
    Garbage {
        /// The write.
        write: usize,
        /// The length of the sectors, in bytes.
        sector: usize,
        /// The seed that selects the sector and fills it.
        seed: u64,
    },
}

impl fmt::Display for KeptWrites {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        match self {
            KeptWrites::None => write!(to, "only what was flushed"),
            KeptWrites::All => write!(to, "everything that was written"),
            KeptWrites::First(count) => write!(to, "{count} of the writes that were not flushed, the first"),
            KeptWrites::Without(one) => write!(to, "all writes that were not flushed but number {}", one + 1),
            KeptWrites::Some(_) => write!(to, "some of the writes that were not flushed"),
            KeptWrites::Torn { write, sector, .. } => write!(
                to,
                "{write} of the writes that were not flushed and some sectors of {sector} bytes of the next one"
            ),
            KeptWrites::Garbage { write, sector, .. } => write!(
                to,
                "{write} of the writes that were not flushed and the first sectors of {sector} bytes of the next one, with garbage in the last of them"
            ),
        }
    }
}

/// The lengths of sectors.
const SECTORS: [usize; 2] = [512, 4096];

/// The entries before a place that may be lost: no flush followed before it, or none of what they changed.
pub fn unflushed(entries: &[Entry], place: usize) -> Vec<usize> {
    let (mut pending, mut synced) = (Vec::new(), HashSet::new());
    for index in (durable(entries, place)..place).rev() {
        let is_pending = match &entries[index] {
            Entry::Write { .. } => true,
            Entry::File(Op::Sync(node)) => {
                synced.insert(*node);
                false
            }
            Entry::File(op) => !op.homes().iter().all(|home| synced.contains(home)),
            Entry::Flush | Entry::Text(_) | Entry::Refused => false,
        };
        pending.extend(is_pending.then_some(index));
    }
    pending.reverse();
    pending
}

/// The number of entries, from the first, that a flush before a position made durable.
pub fn durable(entries: &[Entry], place: usize) -> usize {
    entries[..place].iter().rposition(|entry| *entry == Entry::Flush).map_or(0, |index| index + 1)
}

/// A state at random, of a kind at random.
pub fn any(writes: &[usize], entries: &[Entry], random: &mut ChaCha8Rng) -> KeptWrites {
    if writes.is_empty() {
        return KeptWrites::None;
    }
    let one = random.random_range(0..writes.len());
    match random.random_range(0..8) {
        0 => KeptWrites::None,
        1 => KeptWrites::All,
        2 => KeptWrites::First(one + 1),
        3 => KeptWrites::Without(one),
        4 => KeptWrites::Some(random.random()),
        _ => torn(writes, entries, random).unwrap_or(KeptWrites::First(one + 1)),
    }
}

/// True if a write is longer than the shortest sector, so that it can be torn.
pub fn can_be_torn(entry: &Entry) -> bool {
    entry.written().is_some_and(|bytes| bytes > SECTORS[0])
}

/// The first bytes of the blocks with which ext4 describes and commits a transaction of its journal.
const JOURNAL: [u8; 4] = [0xC0, 0x3B, 0x39, 0x98];

/// True if a write changes several sectors, of which one held something: some may keep the old content while others get
/// the new. A torn write of ext4 to its journal before it commits is never read.
pub fn is_rewritten(before: &Content, entry: &Entry) -> bool {
    let (Content::Disk(image), Entry::Write { offset, bytes }) = (before, entry) else { return true };
    let old = image.bytes(*offset, bytes.len());
    let pairs = old.chunks(SECTORS[0]).zip(bytes.chunks(SECTORS[0]));
    let changed: Vec<&[u8]> = pairs.filter(|(old, new)| old != new).map(|(old, _)| old).collect();
    let is_old = |sector: &&[u8]| sector.iter().any(|&byte| byte != 0);
    changed.len() > 1 && changed.iter().any(is_old) && !bytes.starts_with(&JOURNAL)
}

/// A write of a number, torn.
pub fn tear(write: usize, random: &mut ChaCha8Rng) -> KeptWrites {
    KeptWrites::Torn { write, sector: SECTORS[random.random_range(0..SECTORS.len())], seed: random.random() }
}

/// One of the writes that are longer than a sector, torn; none if no write is.
fn torn(writes: &[usize], entries: &[Entry], random: &mut ChaCha8Rng) -> Option<KeptWrites> {
    let sector = SECTORS[random.random_range(0..SECTORS.len())];
    let is_longer = |write: &usize| entries[writes[*write]].written().is_some_and(|bytes| bytes > sector);
    let longer: Vec<usize> = (0..writes.len()).filter(is_longer).collect();
    if longer.is_empty() {
        return None;
    }
    Some(KeptWrites::Torn {
        write: longer[random.random_range(0..longer.len())],
        sector,
        seed: random.random(),
    })
}

/// The disk as cuts leave it, for cuts in the order of their places.
#[derive(Debug)]
pub struct Replay<'a> {
    entries: &'a [Entry],
    /// With everything that was flushed before the last cut.
    content: Content,
    /// The number of entries that it holds.
    done: usize,
}

impl<'a> Replay<'a> {
    /// From the disk before the first entry.
    pub fn new(entries: &'a [Entry], base: Content) -> Replay<'a> {
        Replay { entries, content: base, done: 0 }
    }

    /// The disk after a cut, whose place is not before that of the last one.
    pub fn content(&mut self, cut: &Cut) -> Content {
        let flushed = durable(self.entries, cut.place).max(self.done);
        for entry in &self.entries[self.done..flushed] {
            self.content.apply(entry);
        }
        self.done = flushed;
        let mut content = self.content.clone();
        let pending = unflushed(self.entries, cut.place);
        let mut number = 0;
        // In their order: what is durable of files may be younger than what is not.
        for (index, entry) in self.entries[..cut.place].iter().enumerate().skip(flushed) {
            let is_pending = pending.get(number) == Some(&index);
            match cut.kept {
                _ if !is_pending || cut.kept.keeps(number) => content.apply(entry),
                KeptWrites::Torn { write, sector, seed } if write == number => {
                    let mut random = ChaCha8Rng::seed_from_u64(seed);
                    content.tear(entry, sector, |_, new| random.random::<bool>().then(|| new.to_vec()));
                }
                KeptWrites::Garbage { write, sector, seed } if write == number => {
                    stop_within(&mut content, entry, sector, seed);
                }
                _ => {}
            }
            number += usize::from(is_pending);
        }
        content
    }
}

/// Does a write up to one of its sectors, which is then filled with garbage.
fn stop_within(content: &mut Content, entry: &Entry, sector: usize, seed: u64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let sectors = entry.written().unwrap_or_default().div_ceil(sector).max(1);
    let stop = random.random_range(0..sectors);
    content.tear(entry, sector, |number, new| match number.cmp(&stop) {
        Ordering::Less => Some(new.to_vec()),
        Ordering::Equal => Some(new.iter().map(|_| random.random()).collect()),
        Ordering::Greater => None,
    });
}

impl KeptWrites {
    /// True if the write of a number is there as a whole.
    fn keeps(&self, number: usize) -> bool {
        match *self {
            KeptWrites::None => false,
            KeptWrites::All => true,
            KeptWrites::First(count) => number < count,
            KeptWrites::Without(one) => number != one,
            KeptWrites::Some(seed) => ChaCha8Rng::seed_from_u64(seed.wrapping_add(number as u64)).random(),
            KeptWrites::Torn { write, .. } | KeptWrites::Garbage { write, .. } => number < write,
        }
    }
}
