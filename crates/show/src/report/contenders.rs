//! A card for each contender: what it is, what was asked of it and what was in force.

use std::collections::BTreeSet;

use dyno_protocol::Build;
use dyno_record::{ContenderRecord, Content, Executed};
use dyno_verdict::Verdict;
use serde::Serialize;

use super::anchors;
use super::charts;
use super::words;
use crate::headings;
use crate::units;
use crate::views::durability;

/// A contender.
#[derive(Debug, Serialize)]
pub(crate) struct Card {
    anchor: String,
    label: String,
    colour: usize,
    engine: String,
    driver: String,
    runner: Option<String>,
    build: String,
    profile: String,
    reason: String,
    link: Option<String>,
    harness: bool,
    safety: Option<SafetyCard>,
    settings: Vec<SettingRow>,
    /// The files executed, library, compile options and whatever else names the build, as the engine says it.
    flags: Vec<(String, String)>,
}

/// The safety of its commits, and the reason for it.
#[derive(Debug, Serialize)]
struct SafetyCard {
    heading: &'static str,
    standing: String,
    consistent: bool,
    why: String,
    link: Option<String>,
    caveat: Option<String>,
    proved: Option<String>,
}

/// A setting as asked for and as read back.
#[derive(Debug, Serialize)]
struct SettingRow {
    name: String,
    asked: String,
    in_force: String,
}

pub(crate) fn cards(verdict: &Verdict) -> Vec<Card> {
    verdict.shown_contenders().map(|(index, contender)| card(verdict, index, contender)).collect()
}

fn card(verdict: &Verdict, index: usize, contender: &ContenderRecord) -> Card {
    let hello = contender.hello.as_ref();
    let version = |of: &str, version: Option<&String>| match version {
        Some(version) => format!("{of} {version}"),
        None => format!("{of}, which never answered"),
    };
    Card {
        anchor: anchors::contender(index),
        label: contender.label.clone(),
        colour: charts::colour(verdict, index),
        engine: version(&contender.engine, hello.map(|hello| &hello.engine_version)),
        driver: version(&contender.driver, hello.map(|hello| &hello.driver_version)),
        runner: hello.map(|hello| hello.runner.clone()),
        build: match (&contender.url, &contender.build) {
            (Some(url), _) => format!("the server at {url}"),
            (None, Build::Bundled) => "bundled".into(),
            (None, Build::System) => "the system's".into(),
            (None, Build::Path(path)) => path.display().to_string(),
        },
        profile: match headings::tuning(verdict, contender) {
            Some(tuning) => format!("{}, {tuning}", contender.profile),
            None => contender.profile.clone(),
        },
        reason: contender.reason.clone(),
        link: web(contender.link.as_ref()),
        harness: contender.harness,
        safety: contender.safety.as_ref().map(|safety| SafetyCard {
            heading: words::heading(Some(safety.level)),
            standing: safety.known(),
            consistent: safety.consistent,
            why: safety.why.clone(),
            link: web(safety.link.as_ref()),
            caveat: safety.caveat.clone(),
            proved: durability::words::about(verdict, index),
        }),
        settings: settings(verdict, index, contender),
        flags: files(contender).into_iter().chain(flags(contender)).collect(),
    }
}

/// The files that its trials executed, by their content.
fn files(contender: &ContenderRecord) -> Vec<(String, String)> {
    let Executed { engine, client, runner } = &contender.executed;
    let all = [("engine's file", engine), ("client library", client), ("runner's program", runner)];
    let known = all.into_iter().filter_map(|(name, file)| Some((name, file.as_ref()?)));
    let shown = |file: &Content| format!("SHA-256 {}\n{}", file.sha256, units::bytes(file.bytes as f64));
    known.map(|(name, file)| (name.to_owned(), shown(file))).collect()
}

/// Further facts that identify the build, as the engine reports them.
fn flags(contender: &ContenderRecord) -> Vec<(String, String)> {
    let flags = contender.hello.iter().flat_map(|hello| &hello.build);
    flags.map(|(name, values)| (name.clone(), values.join("\n"))).collect()
}

/// The commit size, and every setting asked for or read back, once; those asked for first.
fn settings(verdict: &Verdict, index: usize, contender: &ContenderRecord) -> Vec<SettingRow> {
    let in_force = contender.hello.as_ref().map_or(&[][..], |hello| &hello.settings);
    let asked = contender.asked.iter().map(|setting| SettingRow {
        name: setting.name.clone(),
        asked: setting.value.clone(),
        in_force: in_force.iter().find(|found| found.name == setting.name).map_or(
            "not read back".into(),
            |found| match contender.claimed.contains(&found.name) {
                true => format!("{} (claimed)", found.value),
                false => found.value.clone(),
            },
        ),
    });
    let named: BTreeSet<&str> = contender.asked.iter().map(|setting| setting.name.as_str()).collect();
    let others = in_force.iter().filter(|setting| !named.contains(setting.name.as_str()));
    let others = others.map(|setting| SettingRow {
        name: setting.name.clone(),
        asked: String::new(),
        in_force: setting.value.clone(),
    });
    let size = verdict.commits(index).map(|_| {
        let asked = contender.per_commit.map_or("all".to_owned(), |operations| operations.to_string());
        SettingRow { name: "per_commit".into(), asked, in_force: "the runner's own loop".into() }
    });
    size.into_iter().chain(asked).chain(others).collect()
}

/// A link to follow: only to the web, whatever a file says.
pub(crate) fn web(link: Option<&String>) -> Option<String> {
    let is_web = |link: &&String| link.starts_with("https://") || link.starts_with("http://");
    let is_plain = |link: &&String| !link.contains(|c: char| c.is_whitespace() || "<>\"".contains(c));
    link.filter(is_web).filter(is_plain).cloned()
}
