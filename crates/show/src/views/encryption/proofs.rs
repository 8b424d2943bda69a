//! The evidence of encryption in the files of contenders, as sentences.

use dyno_record::{ContenderRecord, EncryptionProof};
use dyno_verdict::{EncryptionTrouble, Searched, Verdict};

use crate::units;

/// A sentence for each contender on the evidence in its files; empty if no files were examined.
pub fn proofs(verdict: &Verdict) -> Vec<String> {
    let shown = searched(verdict).map(|(found, contender, proof)| {
        format!("{}{}", sentence(found, contender, proof), pages(verdict, found.contender))
    });
    shown.collect()
}

/// One sentence for all contenders whose files have proved that they encrypt; `None` if there are none.
pub fn proved(verdict: &Verdict) -> Option<String> {
    let holds = searched(verdict).filter(|(found, _, proof)| proof.encrypts && found.troubles.is_empty());
    let labels: Vec<&str> = holds.map(|(_, contender, _)| contender.label.as_str()).collect();
    (!labels.is_empty()).then(|| {
        format!(
            "Encrypted: {}: their files hold neither the key nor the text that dyno planted.",
            labels.join("; ")
        )
    })
}

/// A sentence for each contender whose files contain what they should not, or lack what they should contain.
pub fn unproved(verdict: &Verdict) -> Vec<String> {
    let unproved = searched(verdict).filter(|(found, ..)| !found.troubles.is_empty());
    unproved.map(|(found, contender, proof)| sentence(found, contender, proof)).collect()
}

fn searched(verdict: &Verdict) -> impl Iterator<Item = (&Searched, &ContenderRecord, &EncryptionProof)> {
    verdict.views.searched.iter().filter_map(|found| {
        let contender = &verdict.contenders[found.contender];
        Some((found, contender, contender.proof.as_ref()?))
    })
}

fn trouble(trouble: &EncryptionTrouble) -> String {
    match trouble {
        EncryptionTrouble::NotSearched { why } => format!("its files could not be searched: {why}"),
        EncryptionTrouble::NoMarker => {
            "the marker is in none of its files, though nothing is encrypted".to_owned()
        }
        EncryptionTrouble::Marker { files } => format!("the marker is in {}", files.join(", ")),
        EncryptionTrouble::Key { files } => format!("the key is in {}", files.join(", ")),
        EncryptionTrouble::NoData => "it has no file of data to search".to_owned(),
        EncryptionTrouble::LowEntropy { bits, least } => format!(
            "its files have {bits:.2} bits of entropy a byte, and encrypted ones have {least} or more"
        ),
        EncryptionTrouble::OpensWithoutKey { said } => format!("opened without a key, it {said}"),
        EncryptionTrouble::OpensWithWrongKey { said } => format!("opened with a wrong key, it {said}"),
        EncryptionTrouble::RefusesOwnKey { said } => {
            format!("opened again with its own key, it reported: {said}")
        }
        EncryptionTrouble::BrokenSearch => {
            "the search finds no marker in plain data either, so it proves nothing".to_owned()
        }
        EncryptionTrouble::Reported { text } => text.clone(),
    }
}

fn sentence(found: &Searched, contender: &ContenderRecord, proof: &EncryptionProof) -> String {
    let label = &contender.label;
    if !found.troubles.is_empty() {
        let what = if proof.encrypts { "Not encrypted" } else { "The check is broken" };
        let troubles: Vec<String> = found.troubles.iter().map(trouble).collect();
        return format!("{what}: {label}: {}.", troubles.join("; "));
    }
    let bytes = units::bytes(proof.bytes as f64);
    if !proof.encrypts {
        return format!(
            "Plain: {label}: the marker planted in its data is in {}, of {} files with {bytes}: the check works.",
            proof.marker_in.join(", "),
            proof.files
        );
    }
    let entropy = proof.entropy.map(|bits| format!(", {bits:.3} bits of entropy a byte")).unwrap_or_default();
    let refused = match (&proof.without_key, &proof.wrong_key) {
        (Some(_), Some(_)) => "; without a key and with a wrong one it was refused",
        (None, Some(_)) => "; with a wrong key it was not mounted",
        _ => "",
    };
    let cipher: Vec<String> =
        proof.cipher.iter().map(|setting| format!("{}={}", setting.name, setting.value)).collect();
    let cipher = match (cipher.is_empty(), &contender.file_system) {
        (false, _) => format!("; read back: {}", cipher.join(" ")),
        (true, Some(system)) => format!("; on {system}"),
        (true, None) => String::new(),
    };
    format!(
        "Encrypted: {label}: the marker planted in its data, and the key, are in none of {} files with \
         {bytes}{entropy}{refused}{cipher}.",
        proof.files
    )
}

/// The largest size of the database, in its pages, for engines that report it.
fn pages(verdict: &Verdict, index: usize) -> String {
    let known = verdict.views.pages.iter().find(|pages| pages.contender == index);
    let said = known.map(|known| (known.pages, known.page_bytes));
    said.map_or(String::new(), |(pages, size)| {
        format!(" Its database grew to {pages} pages of {size} bytes.")
    })
}
