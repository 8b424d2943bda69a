//! What was found of a contender's encryption.

use dyno_protocol::InForce;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the files of a contender tell.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Proof {
    /// Whether it is to encrypt; if not, it is the control, in whose files the marker must be found.
    pub encrypts: bool,
    /// How many files were looked through, those that were gone by the end included.
    pub files: usize,
    /// How many bytes they held.
    pub bytes: u64,
    /// The names of the files in which the marker stands.
    pub marker_in: Vec<String>,
    /// The entropy of the bytes of data files, blocks of zeros left out, in bits a byte; absent where there
    /// were too few to tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entropy: Option<f64>,
    /// What came of opening the data without a key; absent where none was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub without_key: Option<Attempt>,
    /// What came of opening them with another key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrong_key: Option<Attempt>,
    /// The settings of the cipher, as the engine told them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cipher: Vec<InForce>,
    /// What is amiss; nothing where it is proved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub troubles: Vec<String>,
}

/// One try at opening encrypted data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Attempt {
    /// Whether the engine refused for want of the right key.
    pub refused: bool,
    /// What it said.
    pub said: String,
}

impl Proof {
    /// That of a contender at which nobody could look.
    pub fn failed(encrypts: bool, why: &anyhow::Error) -> Proof {
        let troubles = vec![format!("it could not be looked at: {why:#}")];
        Proof { encrypts, troubles, ..Proof::default() }
    }

    /// Whether nothing is amiss.
    pub fn holds(&self) -> bool {
        self.troubles.is_empty()
    }
}
