//! The experiment of `dyno causes`: trials of two contenders in which one suspected cause of their difference is
//! neutralised.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The experiment of a run: two contenders, and what was neutralised for both in further trials of the same blocks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Experiment {
    /// The contender whose difference from the baseline of the run is to be explained, by its label.
    pub contender: String,
    /// The suspects, each with what was done.
    pub tried: Vec<Neutralised>,
    /// The suspects that could not be neutralised for this pair.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_tried: Vec<UntriedSuspect>,
}

/// A suspected cause of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Suspect {
    /// Flushes, and all else that a disk costs.
    Disk,
    /// A cache that is too small.
    Cache,
    /// Too few processors.
    Processors,
    /// The way between clients and their servers.
    Network,
}

/// A suspect, and what was done to neutralise it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "suspect", rename_all = "kebab-case")]
pub enum Neutralised {
    /// The databases were on a file system in memory, where a flush is free.
    Disk {
        /// A folder of that file system.
        folder: String,
    },
    /// The cache of each engine was larger.
    Cache {
        /// Its size in bytes, of the contender and of the baseline.
        bytes: [u64; 2],
    },
    /// The runners and the servers that dyno started might use a further CPU.
    Processors {
        /// That CPU.
        cpu: usize,
    },
    /// Clients reached their servers without the delay that dyno added in the other trials, and servers at a URL on this
    /// machine through their socket in the file system, where they have one.
    Network {
        /// The delay of a round trip in the other trials, in nanoseconds.
        added_ns: u64,
    },
}

/// A suspect that was not tried, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UntriedSuspect {
    /// The suspect.
    pub suspect: Suspect,
    /// The reason, for people.
    pub why: String,
}

impl Suspect {
    /// All of them, in the order in which they are tried.
    pub const ALL: [Suspect; 4] = [Suspect::Disk, Suspect::Cache, Suspect::Processors, Suspect::Network];

    /// Its name, as in files.
    pub fn name(self) -> &'static str {
        match self {
            Suspect::Disk => "disk",
            Suspect::Cache => "cache",
            Suspect::Processors => "processors",
            Suspect::Network => "network",
        }
    }

    /// The label of a contender in the trials in which the suspect is neutralised. No contender can be named so.
    pub fn label(self, contender: &str) -> String {
        format!("{contender} [{}]", self.name())
    }
}

impl Neutralised {
    /// The suspect.
    pub fn suspect(&self) -> Suspect {
        match self {
            Neutralised::Disk { .. } => Suspect::Disk,
            Neutralised::Cache { .. } => Suspect::Cache,
            Neutralised::Processors { .. } => Suspect::Processors,
            Neutralised::Network { .. } => Suspect::Network,
        }
    }
}
