//! The whole page as one value, in the order in which it is read.

use anyhow::Result;
use dyno_record::Run;
use dyno_verdict::{judge, rank_levels};
use serde::Serialize;

use super::contenders::{self, Card};
use super::overview::{self, Overview};
use super::raw::Raw;
use super::sections::{self, TestSection};
use super::views::comparison::{self, Compared};
use super::views::published::{self, PublishedView};
use super::views::{self, View};
use super::{Source, answer};
use crate::{encryption, notes, units};

/// What the templates get.
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
    pub(super) fn new(sources: &[Source]) -> Result<Page> {
        let run = &sources[sources.len() - 1].run;
        let verdict = judge(run);
        let rankings = rank_levels(run, &verdict);
        Ok(Page {
            suite: run.suite.name.clone(),
            title: run.suite.title.clone(),
            parameters: run.suite.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect(),
            question: answer::question(run),
            answers: answer::answers(run, &verdict, &rankings),
            story: story(run),
            facts: facts(run),
            overview: overview::overview(run, &verdict, &rankings),
            comparisons: comparison::comparisons(sources)?,
            views: views::views(sources, run, &verdict)?,
            published: published::published(run, &verdict),
            troubles: [encryption::unproved(run), notes::troubles(run, &verdict)].concat(),
            tests: sections::sections(run, &verdict),
            contenders: contenders::cards(run),
            notes: notes::reading(run, &verdict),
            command: command(run),
            raw: sources.iter().map(Raw::new).collect::<Result<_>>()?,
            dyno: run.dyno.clone(),
        })
    }
}

/// The story that the suite tells, from its text.
fn story(run: &Run) -> String {
    let suite: Option<toml::Table> = toml::from_str(&run.suite.text).ok();
    let story = suite.as_ref().and_then(|suite| suite.get("story")).and_then(toml::Value::as_str);
    story.unwrap_or_default().trim().to_owned()
}

fn facts(run: &Run) -> Vec<Fact> {
    let blocks = notes::measured_blocks(run);
    let storage = &run.storage;
    let device = storage.device.as_ref().map(|device| format!(" on {}", device.name)).unwrap_or_default();
    let system = run.machine.distribution.as_ref().map(|name| format!(", {name}")).unwrap_or_default();
    let memory = run.machine.memory_bytes.map_or("unknown memory".into(), |bytes| units::bytes(bytes as f64));
    let model = run.machine.cpu.model.as_deref().unwrap_or("an unknown processor");
    let fact = |name, value| Fact { name, value };
    vec![
        fact("Date", day(&run.started)),
        fact("Machine", format!("{} × {model}, {memory}", run.machine.cpu.online)),
        fact("System", format!("Linux {}{system}", run.machine.kernel.release)),
        fact("Storage", format!("{}{device}", storage.file_system)),
        fact("Placement", run.placement.note.clone()),
        fact("Versions", versions(run)),
        fact(
            "Trials",
            format!(
                "{blocks} of each contender {}, in {}; {}",
                notes::warm_up(run),
                units::duration(run.elapsed_ns as f64),
                notes::why_ended(run)
            ),
        ),
    ]
}

/// `2026-11-21 11:49 UTC` from RFC 3339.
fn day(started: &str) -> String {
    match (started.get(..10), started.get(11..16)) {
        (Some(date), Some(time)) => format!("{date} {time} UTC"),
        _ => started.to_owned(),
    }
}

/// Each engine's versions, once.
fn versions(run: &Run) -> String {
    let mut versions: Vec<String> = Vec::new();
    for (_, contender) in run.shown_contenders().filter(|(_, contender)| !contender.harness) {
        let Some(hello) = &contender.hello else { continue };
        let version = format!("{} {}", contender.engine, hello.engine_version);
        if !versions.contains(&version) {
            versions.push(version);
        }
    }
    versions.push(format!("dyno {}", run.dyno));
    versions.join(", ")
}

/// The command, as it can be pasted into a shell. Its first word is the program by name.
fn command(run: &Run) -> String {
    let arguments = run.command.iter().skip(1).map(|argument| quoted(argument));
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
