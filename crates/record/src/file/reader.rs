//! Reads a run file, of this version or of the one before, which was one JSON object.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail, ensure};
use serde::Deserialize;

use super::line::Line;
use super::{page, seal};
use crate::{DURABILITY_SCHEMA, Run, SCHEMA};

/// The version whose files are one JSON object, the run with all of its trials.
const WHOLE: &str = "dyno-run/1";

/// Reads a run. The rest of a last line that was not written to its end is left out.
///
/// # Errors
/// It cannot be read, is no run file, is of a later version, or contradicts itself; with the line.
pub fn load(path: &Path) -> Result<Run> {
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read the run file {}", path.display()))?;
    parse(&text, path)
}

/// The same of a file that stands in a folder and was not named by the user: nothing but a regular file is read.
///
/// # Errors
/// As [`load`].
pub fn load_found(path: &Path) -> Result<Run> {
    let text = dyno_files::read_found(path)
        .with_context(|| format!("cannot read the run file {}", path.display()))?;
    parse(&text, path)
}

/// The same of a text, which `path` names in messages. Of a page, the run that is packed in it.
pub fn parse(text: &str, path: &Path) -> Result<Run> {
    if page::is_page(text) {
        let run = page::packed_run(text).with_context(|| format!("{} has no run in it", path.display()))?;
        return parse_run(&run, path);
    }
    parse_run(text, path)
}

fn parse_run(text: &str, path: &Path) -> Result<Run> {
    let name = path.display();
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let mut run = match schema(text, first, path)?.as_str() {
        SCHEMA => lines(first, rest, path)?,
        WHOLE => serde_json::from_str(text).map_err(|error| anyhow!("{name}:{}: {error}", error.line()))?,
        DURABILITY_SCHEMA => {
            bail!("{name} is no run: it holds what dyno prove observed, which dyno show and dyno report read")
        }
        other => bail!(
            "{name} has the schema '{other}', and this dyno reads {SCHEMA} and {WHOLE}; use the dyno that wrote it"
        ),
    };
    check(&run).with_context(|| format!("{name} contradicts itself"))?;
    run.suite.fill_in();
    run.seals = seal::check(text);
    Ok(run)
}

/// The version that a file names.
fn schema(text: &str, first: &str, path: &Path) -> Result<String> {
    /// The part of a run that decides whether the rest can be read.
    #[derive(Deserialize)]
    struct RunHeader {
        schema: Option<String>,
    }
    /// The same of a first line.
    #[derive(Deserialize)]
    struct FirstLine {
        run: RunHeader,
    }
    let name = path.display();
    let head = match serde_json::from_str::<FirstLine>(first) {
        Ok(line) => line.run,
        Err(_) => serde_json::from_str(text).map_err(|error| match error.is_eof() {
            true => anyhow!("{name} holds no run: it was cut off before the end of its first line"),
            false => anyhow!("{name} is not a run file: it is not JSON: {error}"),
        })?,
    };
    head.schema.with_context(|| format!("{name} is not a run file: it names no schema"))
}

/// A run from its lines.
fn lines(first: &str, rest: &str, path: &Path) -> Result<Run> {
    let at = |number: usize, error: serde_json::Error| anyhow!("{}:{number}: {error}", path.display());
    let Line::Run(mut run) = serde_json::from_str(first).map_err(|error| at(1, error))? else {
        bail!("{}:1: a run file begins with its run", path.display());
    };
    for (place, line) in rest.split_inclusive('\n').enumerate() {
        let number = place + 2;
        // Its writer was stopped, or the disk was full.
        let Some(line) = line.strip_suffix('\n') else { break };
        match serde_json::from_str(line).map_err(|error| at(number, error))? {
            Line::Run(_) => bail!("{}:{number}: a second run begins", path.display()),
            Line::Contender { place, record } => {
                let known = run.contenders.get_mut(place);
                *known.with_context(|| {
                    format!("{}:{number}: there is no contender {place}", path.display())
                })? = *record;
            }
            Line::Answer(answer) => run.answers.push(answer),
            Line::Trial(trial) => run.trials.push(trial),
            Line::State { elapsed_ns, ended } => (run.elapsed_ns, run.ended) = (elapsed_ns, ended),
        }
    }
    Ok(*run)
}

/// Checks that what refers to something refers to something that is there.
fn check(run: &Run) -> Result<()> {
    let is_there = run.contenders.iter().any(|contender| contender.label == run.baseline);
    ensure!(is_there, "the baseline {} is not among the contenders", run.baseline);
    for (number, trial) in run.trials.iter().enumerate() {
        if trial.contender >= run.contenders.len() {
            bail!("trial {number} names contender {}, which is not there", trial.contender);
        }
        for sample in &trial.samples {
            if sample.answer >= run.answers.len() {
                bail!("trial {number} names answer {}, which is not there", sample.answer);
            }
            if !run.tests.iter().any(|test| test.id == sample.sample.test) {
                bail!("trial {number} has a sample of test {}, which is not there", sample.sample.test);
            }
        }
    }
    Ok(())
}
