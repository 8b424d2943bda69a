//! Encryption of contenders' files: judged from what a search of them found.

use dyno_record::{Attempt, EncryptionProof, MARKED_ROWS, Run};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The least entropy of encrypted data, in bits a byte. Random bytes have 8; the heads of pages and the blocks
/// of a log, which are not encrypted, take a little away. Text has 4 to 5.
const LEAST_ENTROPY: f64 = 7.5;

/// The fault of a contender's encryption, or of the search of its files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Searched {
    /// The contender, by its position in the run.
    pub contender: usize,
    /// Empty if it encrypts, or if it is a control in whose files the marker was found.
    pub troubles: Vec<EncryptionTrouble>,
}

/// One reason why a contender is not shown to encrypt, or why the search proves nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum EncryptionTrouble {
    /// The files could not be searched.
    NotSearched {
        /// The reason.
        why: String,
    },
    /// The marker is in none of the files, although nothing is encrypted.
    NoMarker,
    /// The marker is in files that are to be encrypted.
    Marker {
        /// Their names.
        files: Vec<String>,
    },
    /// The key is in files.
    Key {
        /// Their names.
        files: Vec<String>,
    },
    /// No file holds data.
    NoData,
    /// The bytes of the files are more regular than encrypted ones.
    LowEntropy {
        /// The entropy, in bits a byte.
        bits: f64,
        /// The least entropy of encrypted data, in bits a byte.
        least: f64,
    },
    /// The engine opened the data without a key.
    OpensWithoutKey {
        /// Its report.
        said: String,
    },
    /// The engine opened the data with a wrong key.
    OpensWithWrongKey {
        /// Its report.
        said: String,
    },
    /// The engine did not open the data with their own key, so its refusal of others proves nothing.
    RefusesOwnKey {
        /// Its report.
        said: String,
    },
    /// The search finds no marker in the engine's plain data either.
    BrokenSearch,
    /// The findings of the program that wrote an older run file.
    Reported {
        /// In its words.
        text: String,
    },
}

/// The judgement on each contender whose files were searched.
pub(super) fn searched(run: &Run) -> Vec<Searched> {
    let searched = run.shown_contenders().filter(|(_, contender)| contender.proof.is_some());
    searched.map(|(contender, _)| Searched { contender, troubles: troubles(run, contender) }).collect()
}

/// Returns true if a contender should encrypt and was not shown to.
pub(crate) fn is_unproved(run: &Run, contender: usize) -> bool {
    let proof = run.contenders[contender].proof.as_ref();
    proof.is_some_and(|proof| proof.encrypts) && !troubles(run, contender).is_empty()
}

/// A search that finds no marker in an engine's plain data proves nothing of that engine's encrypted contenders.
fn troubles(run: &Run, contender: usize) -> Vec<EncryptionTrouble> {
    let record = &run.contenders[contender];
    let Some(proof) = &record.proof else { return Vec::new() };
    let mut troubles = judge(proof);
    let is_broken = || {
        let controls = run.contenders.iter().filter(|other| other.engine == record.engine);
        let mut controls = controls.filter_map(|other| other.proof.as_ref()).filter(|proof| !proof.encrypts);
        controls.any(|control| !judge(control).is_empty())
    };
    if proof.encrypts && proof.troubles.is_empty() && is_broken() {
        troubles.push(EncryptionTrouble::BrokenSearch);
    }
    troubles
}

/// The faults that the facts about one contender show.
fn judge(proof: &EncryptionProof) -> Vec<EncryptionTrouble> {
    if !proof.troubles.is_empty() {
        let reported = proof.troubles.iter().cloned();
        return reported.map(|text| EncryptionTrouble::Reported { text }).collect();
    }
    if let Some(why) = &proof.failure {
        return vec![EncryptionTrouble::NotSearched { why: why.clone() }];
    }
    if !proof.encrypts {
        return if proof.marker_in.is_empty() { vec![EncryptionTrouble::NoMarker] } else { Vec::new() };
    }
    let mut troubles = Vec::new();
    if !proof.key_in.is_empty() {
        troubles.push(EncryptionTrouble::Key { files: proof.key_in.clone() });
    }
    if let Some(Attempt { said, .. }) = proof.own_key.as_ref().filter(|own| own.said != MARKED_ROWS) {
        troubles.push(EncryptionTrouble::RefusesOwnKey { said: said.clone() });
    }
    if !proof.marker_in.is_empty() {
        troubles.push(EncryptionTrouble::Marker { files: proof.marker_in.clone() });
    }
    match proof.entropy {
        None => troubles.push(EncryptionTrouble::NoData),
        Some(bits) if bits < LEAST_ENTROPY => {
            troubles.push(EncryptionTrouble::LowEntropy { bits, least: LEAST_ENTROPY });
        }
        Some(_) => {}
    }
    if let Some(Attempt { refused: false, said }) = &proof.without_key {
        troubles.push(EncryptionTrouble::OpensWithoutKey { said: said.clone() });
    }
    if let Some(Attempt { refused: false, said }) = &proof.wrong_key {
        troubles.push(EncryptionTrouble::OpensWithWrongKey { said: said.clone() });
    }
    troubles
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proof(encrypts: bool) -> EncryptionProof {
        let refused = |said: &str| Some(Attempt { refused: true, said: said.to_owned() });
        let mut proof = EncryptionProof { encrypts, files: 2, bytes: 1 << 20, ..EncryptionProof::default() };
        if encrypts {
            proof.entropy = Some(7.99);
            (proof.without_key, proof.wrong_key) = (refused("no"), refused("no"));
        } else {
            proof.marker_in.push("dyno.db".to_owned());
        }
        proof
    }

    fn holds(change: impl FnOnce(&mut EncryptionProof), encrypts: bool) -> bool {
        let mut proof = proof(encrypts);
        change(&mut proof);
        judge(&proof).is_empty()
    }

    #[test]
    fn each_failure_is_enough() {
        assert!(holds(|_| (), true) && holds(|_| (), false));
        let opened = Some(Attempt { refused: false, said: MARKED_ROWS.to_owned() });
        assert!(holds(|proof| proof.own_key = opened.clone(), true));
        assert!(!holds(|proof| proof.own_key = proof.wrong_key.clone(), true));
        assert!(!holds(|proof| proof.key_in.push("dyno.db".to_owned()), true));
        assert!(!holds(|proof| proof.marker_in.push("dyno.db-wal".to_owned()), true));
        assert!(!holds(|proof| proof.entropy = Some(5.0), true));
        assert!(!holds(|proof| proof.entropy = None, true));
        assert!(!holds(|proof| proof.without_key = opened.clone(), true));
        assert!(!holds(|proof| proof.wrong_key = opened, true));
        assert!(!holds(|proof| proof.failure = Some("no file".to_owned()), true));
        assert!(!holds(|proof| proof.troubles.push("found earlier".to_owned()), true));
        assert!(!holds(|proof| proof.marker_in.clear(), false));
    }
}
