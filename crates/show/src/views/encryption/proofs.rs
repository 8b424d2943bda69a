//! The evidence of encryption in the files of contenders, as sentences.

use dyno_record::{ContenderRecord, Proof};
use dyno_verdict::Verdict;

use crate::units;

/// A sentence for each contender on the evidence in its files; empty if no files were examined.
pub fn proofs(verdict: &Verdict) -> Vec<String> {
    let shown = verdict.shown_contenders().filter_map(|(index, contender)| {
        let proof = contender.proof.as_ref()?;
        Some(format!("{}{}", sentence(contender, proof), pages(verdict, index)))
    });
    shown.collect()
}

/// One sentence for all contenders whose files have proved that they encrypt; `None` if there are none.
pub fn proved(verdict: &Verdict) -> Option<String> {
    let holds = |contender: &ContenderRecord| {
        contender.proof.as_ref().is_some_and(|proof| proof.encrypts && proof.holds())
    };
    let labels = verdict.shown_contenders().filter(|(_, contender)| holds(contender));
    let labels: Vec<&str> = labels.map(|(_, contender)| contender.label.as_str()).collect();
    (!labels.is_empty()).then(|| {
        format!(
            "Encrypted: {}: their files hold neither the key nor the text that dyno planted.",
            labels.join("; ")
        )
    })
}

/// A sentence for each contender of which the files have shown what they should not, or nothing.
pub fn unproved(verdict: &Verdict) -> Vec<String> {
    let shown =
        verdict.shown_contenders().filter_map(|(_, contender)| Some((contender, contender.proof.as_ref()?)));
    shown.filter(|(_, proof)| !proof.holds()).map(|(contender, proof)| sentence(contender, proof)).collect()
}

fn sentence(contender: &ContenderRecord, proof: &Proof) -> String {
    let label = &contender.label;
    if !proof.holds() {
        let what = if proof.encrypts { "Not encrypted" } else { "The check is broken" };
        return format!("{what}: {label}: {}.", proof.troubles.join("; "));
    }
    let bytes = units::bytes(proof.bytes as f64);
    if !proof.encrypts {
        return format!(
            "Plain: {label}: the marker planted in its data stands in {}, of {} files with {bytes}: the check works.",
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
        "Encrypted: {label}: the marker planted in its data, and the key, stand in none of {} files with \
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
