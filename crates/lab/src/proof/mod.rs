//! Proof that data are encrypted: looked for, not believed.
//!
//! In a separate, untimed pass, each contender gets a marker text among its data. While it works, every
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

use dyno_record::{Attempt, Proof};

pub use embedded::Prover;

/// The least entropy of encrypted data, in bits a byte. Random bytes have 8; the heads of pages and the blocks
/// of a log, which are not encrypted, take a little away. Text has 4 to 5.
const LEAST_ENTROPY: f64 = 7.5;

/// Works out what is amiss.
fn judge(proof: &mut Proof) {
    if !proof.encrypts {
        if proof.marker_in.is_empty() {
            proof.troubles.push(
                "the marker is in none of its files, though nothing is encrypted: the check is broken"
                    .to_owned(),
            );
        }
        return;
    }
    if !proof.marker_in.is_empty() {
        proof.troubles.push(format!("the marker stands in {}", proof.marker_in.join(", ")));
    }
    match proof.entropy {
        None => proof.troubles.push("it has no file of data to look into".to_owned()),
        Some(entropy) if entropy < LEAST_ENTROPY => proof.troubles.push(format!(
            "its files have {entropy:.2} bits of entropy a byte, and encrypted ones have {LEAST_ENTROPY} or more"
        )),
        Some(_) => {}
    }
    for (attempt, how) in [(&proof.without_key, "without a key"), (&proof.wrong_key, "with a wrong key")] {
        if let Some(Attempt { refused: false, said }) = attempt {
            proof.troubles.push(format!("opened {how}, it {said}"));
        }
    }
}

/// Takes proofs together: where the check finds no marker in an engine's plain data, it proves nothing of
/// that engine's encrypted contenders. Each proof comes with the name of its engine.
pub fn cross_check(proofs: &mut [(String, &mut Proof)]) {
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
        judge(&mut proof);
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
        cross_check(&mut proofs);
        assert!(!encrypted.holds() && other.holds());
    }
}
