//! What is known of contenders: versions, settings, safety.

use std::collections::BTreeSet;

use dyno_record::{ContenderRecord, Isolated};
use dyno_verdict::Verdict;

use crate::grid;

/// The versions that were measured.
pub fn versions(verdict: &Verdict) -> Option<String> {
    let engines = verdict.shown_contenders().filter(|(_, contender)| !contender.harness);
    let version = |contender: &ContenderRecord| {
        Some(format!("{} {}", contender.engine, contender.hello.as_ref()?.engine_version))
    };
    let versions: BTreeSet<String> = engines.filter_map(|(_, contender)| version(contender)).collect();
    let versions: Vec<String> = versions.into_iter().collect();
    (!versions.is_empty()).then(|| format!("Measured: {}.", versions.join(", ")))
}

/// Who was left out.
pub fn left_out(verdict: &Verdict) -> impl Iterator<Item = String> {
    let all = verdict.about.left_out.iter().map(|left| (&*left.label, left.why.clone()));
    grouped(all).into_iter().map(|line| format!("Left out: {line}"))
}

/// Version, settings and safety of every contender.
pub fn everything(verdict: &Verdict) -> Vec<String> {
    grouped(
        verdict
            .shown_contenders()
            .map(|(index, contender)| (&*contender.label, about(verdict, index, contender))),
    )
}

/// Known holes in the safety of single contenders.
pub fn caveats(verdict: &Verdict) -> Vec<String> {
    let caveat = |contender: &ContenderRecord| contender.safety.as_ref()?.caveat.clone();
    let known =
        verdict.shown_contenders().filter_map(|(_, contender)| Some((&*contender.label, caveat(contender)?)));
    grouped(known).into_iter().map(|line| format!("† {line}")).collect()
}

/// A line for each text, with the labels of all contenders that it is about.
fn grouped<'a>(texts: impl Iterator<Item = (&'a str, String)>) -> Vec<String> {
    let mut groups: Vec<(Vec<&str>, String)> = Vec::new();
    for (label, text) in texts {
        match groups.iter_mut().find(|(_, known)| *known == text) {
            Some((labels, _)) => labels.push(label),
            None => groups.push((vec![label], text)),
        }
    }
    groups.into_iter().map(|(labels, text)| format!("{}: {text}", labels.join("; "))).collect()
}

/// Version, settings and safety of a contender.
fn about(verdict: &Verdict, index: usize, contender: &ContenderRecord) -> String {
    let version = match &contender.hello {
        Some(hello) => format!("{} {}", contender.engine, hello.engine_version),
        None => format!("{}, which never answered", contender.engine),
    };
    let asked: Vec<String> =
        contender.asked.iter().map(|setting| format!("{}={}", setting.name, setting.value)).collect();
    let mut settings = if asked.is_empty() { String::new() } else { format!("; {}", asked.join(" ")) };
    if let Some(commits) = verdict.commits(index) {
        settings += &format!("; {}", grid::commit_size(commits));
    }
    if let Some(cache) = grid::cache_size(verdict, contender) {
        settings += &format!("; {cache}");
    }
    let isolation = contender.isolation.as_ref().filter(|_| verdict.isolation(index).is_some());
    let isolation = isolation.map(|Isolated { level, standing, why, .. }| {
        format!(" Isolation: {} ({}): {why}.", level.name(), standing.name())
    });
    format!("{version}{settings}. {}{}", safety(contender), isolation.unwrap_or_default())
}

/// What a contender's commits survive.
pub fn safety(contender: &ContenderRecord) -> String {
    if contender.harness {
        return "It does no work, and shows what measuring costs.".into();
    }
    let Some(safety) = &contender.safety else {
        return "dyno does not know what commits with these settings survive.".into();
    };
    let consistent = if safety.consistent { "stay consistent" } else { "may be corrupt" };
    format!(
        "Survives {} ({}); after a power cut the data {consistent}: {}.",
        safety.level.name(),
        safety.known(),
        safety.why
    )
}
