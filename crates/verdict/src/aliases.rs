//! Comparing contenders that have another name in each of two runs.

use anyhow::{Result, bail};

use crate::compare::{Comparison, compare};
use crate::judge::Verdict;

/// A contender of an old run, and the name of the one in a new run with which to compare it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Alias {
    /// Its label in the old run.
    old: String,
    /// The label in the new run.
    new: String,
}

/// Compares two runs, with aliases written as `OLD=NEW`.
///
/// # Errors
/// An alias names no contender of the runs, or [`compare`] refuses them.
pub fn compare_as(mut old: Verdict, new: &Verdict, aliases: &[String]) -> Result<Comparison> {
    let aliases = aliases.iter().map(|text| alias(text, &old, new)).collect::<Result<Vec<Alias>>>()?;
    let asked = |label: &str| aliases.iter().find(|alias| alias.old == label);
    let mut displaced = Vec::new();
    for contender in &mut old.contenders {
        if let Some(alias) = asked(&contender.label) {
            contender.label.clone_from(&alias.new);
        } else if aliases.iter().any(|alias| alias.new == contender.label) {
            // Its place is taken: it is listed among those that are not compared.
            contender.label += " (of the old run)";
            displaced.push(contender.label.clone());
        }
    }
    let mut comparison = compare(&old, new)?;
    comparison.gone.retain(|label| !displaced.contains(label));
    for label in &mut comparison.contenders {
        if let Some(alias) = aliases.iter().find(|alias| alias.new == *label && alias.old != *label) {
            *label = format!("{} → {label}", alias.old);
        }
    }
    Ok(comparison)
}

/// Reads `OLD=NEW`. The labels themselves may hold `=`, so the one between them is where both sides are contenders.
fn alias(text: &str, old: &Verdict, new: &Verdict) -> Result<Alias> {
    let has = |run: &Verdict, label: &str| run.shown_contenders().any(|(_, known)| known.label == label);
    let halves = text.match_indices('=').map(|(place, _)| (&text[..place], &text[place + 1..]));
    match halves.into_iter().find(|(before, after)| has(old, before) && has(new, after)) {
        Some((old, new)) => Ok(Alias { old: old.to_owned(), new: new.to_owned() }),
        None => {
            let labels = |run: &Verdict| -> String {
                run.shown_contenders().map(|(_, known)| known.label.as_str()).collect::<Vec<_>>().join(", ")
            };
            bail!(
                "--as takes OLD=NEW, a contender of each run, and '{text}' is not: the old run has {}, the new run {}",
                labels(old),
                labels(new)
            )
        }
    }
}
