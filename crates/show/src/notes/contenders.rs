//! Facts about contenders: versions, settings, safety.

use std::collections::BTreeSet;

use dyno_record::{ContenderRecord, Isolated};
use dyno_verdict::{Builds, Verdict};

use crate::headings;

/// The versions that were measured, each once, with the digest of the engine's file where it is known.
pub fn versions(verdict: &Verdict) -> Option<String> {
    let versions = engine_versions(verdict);
    (!versions.is_empty()).then(|| format!("Measured: {}.", versions.join(", ")))
}

/// Every engine with its version, in order, as `sqlite 3.54.1 (0123456789ab)`.
pub fn engine_versions(verdict: &Verdict) -> Vec<String> {
    let engines = verdict.shown_contenders().filter(|(_, contender)| !contender.harness);
    let versions: BTreeSet<String> = engines.filter_map(|(_, contender)| version(contender)).collect();
    versions.into_iter().collect()
}

fn version(contender: &ContenderRecord) -> Option<String> {
    let version = &contender.hello.as_ref()?.engine_version;
    let file = contender.executed.engine.as_ref().map(|file| format!(" ({})", file.short()));
    Some(format!("{} {version}{}", contender.engine, file.unwrap_or_default()))
}

/// Facts that the files of builds show, but their names and versions do not.
pub fn builds(verdict: &Verdict) -> impl Iterator<Item = String> {
    dyno_verdict::builds(verdict).into_iter().map(|found| match found {
        Builds::Differ { version, files } => {
            let files: Vec<String> =
                files.iter().map(|(label, file)| format!("{label} is {}", file.short())).collect();
            format!("Different builds say that they are {version}: by SHA-256, {}.", files.join(", "))
        }
        Builds::Same { labels, file } => {
            format!("{} are the same file ({}).", labels.join(" and "), file.short())
        }
    })
}

/// The version of dyno, with the commit it was built from, its features and the digest of its file where they are known.
pub fn dyno(verdict: &Verdict) -> String {
    let program = verdict.about.program.as_ref();
    let commit = program.and_then(|program| program.commit.as_deref()).map(short_commit);
    let file = program.and_then(|program| program.content.as_ref()).map(|file| file.short().to_owned());
    let commit = commit.map(|commit| format!("commit {commit}"));
    let features = program.and_then(|program| program.features.clone());
    let known: Vec<String> = commit.into_iter().chain(features).chain(file).collect();
    let known = if known.is_empty() { String::new() } else { format!(" ({})", known.join(", ")) };
    format!("dyno {}{known}", verdict.about.dyno)
}

/// The first digits of a commit, with the word that follows it.
fn short_commit(commit: &str) -> String {
    let (digits, rest) = commit.split_once('-').unwrap_or((commit, ""));
    let digits: String = digits.chars().take(12).collect();
    if rest.is_empty() { digits } else { format!("{digits}-{rest}") }
}

/// The contenders that were left out.
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
    let version = version(contender).unwrap_or_else(|| format!("{}, which never answered", contender.engine));
    let asked: Vec<String> =
        contender.asked.iter().map(|setting| format!("{}={}", setting.name, setting.value)).collect();
    let mut settings = if asked.is_empty() { String::new() } else { format!("; {}", asked.join(" ")) };
    if let Some(cluster) = contender.cluster {
        settings += &format!("; {}", headings::cluster(cluster));
    }
    if let Some(commits) = verdict.commits(index) {
        settings += &format!("; {}", headings::commit_size(commits));
    }
    let of_store = [headings::tuning(verdict, contender), headings::cache_size(verdict, contender)];
    of_store.into_iter().flatten().for_each(|words| settings += &format!("; {words}"));
    let isolation = contender.isolation.as_ref().filter(|_| verdict.isolation(index).is_some());
    let isolation = isolation.map(|Isolated { level, standing, why, .. }| {
        format!(" Isolation: {} ({}): {why}.", level.name(), standing.name())
    });
    format!("{version}{settings}. {}{}", safety(contender), isolation.unwrap_or_default())
}

/// The safety of a contender's commits.
pub fn safety(contender: &ContenderRecord) -> String {
    if contender.harness {
        return "It does no work, and shows what measuring costs.".into();
    }
    let Some(safety) = &contender.safety else {
        return "dyno does not know what commits with these settings survive.".into();
    };
    let consistent = if safety.consistent { "stay consistent" } else { "may be corrupt" };
    let nodes = safety.nodes.map_or_else(String::new, |nodes| format!(" and {}", nodes.words()));
    format!(
        "Survives {}{nodes} ({}); after a power cut the data {consistent}: {}.",
        safety.level.name(),
        safety.known(),
        safety.why
    )
}
