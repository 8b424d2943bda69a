//! Plans of read statements: the engine's own EXPLAIN, as further tests of the job that a runner executes, each after
//! the test that it is about. What an engine refuses costs the tests after it their place in that one trial, which no
//! figure rests on.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use dyno_protocol::{
    Job, MixStatement, MixValue, MixWork, STEP_CLASS, STEP_HEAD, StepKind, Test, Value, Work,
};
use dyno_record::{Answer, StatementPlan};
use dyno_wire::{WireProtocol, without_values};

use crate::trial::{Outcome, Trial};

/// The most statements of a test whose plans are asked for.
const MOST: usize = 12;
/// The most steps that are read for the values of a class.
const MOST_STEPS: u64 = 10_000;
/// Words that make a statement more than a read.
const WRITES: [&str; 5] = ["INSERT", "UPDATE", "DELETE", "INTO", "MERGE"];

/// The way to ask an engine for a plan.
#[derive(Debug, Clone, Copy)]
struct Explain {
    before: &'static str,
    /// Makes the lines of a plan of the rows that are returned.
    lines: LinesOf,
}

type LinesOf = fn(&[Vec<Value>]) -> Vec<String>;

/// The tests that were added to a job, by their positions; none for the job's own.
#[derive(Debug, Default)]
pub(super) struct PlanTests {
    added: Vec<Option<(String, String)>>,
}

impl PlanTests {
    /// Adds the tests to a job. Their inputs go to a folder.
    ///
    /// # Errors
    /// An input cannot be read or written.
    pub fn add_to(job: &mut Job, dialect: &str, folder: &Path) -> Result<PlanTests> {
        let Some(explain) = explain(dialect) else { return Ok(PlanTests::default()) };
        let mut plans = PlanTests::default();
        let own = std::mem::take(&mut job.tests);
        for test in own {
            let statements = reads(&test.work).with_context(|| format!("test {}", test.id))?;
            let id = test.id.clone();
            job.tests.push(test);
            plans.added.push(None);
            for statement in statements {
                let file = folder.join(format!("plan-{}.sql", plans.added.len()));
                fs::write(&file, format!("{} {statement}\0", explain.before))
                    .with_context(|| format!("cannot write {}", file.display()))?;
                job.tests.push(plan_test(format!("{id} plan {}", plans.added.len()), file));
                plans.added.push(Some((id.clone(), statement)));
            }
        }
        Ok(plans)
    }

    /// The position in the plan of a test of the job; none for one that was added.
    pub fn own(&self, position: usize) -> Option<usize> {
        match self.added.get(position) {
            Some(Some(_)) => None,
            _ => Some(position - self.added.iter().take(position).flatten().count()),
        }
    }

    /// Takes the plans out of a trial's samples and answers. Returns a warning where one was refused.
    pub fn take_from(self, trial: &mut Trial, dialect: &str) -> Option<String> {
        let explain = explain(dialect)?;
        let of = |place: usize| self.added.get(place).cloned().flatten();
        let answers = std::mem::take(&mut trial.answers);
        let samples = std::mem::take(&mut trial.samples);
        for (place, (sample, answer)) in samples.into_iter().zip(answers).enumerate() {
            match of(place) {
                Some((test, statement)) => trial.plans.extend(plan(test, statement, &answer, explain)),
                None => {
                    trial.samples.push(sample);
                    trial.answers.push(answer);
                }
            }
        }
        let Outcome::Failed { test: Some(failed), message } = &trial.outcome else { return None };
        let refused =
            self.added.iter().flatten().find(|(test, _)| failed.starts_with(&format!("{test} plan ")))?;
        let warning = format!("the plan of a statement of test {} could not be had: {message}", refused.0);
        trial.outcome = Outcome::Finished;
        Some(warning)
    }
}

fn plan_test(id: String, file: PathBuf) -> Test {
    Test { id, setup: Vec::new(), work: Work::Statements { file, count: 1 }, check: None }
}

fn plan(test: String, statement: String, answer: &Answer, explain: Explain) -> Option<StatementPlan> {
    let plan = (explain.lines)(&answer.kept);
    (!plan.is_empty()).then_some(StatementPlan { test, statement, plan })
}

/// The words that ask for a plan in a dialect; none where dyno knows none.
fn explain(dialect: &str) -> Option<Explain> {
    let (before, lines): (_, LinesOf) = match dialect {
        "sqlite" => ("EXPLAIN QUERY PLAN", indented),
        "postgres" => ("EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, SUMMARY OFF)", lines_of_last),
        "mysql" => ("EXPLAIN", joined),
        "duckdb" => ("EXPLAIN", lines_of_last),
        _ => return None,
    };
    Some(Explain { before, lines })
}

/// Rows with a number, the number of the row above, and text in the end.
fn indented(rows: &[Vec<Value>]) -> Vec<String> {
    let mut depths: Vec<(i64, usize)> = Vec::new();
    let line = |row: &Vec<Value>| {
        let [Value::Integer(number), Value::Integer(above), .., detail] = &row[..] else {
            return shown(row.last()?);
        };
        let depth = depths.iter().find(|(known, _)| known == above).map_or(0, |(_, depth)| depth + 1);
        depths.push((*number, depth));
        Some(format!("{}{}", "  ".repeat(depth), shown(detail)?))
    };
    rows.iter().filter_map(line).collect()
}

/// The lines of each row's last value.
fn lines_of_last(rows: &[Vec<Value>]) -> Vec<String> {
    let texts = rows.iter().filter_map(|row| shown(row.last()?));
    texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// The values of each row.
fn joined(rows: &[Vec<Value>]) -> Vec<String> {
    let value = |value: &Value| shown(value).unwrap_or_else(|| "–".to_owned());
    rows.iter().map(|row| row.iter().map(value).collect::<Vec<_>>().join(" | ")).collect()
}

fn shown(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Integer(number) => Some(number.to_string()),
        Value::Real(number) => Some(number.to_string()),
        Value::Text(text) | Value::Blob { blob: text } => Some(text.clone()),
    }
}

/// The read statements of a test, the first of those that differ in their values alone. Of a test that also writes
/// there are none: what it read is no more as it was.
fn reads(work: &Work) -> Result<Vec<String>> {
    match work {
        Work::Statements { file, .. } => {
            let text = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
            let texts = text.split(|&byte| byte == 0).filter(|text| !text.is_empty());
            let statements: Vec<String> =
                texts.map(|text| String::from_utf8_lossy(text).into_owned()).collect();
            let reads_only = statements.iter().all(|text| is_read(text) || is_bracket(text));
            Ok(if reads_only {
                of_each_shape(statements.into_iter().filter(|text| is_read(text)))
            } else {
                Vec::new()
            })
        }
        Work::Mix(mix) if mix.store.is_none() => mix_reads(mix),
        _ => Ok(Vec::new()),
    }
}

fn is_read(statement: &str) -> bool {
    let upper = statement.to_uppercase();
    let mut words = upper.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    matches!(words.next(), Some("SELECT" | "WITH" | "VALUES")) && !words.any(|word| WRITES.contains(&word))
}

/// True for what begins and ends a transaction.
fn is_bracket(statement: &str) -> bool {
    let word = statement.split_whitespace().next().unwrap_or_default().to_uppercase();
    ["BEGIN", "START", "COMMIT", "END"].contains(&word.as_str())
}

/// The first of those statements that differ by values and comments alone. Suites quote as the standard does, for all
/// engines.
fn of_each_shape(statements: impl Iterator<Item = String>) -> Vec<String> {
    let mut shapes = BTreeSet::new();
    statements
        .filter(|statement| shapes.insert(without_values(statement, WireProtocol::Postgres)))
        .take(MOST)
        .collect()
}

/// The read statements of a mix with the values of the first step of their class. One whose values come from the rows
/// of another statement is left out.
fn mix_reads(mix: &MixWork) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for (number, class) in mix.classes.iter().enumerate() {
        let reads: Vec<&MixStatement> =
            class.statements.iter().filter(|statement| is_read(&statement.text.join("?"))).collect();
        if reads.is_empty() {
            continue;
        }
        let Some(step) = first_step(mix, number as u64)? else { continue };
        found.extend(reads.into_iter().filter_map(|statement| filled(mix, statement, &step)));
    }
    Ok(of_each_shape(found.into_iter()))
}

/// A statement with its values in its text.
fn filled(mix: &MixWork, statement: &MixStatement, step: &[u8]) -> Option<String> {
    let mut text = statement.text.first()?.clone();
    for (parameter, rest) in statement.parameters.iter().zip(&statement.text[1..]) {
        let field = match *parameter {
            MixValue::Field(field) => field,
            MixValue::Item { item } => mix.lists.first()?.first + item,
            MixValue::Row { .. } => return None,
        };
        text.push_str(&literal(mix, field, step)?);
        text.push_str(rest);
    }
    Some(text)
}

/// The value of a field of a step as it stands in SQL.
fn literal(mix: &MixWork, field: usize, step: &[u8]) -> Option<String> {
    let begins = STEP_HEAD + mix.fields.iter().take(field).map(|field| field.bytes).sum::<u64>();
    let about = mix.fields.get(field)?;
    let cell = step.get(begins as usize..(begins + about.bytes) as usize)?;
    let number = || <[u8; 8]>::try_from(cell.get(..8)?).ok();
    let quoted = |text: &[u8]| format!("'{}'", String::from_utf8_lossy(text).replace('\'', "''"));
    Some(match about.kind {
        StepKind::Integer => i64::from_le_bytes(number()?).to_string(),
        StepKind::Real => format!("{:e}", f64::from_le_bytes(number()?)),
        StepKind::Text => quoted(cell),
        StepKind::VaryingText => quoted(cell.get(8..8 + u64::from_le_bytes(number()?) as usize)?),
    })
}

/// The first step of a class, by its position.
fn first_step(mix: &MixWork, class: u64) -> Result<Option<Vec<u8>>> {
    let Some(steps) = mix.steps.first() else { return Ok(None) };
    let unreadable = || format!("cannot read {}", steps.file.display());
    let mut file = BufReader::new(fs::File::open(&steps.file).with_context(unreadable)?);
    let mut step = vec![0; mix.step_bytes() as usize];
    for _ in 0..steps.count.min(MOST_STEPS) {
        file.read_exact(&mut step).with_context(unreadable)?;
        if step[STEP_CLASS] == class.to_le_bytes() {
            return Ok(Some(step));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests;
