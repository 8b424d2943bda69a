//! Power cuts: the states in which each could leave the disk, and which of them are tried.
//!
//! All that was written before the last flush that ended is there. Of what was written after it, a device may have kept
//! anything: nothing, all, the first few, all but one, any subset, and of one write some of its sectors.

mod states;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

use crate::content::Content;
use crate::history::History;
pub use states::{KeptWrites, Replay, durable, unflushed};

/// One state after a cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// The number of entries of the log that came before it.
    pub place: usize,
    /// The unflushed writes that are there.
    pub kept: KeptWrites,
    /// The reason why it is tried.
    pub why: Why,
}

/// The reason why a cut is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// It stands for all moments between two flushes, and keeps nothing that was not flushed.
    Flushed,
    /// It comes right after an acknowledgement and keeps nothing that was not flushed.
    Acknowledged,
    /// It tears a write of upkeep right before that is flushed.
    Torn,
    /// Its place and its state were drawn from all.
    Drawn,
    /// It tears a write and leaves garbage in the sector at which it stopped, which no device that writes sectors whole
    /// does.
    Garbage,
}

impl Cut {
    /// True if it was drawn: the share of such cuts that do harm can be estimated.
    pub fn is_drawn(&self) -> bool {
        !matches!(self.why, Why::Flushed | Why::Garbage)
    }
}

/// The number of candidates for each cut that is tried.
const CANDIDATES: usize = 4;

/// The number of cuts of a history that are tried.
#[derive(Debug, Clone, Copy)]
pub struct Count {
    /// Cuts in all, unless `flushes` is more than half of them.
    pub all: usize,
    /// The most of those that come between two flushes.
    pub flushes: usize,
    /// Cuts that leave garbage where they tear a write, besides all others.
    pub garbage: usize,
    /// The seed of what is drawn.
    pub seed: u64,
}

/// Chooses cuts whose disks differ, in the order of their places.
///
/// First, one after each flush and one at the end, which keep nothing that was not flushed; where these are too many,
/// those of upkeep and the last go before the others. Of the rest a half tears a write of upkeep right before it is
/// flushed, a quarter comes right after an acknowledgement and keeps nothing that was not flushed either, and the
/// others come anywhere and are of all kinds. Those that leave garbage come on top, each where another could tear a
/// write. The same seed makes the same choice. There are fewer if fewer different disks exist.
pub fn choose(history: &History, base: &Content, from_start: bool, count: Count) -> Vec<Cut> {
    let mut random = ChaCha8Rng::seed_from_u64(count.seed);
    let mut candidates = flushed(history, from_start, count.flushes, &mut random);
    let strict = |&place: &usize| Cut { place, kept: KeptWrites::None, why: Why::Acknowledged };
    candidates.extend(history.acknowledgements().iter().map(strict));
    if count.all > 0 {
        candidates.extend(torn_in_upkeep(history, base, from_start, CANDIDATES * count.all, &mut random));
        candidates.extend(anywhere(history, from_start, CANDIDATES * count.all, &mut random));
    }
    let mut different = differing(candidates, history, base);
    different.shuffle(&mut random);
    let of = |why: Why| different.iter().filter(move |cut| cut.why == why).cloned();
    let mut chosen: Vec<Cut> = of(Why::Flushed).collect();
    let room = count.all.saturating_sub(chosen.len()).max(count.all.div_ceil(2));
    let (half, quarter) = (room.div_ceil(2), room.div_ceil(4));
    let mut drawn: Vec<Cut> = of(Why::Torn).take(half).collect();
    drawn.extend(of(Why::Acknowledged).take(quarter));
    drawn.extend(of(Why::Drawn));
    // If one kind has too few, the others make up for it.
    drawn.extend(of(Why::Acknowledged).skip(quarter).chain(of(Why::Torn).skip(half)));
    drawn.truncate(room);
    chosen.extend(drawn);
    chosen.extend(different.iter().filter_map(with_garbage).take(count.garbage));
    chosen.sort_by_key(|cut| cut.place);
    chosen
}

/// The cut that stops within the write that another tears, and leaves garbage there.
fn with_garbage(cut: &Cut) -> Option<Cut> {
    let KeptWrites::Torn { write, sector, seed } = cut.kept else { return None };
    Some(Cut { kept: KeptWrites::Garbage { write, sector, seed }, why: Why::Garbage, place: cut.place })
}

/// The strict cuts between two flushes, `most` at most.
fn flushed(history: &History, from_start: bool, most: usize, random: &mut ChaCha8Rng) -> Vec<Cut> {
    let mut places = history.between_flushes(from_start);
    let end = places.last().copied();
    let upkeep = history.upkeep();
    places.shuffle(random);
    let is_kept_up = |place: usize| upkeep.iter().any(|one| one.range.contains(&place));
    places.sort_by_key(|&place| (Some(place) != end, !is_kept_up(place)));
    places.truncate(most);
    places.into_iter().map(|place| Cut { place, kept: KeptWrites::None, why: Why::Flushed }).collect()
}

/// Cuts right before flushes of upkeep, each with one of the writes torn that the flush is for: three in four are
/// writes over what was there.
fn torn_in_upkeep(
    history: &History,
    base: &Content,
    from_start: bool,
    most: usize,
    random: &mut ChaCha8Rng,
) -> Vec<Cut> {
    let (entries, places) = (history.entries(), history.places(from_start));
    let upkeep = history.upkeep();
    let within = upkeep.iter().flat_map(|one| one.range.clone()).filter(|place| places.contains(place));
    let flushes: BTreeSet<usize> = within.filter(|&place| entries[place].is_flush()).collect();
    let mut roll = Replay::new(entries, base.clone());
    let (mut rewritten, mut others) = (Vec::new(), Vec::new());
    for place in flushes {
        let before = roll.content(&Cut { place, kept: KeptWrites::None, why: Why::Torn });
        for (number, index) in states::unflushed(entries, place).into_iter().enumerate() {
            match states::can_be_torn(&entries[index]) {
                true if states::is_rewritten(&before, &entries[index]) => rewritten.push((place, number)),
                true => others.push((place, number)),
                false => {}
            }
        }
    }
    let pools: Vec<_> =
        [&rewritten, &rewritten, &rewritten, &others].into_iter().filter(|pool| !pool.is_empty()).collect();
    let cut = |number: usize| {
        let pool = pools[number % pools.len()];
        let (place, write) = pool[random.random_range(0..pool.len())];
        Cut { place, kept: states::tear(write, random), why: Why::Torn }
    };
    (0..if pools.is_empty() { 0 } else { most }).map(cut).collect()
}

/// Cuts of all kinds at any place.
fn anywhere(history: &History, from_start: bool, many: usize, random: &mut ChaCha8Rng) -> Vec<Cut> {
    let places: Vec<usize> = history.places(from_start).collect();
    let mut cut = || {
        let place = places[random.random_range(0..places.len())];
        let kept = states::any(&states::unflushed(history.entries(), place), history.entries(), random);
        Cut { place, kept, why: Why::Drawn }
    };
    (0..if places.is_empty() { 0 } else { many }).map(|_| cut()).collect()
}

/// Those whose disks no other one has with the same promises: of those that are alike, one after a flush goes before
/// one that was drawn, which may not be tried.
fn differing(mut candidates: Vec<Cut>, history: &History, base: &Content) -> Vec<Cut> {
    candidates.sort_by_key(|cut| (cut.place, cut.why));
    let mut roll = Replay::new(history.entries(), base.clone());
    let mut promises: BTreeMap<usize, usize> = BTreeMap::new();
    let disk = |cut: Cut| {
        let promised = *promises.entry(cut.place).or_insert_with(|| history.promised(cut.place).len());
        ((promised, roll.content(&cut).digest()), cut)
    };
    let mut disks: Vec<_> = candidates.into_iter().map(disk).collect();
    disks.sort_by_key(|(_, cut)| cut.why != Why::Flushed);
    let mut seen = HashSet::new();
    disks.retain(|(disk, _)| seen.insert(*disk));
    disks.into_iter().map(|(_, cut)| cut).collect()
}

#[cfg(test)]
mod tests;
