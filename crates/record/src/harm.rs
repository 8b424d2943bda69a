//! The harm that `dyno prove` found: after cuts and kills, after failures of the device, and after damage.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::survival::Tally;

/// Data that were missing or wrong when they were checked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Harm {
    /// Acknowledged commits that are gone, by name.
    pub lost: Vec<String>,
    /// States that the data must never have: half a transaction, something that was never written, a database that does
    /// not open.
    pub broken: Vec<String>,
}

/// The harm after one cut or kill.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Harmed {
    /// The cut or kill.
    pub after: String,
    /// The finding.
    pub harm: Harm,
}

/// The behaviour of a subject when its device failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceFailure {
    /// The failure, in words.
    pub device: String,
    /// The error that the subject reported; absent where it continued as if nothing had happened.
    pub said: Option<String>,
    /// The number of commits that it acknowledged.
    pub acknowledged: usize,
    /// The number of commits that it acknowledged after the failure.
    pub afterwards: usize,
    /// Data missing or wrong once the device worked again: after cuts that keep only what was flushed, right after
    /// the last acknowledgements and at the end, and with everything that was written.
    pub harm: Harm,
    /// Its behaviour when it was started again without a reboot; absent where it was not.
    pub restarted: Option<Restarted>,
}

/// The behaviour of a subject that was started again while the file system stayed mounted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Restarted {
    /// The reason that its data could not be checked or its work did not come to its end; absent where both went well.
    pub said: Option<String>,
    /// The number of commits that it acknowledged after the restart.
    pub acknowledged: usize,
    /// Data that were missing or wrong after the restart, or after a power cut that came later.
    pub harm: Harm,
}

/// The reactions of a subject to damaged data.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Corruption {
    /// One bit flipped in a block that it wrote.
    pub flips: Damage,
    /// A block that it wrote, and that cannot be read.
    pub unreadable: Damage,
}

/// Tries with damage of one kind. Where the damage was neither noticed nor harmful, nothing needed the damaged data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Damage {
    /// The number of tries.
    pub tried: u64,
    /// Tries in which the subject reported an error or stopped.
    pub noticed: u64,
    /// Tries in which it did not, and the newest commits were gone: a log may take a damaged record for its end.
    pub gone: u64,
    /// Tries in which it did not, and anything else was wrong: an earlier commit gone, half of one, or another value.
    pub wrong: u64,
}

impl Harm {
    /// True if nothing is missing or wrong.
    pub fn is_none(&self) -> bool {
        self.lost.is_empty() && self.broken.is_empty()
    }

    /// Adds this to a tally; `acknowledged` is the number of commits that were acknowledged before it.
    pub fn count(&self, tally: &mut Tally, acknowledged: usize) {
        tally.count(acknowledged, self.lost.len(), !self.broken.is_empty());
    }
}
