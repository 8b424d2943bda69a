//! The plan: contenders × tests, with every input on disk before the first trial.
//!
//! Planning renders a suite once per dialect and writes the files that the runners map. It starts no
//! process and measures nothing.

mod selection;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use dyno_protocol as protocol;

use crate::engine::Contender;
use crate::suite::{Parameters, Rendered, Suite};

pub use selection::{Selection, select};

/// Statements shown from each end of a test's list.
const SHOWN: usize = 3;

/// Everything that a run is going to do.
#[derive(Debug)]
pub struct Plan {
    /// The contenders, as named.
    pub contenders: Vec<Contender>,
    /// The tests of every trial, in order.
    pub tests: Vec<PlannedTest>,
    /// The work of those tests, by dialect.
    work: BTreeMap<String, Vec<protocol::Test>>,
}

/// A test of the plan, as people see it.
#[derive(Debug, Clone)]
pub struct PlannedTest {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// What it shows.
    pub shows: String,
    /// The name of its model.
    pub model: &'static str,
    /// Whether it is there only because a selected test needs it.
    pub preparation: bool,
    /// How many statements it has.
    pub statements: u64,
    /// The first statements.
    pub first: Vec<String>,
    /// The last ones, where they are not among the first.
    pub last: Vec<String>,
}

impl Plan {
    /// Renders the suite for every dialect among the contenders and writes the inputs to `folder`.
    pub fn new(
        suite: &Suite,
        parameters: &Parameters,
        contenders: Vec<Contender>,
        selection: &[Selection],
        folder: &Path,
    ) -> Result<Plan> {
        for contender in &contenders {
            check_models(suite, contender)?;
        }
        let mut tests = Vec::new();
        let mut work = BTreeMap::new();
        for contender in &contenders {
            let dialect = &contender.engine.dialect;
            if work.contains_key(dialect) {
                continue;
            }
            let rendered = suite.render(parameters, dialect)?;
            let chosen = chosen(selection, rendered);
            if tests.is_empty() {
                tests = chosen.iter().map(|(index, test)| describe(suite, *index, selection, test)).collect();
            }
            let folder = folder.join(dialect);
            fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
            let written = chosen.into_iter().map(|(_, test)| write_test(test, &folder));
            work.insert(dialect.clone(), written.collect::<Result<Vec<_>>>()?);
        }
        Ok(Plan { contenders, tests, work })
    }

    /// The job of one trial of a contender.
    pub fn job(&self, contender: &Contender, directory: &Path) -> protocol::Job {
        protocol::Job { tests: self.work[&contender.engine.dialect].clone(), ..probe(contender, directory) }
    }
}

/// A job without tests, which asks only who answers and what is in force.
pub fn probe(contender: &Contender, directory: &Path) -> protocol::Job {
    protocol::Job {
        protocol: protocol::PROTOCOL,
        engine: contender.engine.name.clone(),
        driver: contender.driver.name.clone(),
        variant: None,
        build: contender.build.clone(),
        settings: contender.settings.clone(),
        server: None,
        key: contender.engine_key().cloned(),
        directory: directory.to_owned(),
        latency: false,
        tests: Vec::new(),
    }
}

fn check_models(suite: &Suite, contender: &Contender) -> Result<()> {
    for test in &suite.tests {
        let model = test.model.name();
        if !contender.runner.implements(&contender.driver, None, model) {
            bail!(
                "{} cannot run the suite {}: its runner '{}' does not implement the model '{model}' of test {}",
                contender.label,
                suite.name,
                contender.runner.name,
                test.id
            );
        }
    }
    Ok(())
}

fn chosen(selection: &[Selection], rendered: Vec<Rendered>) -> Vec<(usize, Rendered)> {
    rendered.into_iter().enumerate().filter(|(index, _)| selection[*index] != Selection::Left).collect()
}

fn describe(suite: &Suite, index: usize, selection: &[Selection], test: &Rendered) -> PlannedTest {
    let statements = &test.statements;
    let all_shown = statements.len() <= 2 * SHOWN;
    let split = if all_shown { statements.len() } else { SHOWN };
    let last = if all_shown { &[] } else { &statements[statements.len() - SHOWN..] };
    PlannedTest {
        id: test.id.clone(),
        title: test.title.clone(),
        shows: suite.tests[index].shows.clone(),
        model: suite.tests[index].model.name(),
        preparation: selection[index] == Selection::Needed,
        statements: statements.len() as u64,
        first: statements[..split].to_vec(),
        last: last.to_vec(),
    }
}

fn write_test(test: Rendered, folder: &Path) -> Result<protocol::Test> {
    let file = folder.join(format!("{}.statements", test.id));
    let count = test.statements.len() as u64;
    let write = || -> std::io::Result<()> {
        let mut output = BufWriter::new(File::create(&file)?);
        for statement in &test.statements {
            output.write_all(statement.as_bytes())?;
            output.write_all(b"\0")?;
        }
        output.into_inner()?.sync_all()
    };
    if let Some(bad) = test.statements.iter().find(|statement| statement.contains('\0')) {
        bail!("a statement of test {} holds a NUL byte: {bad:?}", test.id);
    }
    write().with_context(|| format!("cannot write the input {}", file.display()))?;
    let work = protocol::Work::Statements { file, count };
    Ok(protocol::Test { id: test.id, setup: Vec::new(), work, check: test.check })
}
