//! The findings of `dyno prove` on a contender: power cuts and kills that its acknowledged commits survived, and on
//! which storage. A run file has it of every contender of which it is known, and dyno keeps a file of all that was
//! found.

use std::collections::BTreeMap;

use dyno_protocol::InForce;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of a kept result's schema.
pub const PROOF_SCHEMA: &str = "dyno-proof/1";

/// The version of what a result is evidence of: it changes when more is tried, or when something is judged differently.
/// Version 1 cuts within checkpoints and while the database closes, and counts no slow look as a loss. Version 2 tears
/// the pages that checkpoints rewrite, and cuts again while the database recovers. Version 3 lets writes and flushes
/// fail at several places, and starts the contender again without a reboot.
pub const EVIDENCE: u32 = 3;
/// The first version whose losses still count: what was lost then is lost, though less was tried.
pub const FIRST_FAIR: u32 = 1;

/// The outcome of many cuts, or of many kills.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tally {
    /// The number that was tried.
    pub tried: u64,
    /// After how many every acknowledged commit was there and nothing was broken.
    pub survived: u64,
    /// After how many acknowledged commits were gone.
    pub lost: u64,
    /// The most commits that were gone after one.
    pub most_lost: u64,
    /// After how many all acknowledged commits were gone.
    pub lost_all: u64,
    /// After how many the data were broken.
    pub broken: u64,
}

/// Upkeep, as a checkpoint or the closing of the database, and what became of cuts within it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Upkept {
    /// The number of times that the device saw it.
    pub seen: u64,
    /// Power cuts within it or at its end.
    pub cuts: Tally,
}

/// The findings on a contender.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Survival {
    /// The version of dyno that tried it.
    pub dyno: String,
    /// The version of what it is evidence of ([`EVIDENCE`]); 0 in older results.
    #[serde(default)]
    pub evidence: u32,
    /// The time of the proof, UTC, RFC 3339.
    pub proved: String,
    /// The file system on which the data were.
    pub file_system: String,
    /// The seed of its random draws.
    pub seed: u64,
    /// The number of clients that committed at once.
    pub clients: u64,
    /// The number of acknowledged commits.
    pub commits: u64,
    /// Flushes of the disk for each commit; absent where dyno could make no disk that counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flushes: Option<f64>,
    /// System calls that waited for data to be durable, for each commit; absent where they could not be traced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<f64>,
    /// Power cuts.
    pub cuts: Tally,
    /// Those power cuts whose place and state were drawn, of which a share can be estimated; absent in older results,
    /// where all were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drawn: Option<Tally>,
    /// The number of recordings of the work that were cut; 0 in older results, which had one.
    #[serde(default)]
    pub runs: u64,
    /// In how many of these a cut did harm; absent in older results, which did not count them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harmed_runs: Option<u64>,
    /// Power cuts besides the others, which left garbage in a sector that was being written. No level promises to
    /// survive them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub garbage: Option<Tally>,
    /// Upkeep that was recorded and cut within, by its name; empty in older results, which recorded none on purpose.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub upkeep: BTreeMap<String, Upkept>,
    /// Commits that were acknowledged although no flush had ended since they began.
    #[serde(default)]
    pub unflushed: u64,
    /// Kills of all its processes.
    pub kills: Tally,
    /// Failures of the device, as a write that is refused, in which the contender acknowledged anything; absent where
    /// none were tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errors: Option<Tally>,
    /// Restarts after such failures without a reboot, each with the power cuts that followed. No level promises to
    /// survive them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restarts: Option<Tally>,
    /// The first cut or kill after which something was wrong, and what, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

impl Survival {
    /// The event for which a commit waits, as the disk saw it, or else as the system calls show; for people.
    pub fn waits(&self) -> String {
        match (self.flushes, self.calls) {
            (Some(flushes), _) => format!("{flushes:.1} flushes a commit"),
            (None, Some(calls)) => format!("{calls:.1} sync calls a commit, seen by its system calls"),
            (None, None) => "what a commit waits for could not be observed".to_owned(),
        }
    }
}

/// The findings, with all that must be the same for them to hold of another contender: a line of dyno's file of proofs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KeptProof {
    /// The version of this schema, `dyno-proof/1`.
    pub schema: String,
    /// The contender's name when it was proved, for people.
    pub label: String,
    /// The engine.
    pub engine: String,
    /// The engine's version, as it gave it itself.
    pub engine_version: String,
    /// Further facts that identify the build and the driver; empty of a server, whose drivers do not matter.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub build: BTreeMap<String, Vec<String>>,
    /// The encrypted file system that the data were on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encrypted: Option<String>,
    /// Settings in force, as read back, by name.
    pub settings: Vec<InForce>,
    /// The findings.
    pub survival: Survival,
}

impl Tally {
    /// Counts one more, before which commits were `acknowledged`, some of which are `lost`.
    pub fn count(&mut self, acknowledged: usize, lost: usize, is_broken: bool) {
        self.tried += 1;
        self.survived += u64::from(lost == 0 && !is_broken);
        self.lost += u64::from(lost > 0);
        self.most_lost = self.most_lost.max(lost as u64);
        self.lost_all += u64::from(acknowledged > 0 && lost == acknowledged);
        self.broken += u64::from(is_broken);
    }

    /// True if some were tried and none did harm.
    pub fn is_whole(&self) -> bool {
        self.tried > 0 && self.survived == self.tried
    }
}
