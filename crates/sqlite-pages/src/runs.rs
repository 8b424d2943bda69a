//! Sorted runs of records, and where all of them can be cut so that the parts are merged side by side.

use std::fs::File;
use std::sync::Arc;

use crate::order::Held;
use crate::prefix::Prefix;
use crate::source::{Part, Source};

/// Records that are in order.
pub enum Run {
    /// In memory.
    Held(Arc<Held>),
    /// In a temporary file.
    Spilled(Arc<File>, Spilled),
}

/// The location of a run in a temporary file.
#[derive(Debug, Default)]
pub struct Spilled {
    pub start: u64,
    pub end: u64,
    /// The prefixes of some records, the first among them, and where each begins.
    pub samples: Vec<(Prefix, u64)>,
}

impl Run {
    /// The size of its records, in bytes.
    pub fn bytes(&self) -> u64 {
        match self {
            Run::Held(held) => held.records.bytes() as u64,
            Run::Spilled(_, spilled) => spilled.end - spilled.start,
        }
    }

    /// The prefixes of some records, one in `step` bytes.
    fn samples(&self, step: usize) -> Vec<Prefix> {
        match self {
            Run::Held(held) => {
                let length = held.records.bytes() / held.prefixes.len().max(1);
                held.prefixes.iter().step_by((step / length.max(1)).max(1)).copied().collect()
            }
            Run::Spilled(_, spilled) => spilled.samples.iter().map(|(prefix, _)| *prefix).collect(),
        }
    }

    /// The records whose prefixes are at least `from` and below `to`. A file is read `block` bytes at a time.
    pub fn between(&self, from: Prefix, to: Option<Prefix>, block: usize) -> Source {
        match self {
            Run::Held(held) => {
                let below = |limit| held.prefixes.partition_point(|prefix| *prefix < limit);
                let left = below(from)..to.map_or(held.prefixes.len(), below);
                Source::Memory { held: held.clone(), left }
            }
            Run::Spilled(file, spilled) => {
                // Of equal ones the first may lie before the sample.
                let before = spilled.samples.partition_point(|(prefix, _)| *prefix < from);
                let start = before.checked_sub(1).map_or(spilled.start, |sample| spilled.samples[sample].1);
                Source::File(Part::new(file.clone(), (start, spilled.end), block, from, to))
            }
        }
    }
}

/// The first prefix of each part but the first, if runs are cut into about `parts` parts of about the same length. Each
/// part has at least two records.
pub fn borders(runs: &[Run], parts: usize, step: usize) -> Vec<Prefix> {
    let mut samples: Vec<Prefix> = runs.iter().flat_map(|run| run.samples(step)).collect();
    samples.sort_unstable();
    let (mut borders, mut first) = (Vec::new(), 0);
    for part in 1..parts {
        let border = samples.len() * part / parts;
        let Some(&prefix) = samples.get(border) else { break };
        let start = samples.partition_point(|sample| *sample < prefix);
        if start >= first + 2 && start + 2 <= samples.len() {
            borders.push(prefix);
            first = start;
        }
    }
    borders
}
