//! Power cuts: the states in which each could leave the disk, and which of them are tried.
//!
//! What was written before the last flush that ended is there. Of what was written after it, a device may have kept
//! anything: nothing, all, the first few, all but one, any subset, and of one write some of its sectors.

mod states;

use std::collections::{BTreeMap, HashSet};

use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

use crate::content::Content;
use crate::history::History;
pub use states::{Kept, Roll, unflushed};

/// One state after a cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// How many entries of the log came before it.
    pub place: usize,
    /// What of the writes that were not flushed is there.
    pub kept: Kept,
    /// It comes right after an acknowledgement and keeps nothing that was not flushed.
    pub is_strict: bool,
    /// Its place and state were drawn: of such cuts a share that does harm can be estimated.
    pub is_drawn: bool,
}

/// How many candidates there are for each cut that is tried.
const CANDIDATES: usize = 4;

/// How many cuts of a history are tried.
#[derive(Debug, Clone, Copy)]
pub struct Count {
    /// Cuts in all, unless `flushes` is more than half of them.
    pub all: usize,
    /// The most of those that come between two flushes.
    pub flushes: usize,
    /// The seed of what is drawn.
    pub seed: u64,
}

/// Chooses cuts whose disks differ, in the order of their places.
///
/// First, one after each flush and one at the end, which keep nothing that was not flushed; where these are too many, those
/// of upkeep and the last go before the others. Of the rest a half comes right after an acknowledgement and keeps nothing
/// that was not flushed either, a quarter comes within upkeep, and the others anywhere, of all kinds. The same seed makes the
/// same choice. There are fewer where there are not so many different disks.
pub fn choose(history: &History, base: &Content, from_start: bool, count: Count) -> Vec<Cut> {
    let mut random = ChaCha8Rng::seed_from_u64(count.seed);
    let upkeep = history.upkeep();
    let mut flushed = history.between_flushes(from_start);
    flushed.shuffle(&mut random);
    let is_kept_up = |place: usize| upkeep.iter().any(|one| one.range.contains(&place));
    let end = history.places(from_start).end;
    flushed.sort_by_key(|&place| (place != end, !is_kept_up(place)));
    flushed.truncate(count.flushes);
    let acknowledgements = history.acknowledgements();
    let strict = |place: usize, is_drawn| Cut {
        place,
        kept: Kept::None,
        is_strict: acknowledgements.contains(&place),
        is_drawn,
    };
    let mut candidates: Vec<Cut> = flushed.iter().map(|&place| strict(place, false)).collect();
    candidates.extend(acknowledgements.iter().map(|&place| strict(place, true)));
    let places: Vec<usize> = history.places(from_start).collect();
    let rare: Vec<usize> = places.iter().copied().filter(|&place| is_kept_up(place)).collect();
    for number in 0..if places.is_empty() { 0 } else { CANDIDATES * count.all } {
        let among = if number % 2 == 0 && !rare.is_empty() { &rare } else { &places };
        let place = among[random.random_range(0..among.len())];
        let kept = states::any(&states::unflushed(history.entries(), place), history.entries(), &mut random);
        candidates.push(Cut { place, kept, is_strict: false, is_drawn: true });
    }
    let mut different = differing(candidates, history, base);
    different.shuffle(&mut random);
    let (mut chosen, drawn): (Vec<Cut>, Vec<Cut>) = different.into_iter().partition(|cut| !cut.is_drawn);
    let room = count.all.saturating_sub(chosen.len()).max(count.all / 2);
    let (strict, others): (Vec<Cut>, Vec<Cut>) = drawn.into_iter().partition(|cut| cut.is_strict);
    let half = strict.len().min(room.div_ceil(2)).max(room.saturating_sub(others.len()).min(strict.len()));
    chosen.extend(strict.into_iter().take(half));
    chosen.extend(others.into_iter().take(room - half));
    chosen.sort_by_key(|cut| cut.place);
    chosen
}

/// Those whose disks no earlier one has with the same promises.
fn differing(mut candidates: Vec<Cut>, history: &History, base: &Content) -> Vec<Cut> {
    // Those that are not drawn come first at their place, and then the strict ones, so that they are kept.
    candidates.sort_by_key(|cut| (cut.place, cut.is_drawn, !cut.is_strict));
    let mut seen = HashSet::new();
    let mut roll = Roll::new(history.entries(), base.clone());
    let mut promises: BTreeMap<usize, usize> = BTreeMap::new();
    candidates.retain(|cut| {
        let promised = *promises.entry(cut.place).or_insert_with(|| history.promised(cut.place).len());
        seen.insert((promised, roll.content(cut).digest()))
    });
    candidates
}

#[cfg(test)]
mod tests;
