//! The findings of a search of a contender's files: facts, which the verdict judges.

use dyno_protocol::InForce;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The facts about the files of a contender.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EncryptionProof {
    /// True if it is to encrypt; if not, it is the control, in whose files the marker must be found.
    pub encrypts: bool,
    /// The reason that its files could not be searched; absent where they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// The number of files that were searched, those that were gone by the end included.
    pub files: usize,
    /// The number of bytes that they held.
    pub bytes: u64,
    /// The names of the files that contain the marker.
    pub marker_in: Vec<String>,
    /// The names of the files that contain the key.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub key_in: Vec<String>,
    /// The entropy of the bytes of data files, blocks of zeros left out, in bits a byte; absent where there
    /// were too few to decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entropy: Option<f64>,
    /// The result of opening the data without a key; absent where this was not tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub without_key: Option<Attempt>,
    /// The result of opening them with another key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrong_key: Option<Attempt>,
    /// The result of opening them with their own key afterwards; absent in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_key: Option<Attempt>,
    /// The settings of the cipher, as the engine reported them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cipher: Vec<InForce>,
    /// The faults that the program found which wrote an older file; newer files have facts only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub troubles: Vec<String>,
}

/// One try at opening encrypted data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Attempt {
    /// True if the engine refused for want of the right key.
    pub refused: bool,
    /// The engine's report, or [`MARKED_ROWS`].
    pub said: String,
}

/// The value of [`Attempt::said`] where the rows with the marker were read.
pub const MARKED_ROWS: &str = "gave the marked rows";

impl EncryptionProof {
    /// The proof of a contender whose files could not be searched.
    pub fn failed(encrypts: bool, why: &anyhow::Error) -> EncryptionProof {
        EncryptionProof { encrypts, failure: Some(format!("{why:#}")), ..EncryptionProof::default() }
    }
}
