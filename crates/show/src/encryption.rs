//! What encryption costs, in percent, and what the files have shown.

use dyno_record::{ContenderRecord, Proof, Run};
use dyno_verdict::Verdict;
use dyno_verdict::statistics::Ratio;

use super::grid::Grid;
use super::units;

/// How much more time encrypted contenders take than the same engines unencrypted; none where there are none.
pub fn overhead(run: &Run, verdict: &Verdict) -> Option<Grid> {
    let overheads = &verdict.overheads;
    if overheads.is_empty() {
        return None;
    }
    let label = |index: usize| run.contenders[index].label.replace(':', "\n:").replace(',', "\n,");
    let mut header = vec![String::new(), "more time than unencrypted".to_owned()];
    header.extend(
        overheads
            .iter()
            .map(|overhead| format!("{}\nover {}", label(overhead.contender), label(overhead.over))),
    );
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (place, test) in verdict.tests.iter().enumerate() {
        let mut row = vec![test.id.clone(), test.title.clone()];
        row.extend(overheads.iter().map(|overhead| percent(overhead.tests[place].as_ref())));
        rows.push(row);
    }
    let mut row = vec![String::new(), "geometric mean, without opening".to_owned()];
    row.extend(overheads.iter().map(|overhead| percent(overhead.geometric_mean.as_ref())));
    rows.push(row);
    Some(Grid { header, rows })
}

/// `+12% (+10…+14)`; `≈` where the interval includes 1.00.
fn percent(ratio: Option<&Ratio>) -> String {
    let Some(ratio) = ratio else { return "–".into() };
    let signed = |ratio: f64| {
        let sign = if ratio >= 1.0 { "+" } else { "−" };
        format!("{sign}{}", units::percent((ratio - 1.0).abs()))
    };
    let interval = ratio.interval.map(|interval| {
        let mark = if interval.includes(1.0) { " ≈" } else { "" };
        format!(" ({}…{}){mark}", signed(interval.low), signed(interval.high))
    });
    format!("{}{}", signed(ratio.ratio), interval.unwrap_or_default())
}

/// A sentence for each contender on what its files have shown; none where nobody looked.
pub fn proofs(run: &Run) -> Vec<String> {
    let shown = run.shown_contenders().filter_map(|(index, contender)| {
        let proof = contender.proof.as_ref()?;
        Some(format!("{}{}", told(contender, proof), pages(run, index, contender)))
    });
    shown.collect()
}

/// One sentence for all contenders whose files have shown that they encrypt; none where nobody looked.
pub fn proved(run: &Run) -> Option<String> {
    let holds = |contender: &ContenderRecord| {
        contender.proof.as_ref().is_some_and(|proof| proof.encrypts && proof.holds())
    };
    let labels = run.shown_contenders().filter(|(_, contender)| holds(contender));
    let labels: Vec<&str> = labels.map(|(_, contender)| contender.label.as_str()).collect();
    (!labels.is_empty()).then(|| {
        format!(
            "Encrypted: {}: their files hold neither the key nor the text that dyno planted.",
            labels.join("; ")
        )
    })
}

/// A sentence for each contender of which the files have shown what they should not, or nothing.
pub fn unproved(run: &Run) -> Vec<String> {
    let shown =
        run.shown_contenders().filter_map(|(_, contender)| Some((contender, contender.proof.as_ref()?)));
    shown.filter(|(_, proof)| !proof.holds()).map(|(contender, proof)| told(contender, proof)).collect()
}

fn told(contender: &ContenderRecord, proof: &Proof) -> String {
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

/// The largest that the database was, in its pages, for engines that tell their size.
fn pages(run: &Run, index: usize, contender: &ContenderRecord) -> String {
    let settings = contender.hello.iter().flat_map(|hello| &hello.settings);
    let size =
        settings.filter(|setting| setting.name == "page_size").find_map(|setting| setting.value.parse().ok());
    let trials = run.trials.iter().filter(|trial| trial.contender == index);
    let largest = trials.flat_map(|trial| &trial.samples).map(|sample| sample.sample.database_bytes).max();
    match (size, largest) {
        (Some(size @ 1u64..), Some(bytes @ 1..)) => {
            format!(" Its database grew to {} pages of {size} bytes.", bytes / size)
        }
        _ => String::new(),
    }
}
