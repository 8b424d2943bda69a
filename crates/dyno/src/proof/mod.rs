//! Proof that data are encrypted: looked for, not believed.
//!
//! In a pass of its own, untimed, each contender gets a marker text among its data. While it works, every
//! file that it or its server opens is kept open, so that a journal or a temporary file which is gone by then
//! is looked through too. Then all of them are searched for the marker and for the key; the data are opened
//! without a key, with another one, and with the right one.
//!
//! A contender that does not encrypt must show the marker: where it does not, the check is broken and
//! proves nothing of the others.

mod embedded;
mod plant;
mod search;
mod server;
mod watch;

use dyno_protocol::InForce;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use embedded::Prover;

/// The least entropy of encrypted data, in bits a byte. Random bytes have 8; the heads of pages and the blocks
/// of a log, which are not encrypted, take a little away. Text has 4 to 5.
const LEAST_ENTROPY: f64 = 7.5;

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

    /// Works out what is amiss.
    fn judge(&mut self) {
        if !self.encrypts {
            if self.marker_in.is_empty() {
                self.troubles.push(
                    "the marker is in none of its files, though nothing is encrypted: the check is broken"
                        .to_owned(),
                );
            }
            return;
        }
        if !self.marker_in.is_empty() {
            self.troubles.push(format!("the marker stands in {}", self.marker_in.join(", ")));
        }
        match self.entropy {
            None => self.troubles.push("it has no file of data to look into".to_owned()),
            Some(entropy) if entropy < LEAST_ENTROPY => self.troubles.push(format!(
                "its files have {entropy:.2} bits of entropy a byte, and encrypted ones have {LEAST_ENTROPY} or more"
            )),
            Some(_) => {}
        }
        for (attempt, how) in [(&self.without_key, "without a key"), (&self.wrong_key, "with a wrong key")] {
            if let Some(Attempt { refused: false, said }) = attempt {
                self.troubles.push(format!("opened {how}, it {said}"));
            }
        }
    }
}

/// Takes proofs together: where the check finds no marker in an engine's plain data, it proves nothing of
/// that engine's encrypted contenders. Each proof comes with the name of its engine.
pub fn hold_together(proofs: &mut [(String, &mut Proof)]) {
    let broken: Vec<String> = proofs
        .iter()
        .filter(|(_, proof)| !proof.encrypts && !proof.holds())
        .map(|(engine, _)| engine.clone())
        .collect();
    for (engine, proof) in proofs.iter_mut().filter(|(_, proof)| proof.encrypts) {
        if broken.contains(engine) {
            proof
                .troubles
                .push("the check finds no marker in plain data either: it proves nothing".to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proof(encrypts: bool) -> Proof {
        let refused = |said: &str| Some(Attempt { refused: true, said: said.to_owned() });
        let mut proof = Proof { encrypts, files: 2, bytes: 1 << 20, ..Proof::default() };
        if encrypts {
            proof.entropy = Some(7.99);
            (proof.without_key, proof.wrong_key) = (refused("no"), refused("no"));
        } else {
            proof.marker_in.push("dyno.db".to_owned());
        }
        proof
    }

    fn judged(change: impl FnOnce(&mut Proof), encrypts: bool) -> Proof {
        let mut proof = proof(encrypts);
        change(&mut proof);
        proof.judge();
        proof
    }

    #[test]
    fn each_failure_is_enough() {
        assert!(judged(|_| (), true).holds() && judged(|_| (), false).holds());
        let opened = Some(Attempt { refused: false, said: "answered".to_owned() });
        assert!(!judged(|proof| proof.marker_in.push("dyno.db-wal".to_owned()), true).holds());
        assert!(!judged(|proof| proof.entropy = Some(5.0), true).holds());
        assert!(!judged(|proof| proof.entropy = None, true).holds());
        assert!(!judged(|proof| proof.without_key = opened.clone(), true).holds());
        assert!(!judged(|proof| proof.wrong_key = opened, true).holds());
        assert!(!judged(|proof| proof.marker_in.clear(), false).holds());
    }

    #[test]
    fn a_broken_check_proves_nothing() {
        let mut encrypted = judged(|_| (), true);
        let mut other = judged(|_| (), true);
        let mut control = judged(|proof| proof.marker_in.clear(), false);
        let mut proofs = [
            ("sqlite".to_owned(), &mut encrypted),
            ("mariadb".to_owned(), &mut other),
            ("sqlite".to_owned(), &mut control),
        ];
        hold_together(&mut proofs);
        assert!(!encrypted.holds() && other.holds());
    }
}
