//! Classes of contenders that may be ranked with each other: their commits survive the same and hold as much.
//!
//! A level says what an acknowledged commit survives. A hole that is known of it, such as the last commit that a power
//! cut may undo, sets a contender apart from those that have none: to leave it open saves work. For the same reason
//! those whose data are whole after a power cut are no equals of those whose data may then be ruined, at every level.
//!
//! Where many clients work at once, it also matters what their transactions may see of one another: to keep them apart
//! is work. So contenders must have the same isolation there. Clients that are threads of one process are no equals of
//! clients that are processes, as these share no memory; and what arrives at planned times is another question than how much
//! clients do that wait for each other, so the load is a part of the class too.
//!
//! Commits differ too: a store that commits a thousand puts at once waits for the device, or writes its log,
//! a thousand times less often. So the commit size is part of what contenders must have in common, in every run that
//! has a test which contenders cut into commits as their settings say. Where statements say BEGIN and COMMIT
//! themselves, all contenders commit alike.
//!
//! Nodes of a cluster that are far from each other wait longer for each other, so the delay that dyno adds between them
//! is the same within a class.
//!
//! A read that asks nothing but the node at hand, which may have fallen behind, is less work than one that makes sure of the
//! newest. Where the settings of a cluster leave that open, its reads set it apart.
//!
//! Stores are compared with caches that are within a factor of two of each other, and by one standard of tuning: as
//! they come, or by their manuals.
//!
//! It stands with the record and not with the verdict because the lab asks too: those who may be ranked together are
//! measured alike.

use std::cmp::Reverse;

use dyno_protocol::Model;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ContenderRecord, Hole, Isolation, Level, Load, Run, TestRecord, Tuning};

/// The properties that contenders share if they are ranked together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Class {
    /// The events that an acknowledged commit survives.
    pub level: Level,
    /// True if the rest is whole after a power cut. Absent where the level says so: what survives power loss is whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consistent: Option<bool>,
    /// A known hole in the level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hole: Option<Hole>,
    /// The number of nodes that may be lost for good; 0 of a database that is no cluster.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub nodes_lost: u32,
    /// The nanoseconds that dyno adds to each round trip between two nodes; 0 where their frames pass through dyno without
    /// a delay, absent where they do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_delay_ns: Option<u64>,
    /// True if reads may return what was replaced before they began.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stale_reads: bool,
    /// The isolation between transactions; absent in runs without tests in which many clients work at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isolation: Option<Isolation>,
    /// The arrival of operations; absent in runs without mixes that last a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Load>,
    /// True if each client is a separate process there, and not a thread.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub processes: bool,
    /// The size of a commit; absent where the statements of the suite say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commits: Option<Commits>,
    /// The cache that stores manage themselves, where stores are measured. Absent in other runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheClass>,
    /// The standard of tuning, where stores are measured. Absent in other runs, and in files that are older than it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tuning: Option<Tuning>,
}

/// Caches that are alike: none is more than twice as large as another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CacheClass {
    /// None of the store's own: it reads through the kernel's.
    None,
    /// Of at least this many bytes, and at most twice as many.
    From(u64),
}

/// The size of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Commits {
    /// The number of operations.
    Each(u64),
    /// All operations of a test.
    Whole,
}

impl Run {
    /// The arrival of operations in the tests shown in which many clients work; a run has one load.
    pub fn load(&self) -> Option<Load> {
        let load = self.shown_tests().find_map(|test| test.load)?;
        // The first trials of a search measure its scale, and nothing else.
        Some(if self.schedule.sustain.is_some() { Load::Open } else { load })
    }

    /// True if two contenders (by position) may be ranked together. A contender of which something is not known may be
    /// ranked with no other.
    pub fn are_equals(&self, one: usize, other: usize) -> bool {
        one == other || self.class(one).is_some_and(|class| Some(class) == self.class(other))
    }

    /// The class of a contender, by its position; none of the harness, of one whose level is not known, and where many
    /// clients work of one whose isolation is not known.
    pub fn class(&self, contender: usize) -> Option<Class> {
        let contender = &self.contenders[contender];
        let safety = contender.safety.as_ref().filter(|_| !contender.harness)?;
        let consistent =
            (safety.level != Level::PowerLoss || !safety.consistent).then_some(safety.consistent);
        let isolation = match has_clients(self) {
            true => Some(contender.isolation.as_ref()?.level),
            false => None,
        };
        Some(Class {
            level: safety.level,
            consistent,
            hole: safety.hole,
            nodes_lost: safety.nodes.map_or(0, |nodes| nodes.lost),
            node_delay_ns: contender.cluster.and_then(|cluster| cluster.node_delay_ns),
            stale_reads: contender.stale_reads,
            isolation,
            load: self.load(),
            processes: contender.processes && has_clients(self),
            commits: commits(self, contender.per_commit),
            cache: cache_class(self, contender),
            tuning: contender.tuning.filter(|_| has_stores(self)),
        })
    }

    /// The classes of the contenders shown, the safest first and of these those with the smallest commits, each with
    /// its contenders by position.
    pub fn classes(&self) -> Vec<(Class, Vec<usize>)> {
        let mut classes: Vec<(Class, Vec<usize>)> = Vec::new();
        for (index, _) in self.shown_contenders() {
            let Some(own) = self.class(index) else { continue };
            match classes.iter_mut().find(|(class, _)| *class == own) {
                Some((_, members)) => members.push(index),
                None => classes.push((own, vec![index])),
            }
        }
        classes.sort_by_key(|(class, _)| {
            let safety = Reverse((class.level, class.consistent != Some(false), class.nodes_lost));
            let work = (class.node_delay_ns, class.processes, class.commits, class.tuning, class.cache);
            (safety, class.hole, class.stale_reads, Reverse(class.isolation), work)
        });
        classes
    }
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// True if a run has a test in which many clients work at once: only then does it matter what they see of one another.
fn has_clients(run: &Run) -> bool {
    run.shown_tests().any(|test| test.model == Model::Mix.name())
}

/// True if a run has a test of stores: their caches and their tuning are half of what they show.
fn has_stores(run: &Run) -> bool {
    run.shown_tests().any(|test| test.model.starts_with("kv-"))
}

/// The cache of a contender in a run of stores. Sizes form classes from the smallest up:
/// each begins with the first that is more than twice as large as where the one before it began.
fn cache_class(run: &Run, contender: &ContenderRecord) -> Option<CacheClass> {
    if !has_stores(run) {
        return None;
    }
    let Some(own) = contender.cache else { return Some(CacheClass::None) };
    let shown = run.shown_contenders().filter(|(_, contender)| !contender.harness);
    let mut sizes: Vec<u64> =
        shown.filter_map(|(_, contender)| contender.cache).map(|cache| cache.bytes).collect();
    sizes.sort_unstable();
    let from = sizes
        .into_iter()
        .take_while(|&bytes| bytes <= own.bytes)
        .fold(0, |from: u64, bytes| if from > 0 && bytes <= from.saturating_mul(2) { from } else { bytes });
    Some(CacheClass::From(from))
}

/// The size of a contender's commits, whose settings say how many operations a commit has, in a run with a test that
/// contenders cut into commits. As much as the largest of these tests has, or more, is all.
fn commits(run: &Run, per_commit: Option<u64>) -> Option<Commits> {
    let count = |test: &TestRecord| test.amount.as_ref().map_or(u64::MAX, |amount| amount.count);
    let most = run.shown_tests().filter(|test| is_cut(&test.model)).map(count).max()?;
    Some(match per_commit.filter(|&each| each < most) {
        Some(each) => Commits::Each(each),
        None => Commits::Whole,
    })
}

/// True if contenders cut the work of a model into commits.
fn is_cut(model: &str) -> bool {
    let cut = [Model::InsertRows, Model::BulkLoad, Model::ImportFile, Model::KvPut, Model::KvDelete];
    cut.iter().any(|known| known.name() == model)
}
