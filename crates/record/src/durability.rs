//! The observations of `dyno prove` on each subject when it cut the power, killed it, or damaged its device: facts,
//! which the verdict holds against what the subject's settings promise.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use dyno_protocol::Hello;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::harm::{Corruption, DeviceFailure, Harm, Harmed};
use crate::level::Safety;
use crate::survival::{Survival, Tally, Upkept};

/// The version of this schema.
pub const DURABILITY_SCHEMA: &str = "dyno-durability/1";

/// The largest number of failures that a record describes.
const DESCRIBED: usize = 5;

/// One use of `dyno prove`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DurabilityRecord {
    /// The facts that are the same for all subjects.
    #[serde(flatten)]
    pub about: DurabilityAbout,
    /// The subjects, in the order in which they were named.
    pub subjects: Vec<DurabilitySubject>,
}

/// The facts that are the same for all subjects of one use of `dyno prove`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DurabilityAbout {
    /// The version of this schema, `dyno-durability/1`.
    pub schema: String,
    /// The version of dyno that recorded it.
    pub dyno: String,
    /// The time of the proof, UTC, RFC 3339.
    pub began: String,
    /// The seed of the random choices: the same seed tries the same cuts of the same history.
    pub seed: u64,
    /// The kind of storage that lost power: a file system, `files`, or a folder of which no power was cut.
    pub storage: String,
    /// True if what lost power was files that keep only what POSIX promises.
    pub only_posix: bool,
    /// True if power cuts were asked for.
    pub asked_cuts: bool,
    /// The reason that the power was not cut; absent where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_cuts: Option<String>,
    /// The two contenders whose behaviour is known; absent where they could not be tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controls: Option<DurabilityControls>,
    /// The file in which the results are kept for later tables of the same contenders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_in: Option<PathBuf>,
}

/// Two contenders whose behaviour is known: one must lose commits, the other must keep them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DurabilityControls {
    /// The label of the one that must lose commits.
    pub loser: String,
    /// Cuts of it right after an acknowledgement.
    pub loses: Tally,
    /// The label of the one that must keep them.
    pub keeper: String,
    /// Cuts of it.
    pub keeps: Tally,
    /// The system calls of both, where no power was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<[SyncCalls; 2]>,
}

/// One subject.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DurabilitySubject {
    /// Its label.
    pub label: String,
    /// The engine's version, its build and the settings in force; absent of the user's own program and of `dyno
    /// import`.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub hello: Option<Hello>,
    /// The promise of its settings; absent of the user's own program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promised: Option<Safety>,
    /// The observations; absent where it could not be tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<DurabilityProof>,
    /// The same in brief, as later tables of the same contender have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub survival: Option<Survival>,
    /// The reason that it could not be tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_not: Option<String>,
    /// True if it is kept for later tables.
    #[serde(default)]
    pub is_kept: bool,
}

/// The observations of one subject.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DurabilityProof {
    /// The disk operations per commit.
    pub observed: DiskOperations,
    /// The system calls, as recorded by a tracer in a separate pass.
    pub calls: Option<SyncCalls>,
    /// The reason that its calls could not be traced, if they could not.
    pub calls_unseen: Option<String>,
    /// The number of recordings of its work, each cut separately.
    pub runs: usize,
    /// The number of these in which a cut did harm.
    pub harmed_runs: usize,
    /// All cuts.
    pub cuts: Tally,
    /// Those of them whose place and state were drawn.
    pub drawn: Tally,
    /// Those of them right after an acknowledgement that keep only what was flushed.
    pub strict: Tally,
    /// Those of them that tore a write.
    pub torn: Tally,
    /// Cuts besides these that left garbage where they tore a write.
    pub garbage: Tally,
    /// The first of those that did harm.
    pub garbage_first: Option<Harmed>,
    /// Those of the cuts that came while it worked after another cut.
    pub rounds: Tally,
    /// The reason that the work after a cut did not come to its end, if it did not.
    pub rounds_stopped: Option<String>,
    /// Kills of all its processes.
    pub kills: Tally,
    /// The number of cuts after which the file system could not be mounted, which says nothing about the subject.
    pub unmountable: usize,
    /// Upkeep in all runs, by its name, and the cuts within it.
    pub upkeep: BTreeMap<String, Upkept>,
    /// The number of checks that did not end in time, which say nothing about the data.
    pub late: usize,
    /// The reason that the first of these did not end in time.
    pub late_why: Option<String>,
    /// The number of cuts and kills whose harm a second check of the same data did not find again.
    pub unrepeated: usize,
    /// The first of these.
    pub unrepeated_first: Option<Harmed>,
    /// True if its check notices a disk that forgot everything, as it must.
    pub notices_loss: bool,
    /// The longest time of a check after a cut, recovery included, in milliseconds.
    pub longest_check_ms: u64,
    /// The first failures.
    pub failures: Vec<Harmed>,
    /// The folder in which the smallest harmful cut is kept.
    pub kept_in: Option<PathBuf>,
    /// Its behaviour for each kind of device failure.
    pub errors: Vec<DeviceFailure>,
    /// The reason that this could not be tried to the end, if it could not.
    pub errors_stopped: Option<String>,
    /// Its reactions to damaged data; absent where these were not tried.
    pub corruption: Option<Corruption>,
    /// The reason that this could not be tried, if it could not.
    pub corruption_stopped: Option<String>,
    /// The reason that the program did not come to its end, if it did not.
    pub incomplete: Option<String>,
}

/// The disk operations per commit, from the first acknowledgement to the last of each stretch between upkeep and
/// openings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DiskOperations {
    /// Acknowledged commits.
    pub commits: u64,
    /// Flushes for each.
    pub flushes: f64,
    /// Writes for each.
    pub writes: f64,
    /// Bytes written for each.
    pub bytes: f64,
    /// Commits that were certainly acknowledged although no flush had ended since they began.
    pub unflushed: u64,
    /// Acknowledgements that came several in one write, which lets them come late: the program does not flush its
    /// standard output after each line.
    pub bundled: u64,
}

/// The system calls that sync, seen between the first acknowledgement and the last.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SyncCalls {
    /// Calls for each commit.
    pub calls: f64,
    /// The same by name.
    pub by_name: BTreeMap<String, f64>,
    /// Commits that were acknowledged without a call since they began.
    pub without: u64,
}

impl DurabilityRecord {
    /// The record of a text; `None` if it is another document, such as a run. `path` names it in messages.
    ///
    /// # Errors
    /// The text is a record of another version, or a damaged one.
    pub fn parse(text: &str, path: &Path) -> Option<Result<DurabilityRecord>> {
        #[derive(Deserialize)]
        struct Document {
            schema: String,
        }
        // A run is a document a line.
        let Document { schema } = serde_json::from_str(text).ok()?;
        let version = schema.strip_prefix("dyno-durability/")?;
        if schema != DURABILITY_SCHEMA {
            let name = path.display();
            return Some(Err(anyhow!(
                "{name}: it is a record of dyno prove of version {version}, and this dyno reads {DURABILITY_SCHEMA}"
            )));
        }
        let record = serde_json::from_str(text);
        Some(record.map_err(|error| anyhow!("{}:{}: {error}", path.display(), error.line())))
    }
}

impl DurabilityProof {
    /// Counts a run whose cuts were tried, if one of them did harm; `harmed` cuts had done so before.
    pub fn end_run(&mut self, harmed: u64) {
        self.harmed_runs += usize::from(self.cuts.tried - self.cuts.survived > harmed);
    }

    /// Describes harm, if it is some and among the first.
    pub fn note(&mut self, harm: Harm, after: impl FnOnce() -> String) {
        if !harm.is_none() && self.failures.len() < DESCRIBED {
            self.failures.push(Harmed { after: after(), harm });
        }
    }

    /// True if harm was found and found again.
    pub fn is_harmed(&self) -> bool {
        !self.failures.is_empty()
    }

    /// Counts a check that did not end in time.
    pub fn add_late(&mut self, why: String) {
        self.late += 1;
        self.late_why.get_or_insert(why);
    }

    /// Counts harm that a second check did not find again.
    pub fn add_unrepeated(&mut self, harm: Harm, after: impl FnOnce() -> String) {
        self.unrepeated += 1;
        self.unrepeated_first.get_or_insert_with(|| Harmed { after: after(), harm });
    }

    /// The tally of device failures in which the subject acknowledged anything; `None` if none was tried.
    pub fn failed_devices(&self) -> Option<Tally> {
        let counted = self.errors.iter().filter(|failed| failed.acknowledged > 0);
        let mut tally = Tally::default();
        counted.for_each(|failed| failed.harm.count(&mut tally, failed.acknowledged));
        (!self.errors.is_empty()).then_some(tally)
    }

    /// The tally of restarts without a reboot; `None` if none was tried.
    pub fn restarts(&self) -> Option<Tally> {
        let mut tally = Tally::default();
        for failed in &self.errors {
            if let Some(restarted) = &failed.restarted {
                restarted.harm.count(&mut tally, failed.acknowledged + restarted.acknowledged);
            }
        }
        (tally.tried > 0).then_some(tally)
    }
}
