//! The verdict as JSON, for programs. The samples themselves are in the run file.

use anyhow::{Context, Result};
use dyno_record::{Commits, Ended, Isolated, Safety};
use dyno_verdict::Verdict;
use serde::Serialize;

use crate::steers;

/// The version of this output.
const SCHEMA: &str = "dyno-verdict/1";

#[derive(Serialize)]
struct Report<'a> {
    schema: &'static str,
    suite: &'a str,
    started: &'a str,
    ended: Ended,
    baseline: &'a str,
    contenders: Vec<Contender<'a>>,
    verdict: &'a Verdict,
}

#[derive(Serialize)]
struct Contender<'a> {
    /// The position by which the verdict names it.
    contender: usize,
    label: &'a str,
    safety: Option<&'a Safety>,
    #[serde(skip_serializing_if = "Option::is_none")]
    isolation: Option<&'a Isolated>,
    #[serde(skip_serializing_if = "Option::is_none")]
    commits: Option<Commits>,
}

/// The verdict with what is needed to read it.
pub fn render(verdict: &Verdict) -> Result<String> {
    let contenders = verdict.shown_contenders().map(|(contender, record)| Contender {
        contender,
        label: &record.label,
        safety: record.safety.as_ref(),
        isolation: record.isolation.as_ref().filter(|_| verdict.isolation(contender).is_some()),
        commits: verdict.commits(contender),
    });
    pretty(&Report {
        schema: SCHEMA,
        suite: &verdict.about.suite.name,
        started: &verdict.about.started,
        ended: verdict.about.ended,
        baseline: verdict.label(verdict.baseline),
        contenders: contenders.collect(),
        verdict,
    })
}

/// Any value as indented JSON with a line break at its end.
pub fn pretty(value: &impl Serialize) -> Result<String> {
    let text = serde_json::to_string_pretty(value).context("cannot write JSON")?;
    Ok(spelled(&text) + "\n")
}

/// JSON in which nothing can steer a terminal: serde_json spells out fewer control characters than there are. They
/// stand within strings only.
fn spelled(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for letter in json.chars() {
        match steers(letter) {
            // None of them is above U+FFFF.
            true => text += &format!("\\u{:04x}", u32::from(letter)),
            false => text.push(letter),
        }
    }
    text
}
