//! The whole page as one value, in the order in which it is read.

use anyhow::Result;
use dyno_verdict::{JointVerdict, Verdict};
use serde::Serialize;

use super::comparison::{self, Compared};
use super::contenders::{self, Card};
use super::overview::{self, Overview};
use super::raw::Raw;
use super::sections::{self, TestSection};
use super::{PageSource, answer};
use crate::views;
use crate::views::encryption::proofs;
use crate::views::parts::View;
use crate::views::published::page::{self as published, PublishedView};
use crate::{notes, units};

/// The data for the templates.
#[derive(Debug, Serialize)]
pub(super) struct Page {
    suite: String,
    title: String,
    parameters: Vec<String>,
    question: String,
    answers: Vec<String>,
    story: String,
    facts: Vec<Fact>,
    overview: Overview,
    comparisons: Vec<Compared>,
    views: Vec<View>,
    published: Option<PublishedView>,
    troubles: Vec<String>,
    tests: Vec<TestSection>,
    contenders: Vec<Card>,
    notes: Vec<String>,
    command: String,
    raw: Vec<Raw>,
    dyno: String,
}

/// A fact of the run, such as its machine.
#[derive(Debug, Serialize)]
struct Fact {
    name: &'static str,
    value: String,
}

impl Page {
    /// The page of the last run, compared with those before it.
    pub(super) fn new(sources: &[PageSource], beside: &JointVerdict) -> Result<Page> {
        let verdict = &sources[sources.len() - 1].verdict;
        Ok(Page {
            suite: verdict.about.suite.name.clone(),
            title: verdict.about.suite.title.clone(),
            parameters: verdict
                .about
                .suite
                .parameters
                .iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect(),
            question: answer::question(verdict),
            answers: answer::answers(verdict),
            story: verdict.about.suite.story().to_owned(),
            facts: facts(verdict),
            overview: overview::overview(verdict),
            comparisons: comparison::comparisons(sources, verdict, beside),
            views: views::pages(verdict, beside),
            published: published::page(verdict),
            troubles: [proofs::unproved(verdict), notes::troubles(verdict)].concat(),
            tests: sections::sections(verdict),
            contenders: contenders::cards(verdict),
            notes: notes::reading(verdict),
            command: command(verdict),
            raw: sources.iter().map(Raw::new).collect::<Result<_>>()?,
            dyno: verdict.about.dyno.clone(),
        })
    }
}

fn facts(verdict: &Verdict) -> Vec<Fact> {
    let blocks = verdict.about.blocks;
    let storage = &verdict.about.storage;
    let device = storage.device.as_ref().map(|device| format!(" on {}", device.name)).unwrap_or_default();
    let system =
        verdict.about.machine.distribution.as_ref().map(|name| format!(", {name}")).unwrap_or_default();
    let memory = verdict
        .about
        .machine
        .memory_bytes
        .map_or("unknown memory".into(), |bytes| units::bytes(bytes as f64));
    let model = verdict.about.machine.cpu.model.as_deref().unwrap_or("an unknown processor");
    let fact = |name, value| Fact { name, value };
    let caches = notes::caches(verdict).map(|words| fact("Caches", words));
    let made_by = verdict.about.made_by.as_ref().map(|maker| fact("Made by", maker.words()));
    let network = notes::network(verdict).map(|words| fact("Network", words));
    let placement = notes::placement(verdict).map(|note| fact("Placement", note.to_owned()));
    let facts = [
        fact("Date", day(&verdict.about.started)),
        fact("Machine", format!("{} × {model}, {memory}", verdict.about.machine.cpu.online)),
        fact("System", format!("Linux {}{system}", verdict.about.machine.kernel.release)),
        fact("Storage", format!("{}{device}", storage.file_system)),
    ];
    let course = [
        fact("Order", format!("random, from the seed {}", verdict.about.schedule.seed)),
        fact("Other work", notes::others(verdict)),
        fact("Versions", versions(verdict)),
        fact(
            "Trials",
            format!(
                "{blocks} of each contender {}, in {}; {}",
                notes::warm_up(verdict),
                units::duration(verdict.about.elapsed_ns as f64),
                notes::why_ended(verdict)
            ),
        ),
    ];
    let generators = notes::generators(verdict).map(|words| fact("Clients", words));
    let facts = facts.into_iter().chain(placement).chain(course);
    facts.chain(generators).chain(caches).chain(network).chain(made_by).collect()
}

/// `2026-11-21 11:49 UTC` from RFC 3339.
fn day(started: &str) -> String {
    match (started.get(..10), started.get(11..16)) {
        (Some(date), Some(time)) => format!("{date} {time} UTC"),
        _ => started.to_owned(),
    }
}

/// Each engine's versions, once, and dyno's.
fn versions(verdict: &Verdict) -> String {
    let mut versions = notes::engine_versions(verdict);
    versions.push(notes::dyno(verdict));
    versions.join(", ")
}

/// The command, as it can be pasted into a shell. Its first word is the program by name.
fn command(verdict: &Verdict) -> String {
    let arguments = verdict.about.command.iter().skip(1).map(|argument| quoted(argument));
    std::iter::once("dyno".to_owned()).chain(arguments).collect::<Vec<_>>().join(" ")
}

/// An argument as a shell reads it back.
fn quoted(argument: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=,.:/@%+".contains(c);
    if !argument.is_empty() && argument.chars().all(plain) {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_survive_a_shell() {
        assert_eq!(quoted("sqlite:wal,cache_size=-65536"), "sqlite:wal,cache_size=-65536");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
        assert_eq!(day("2026-11-21T11:49:15.381024978Z"), "2026-11-21 11:49 UTC");
    }
}
