//! Several runs on one page: the last of them compared with those before it, or all of them by their size.

use anyhow::{Context, Result};

use crate::compare::{Comparison, compare};
use crate::judge::Verdict;
use crate::views::scaling::{Scaling, scaling};

/// The joint judgement of several runs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JointVerdict {
    /// The last run against each of the others that did the same work, which is named by its place.
    pub comparisons: Vec<(usize, Comparison)>,
    /// The runs that differ in one parameter, the last of each size; absent where all have the same.
    pub scaling: Option<Scaling>,
}

/// Compares runs, each with the name by which messages call it.
///
/// # Errors
/// They did not do the same work, and differ in more than one parameter or in one that is no number.
pub fn beside(runs: &[(&str, &Verdict)]) -> Result<JointVerdict> {
    let Some(((name, new), older)) = runs.split_last() else { return Ok(JointVerdict::default()) };
    let mut comparisons = Vec::new();
    for (place, (other, old)) in older.iter().enumerate() {
        let (was, is) = (&old.about.suite, &new.about.suite);
        if was.name == is.name && is_other_size(old, new) {
            continue;
        }
        let comparison =
            compare(old, new).with_context(|| format!("{other} and {name} cannot be compared"))?;
        comparisons.push((place, comparison));
    }
    let mut sizes: Vec<&Verdict> = Vec::new();
    for (_, run) in runs.iter().rev() {
        if sizes.iter().all(|known| is_other_size(known, run)) {
            sizes.push(run);
        }
    }
    let scaling = (sizes.len() > 1).then(|| scaling(&sizes)).transpose()?;
    Ok(JointVerdict { comparisons, scaling })
}

/// True if two runs differ in a parameter, or in the delay of their network.
fn is_other_size(one: &Verdict, other: &Verdict) -> bool {
    let (one, other) = (&one.about, &other.about);
    one.suite.parameters != other.suite.parameters || one.limits.round_trip_ns != other.limits.round_trip_ns
}
