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
}

/// How many candidates there are for each cut that is tried.
const CANDIDATES: usize = 4;

/// Chooses `count` cuts whose disks differ, in the order of their places: up to half of them right after an
/// acknowledgement with nothing kept that was not flushed, the others anywhere and of all kinds. The same seed makes the
/// same choice. There are fewer where there are not so many different disks.
pub fn choose(history: &History, base: &Content, from_start: bool, count: usize, seed: u64) -> Vec<Cut> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let acknowledgements = history.acknowledgements();
    let strict = acknowledgements.iter().map(|&place| Cut { place, kept: Kept::None, is_strict: true });
    let mut candidates: Vec<Cut> = strict.collect();
    let places: Vec<usize> = history.places(from_start).collect();
    for _ in 0..if places.is_empty() { 0 } else { CANDIDATES * count } {
        let place = places[random.random_range(0..places.len())];
        let kept = states::any(&states::unflushed(history.entries(), place), history.entries(), &mut random);
        candidates.push(Cut { place, kept, is_strict: false });
    }
    let mut different = differing(candidates, history, base);
    different.shuffle(&mut random);
    let (strict, others): (Vec<Cut>, Vec<Cut>) = different.into_iter().partition(|cut| cut.is_strict);
    let half = strict.len().min(count.div_ceil(2)).max(count.saturating_sub(others.len()).min(strict.len()));
    let mut chosen: Vec<Cut> = strict.into_iter().take(half).collect();
    chosen.extend(others.into_iter().take(count - chosen.len()));
    chosen.sort_by_key(|cut| cut.place);
    chosen
}

/// Those whose disks no earlier one has with the same promises.
fn differing(mut candidates: Vec<Cut>, history: &History, base: &Content) -> Vec<Cut> {
    // The strict ones come first at their place, so that they are kept.
    candidates.sort_by_key(|cut| (cut.place, !cut.is_strict));
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
