//! The verdict as JSON, for programs. The samples themselves are in the run file.

use anyhow::{Context, Result};
use dyno_record::{Commits, Ended, Executed, Isolated, MadeBy, Program, Safety};
use dyno_verdict::{Cell, Generator, TestVerdict, Verdict};
use serde::Serialize;
use serde_json::Value;

use crate::steers;
use crate::views::per_operation::of_operation;

/// The version of this output.
const SCHEMA: &str = "dyno-verdict/1";

#[derive(Serialize)]
struct Report<'a> {
    schema: &'static str,
    suite: &'a str,
    started: &'a str,
    ended: Ended,
    dyno: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<&'a Program>,
    #[serde(skip_serializing_if = "Option::is_none")]
    made_by: Option<&'a MadeBy>,
    /// The result of checking the seals of the run file, in words.
    run_file: String,
    /// The machines that drove the clients.
    #[serde(skip_serializing_if = "<[Generator]>::is_empty")]
    generators: &'a [Generator],
    baseline: &'a str,
    contenders: Vec<Contender<'a>>,
    /// The verdict, with the label of every contender and the unit of every median.
    verdict: Value,
}

#[derive(Serialize)]
struct Contender<'a> {
    /// The position by which the verdict names it.
    contender: usize,
    label: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    engine_version: Option<&'a str>,
    #[serde(skip_serializing_if = "Executed::is_empty")]
    executed: &'a Executed,
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
        engine_version: record.hello.as_ref().map(|hello| &*hello.engine_version),
        executed: &record.executed,
        safety: record.safety.as_ref(),
        isolation: record.isolation.as_ref().filter(|_| verdict.isolation(contender).is_some()),
        commits: verdict.commits(contender),
    });
    pretty(&Report {
        schema: SCHEMA,
        suite: &verdict.about.suite.name,
        started: &verdict.about.started,
        ended: verdict.about.ended,
        dyno: &verdict.about.dyno,
        program: verdict.about.program.as_ref(),
        made_by: verdict.about.made_by.as_ref(),
        run_file: verdict.about.seals.to_string(),
        generators: &verdict.about.generators,
        baseline: verdict.label(verdict.baseline),
        contenders: contenders.collect(),
        verdict: labelled(verdict)?,
    })
}

/// The verdict with what a reader would have to look up elsewhere.
fn labelled(verdict: &Verdict) -> Result<Value> {
    let mut value = serde_json::to_value(verdict).context("cannot write JSON")?;
    label(&mut value, verdict);
    for (test, judged) in items(&mut value, "tests").zip(&verdict.tests) {
        name_units(test, &unit(judged));
        for (key, measures) in [("responses", &judged.responses), ("counts", &judged.counts)] {
            for (found, measure) in items(test, key).zip(measures) {
                name_units(found, measure.quantity.unit());
                if !measure.quantity.scatters() && !measure.quantity.is_peak() {
                    let whole = judged.amount.as_ref().map(|amount| amount.count);
                    divide(found, (whole, &judged.cells), &measure.cells);
                }
            }
        }
    }
    Ok(value)
}

/// The items of an array in an object.
fn items<'v>(value: &'v mut Value, key: &str) -> impl Iterator<Item = &'v mut Value> {
    value.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten()
}

/// Adds a contender's label next to each of its positions.
fn label(value: &mut Value, verdict: &Verdict) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| label(item, verdict)),
        Value::Object(fields) => {
            fields.values_mut().for_each(|field| label(field, verdict));
            let position = fields.get("contender").and_then(Value::as_u64).map(|place| place as usize);
            if let Some(contender) = position.and_then(|place| verdict.contenders.get(place)) {
                fields.insert("label".to_owned(), contender.label.clone().into());
            }
        }
        _ => {}
    }
}

/// The work that a test's durations cover: all of it or, in a mix that lasts a time, one operation.
fn unit(test: &TestVerdict) -> String {
    match &test.amount {
        Some(amount) if amount.count == 1 => {
            format!("ns per {}", amount.unit.strip_suffix('s').unwrap_or(&amount.unit))
        }
        _ => test.quantity.unit().to_owned(),
    }
}

/// Adds the unit to each figure of a quantity.
fn name_units(judged: &mut Value, unit: &str) {
    for cell in items(judged, "cells") {
        if let Some(Value::Object(summary)) = cell.pointer_mut("/figures/summary") {
            summary.insert("unit".to_owned(), unit.into());
        }
    }
}

/// Adds the number of events of an operation to each count.
fn divide(counted: &mut Value, (whole, own): (Option<u64>, &[Cell]), cells: &[Cell]) {
    for (found, (own, cell)) in items(counted, "cells").zip(own.iter().zip(cells)) {
        if let (Value::Object(fields), Some(events)) = (found, of_operation(whole, own, cell)) {
            fields.insert("per_operation".to_owned(), events.into());
        }
    }
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
            // All of them are below U+10000.
            true => text += &format!("\\u{:04x}", u32::from(letter)),
            false => text.push(letter),
        }
    }
    text
}
