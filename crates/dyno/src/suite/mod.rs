//! Suites: TOML documents that tell a story, name parameters and list tests in order.
//!
//! This module reads and checks them and renders their statements. It never opens a database and
//! knows no engine but by the name of its dialect. `docs/suites.md` describes the format.

mod load;
mod parameters;
mod random;
mod statements;
mod template;
mod words;

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Result, bail};
use serde::Deserialize;
use toml::Spanned;

use dyno_protocol::Value;

pub use parameters::{Declaration, ParameterValue, Parameters};
pub use template::{Renderer, TemplateError};

/// A suite as written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// The name by which to run it, that of its file.
    pub name: String,
    /// One line.
    pub title: String,
    /// What the suite asks, where it comes from and how to read its results.
    pub story: String,
    /// How far two numbers of an answer may differ, relative to the larger.
    #[serde(default)]
    pub tolerance: f64,
    /// The contenders when a run names none.
    pub contenders: Vec<String>,
    /// Parameters by name.
    #[serde(default)]
    pub parameters: BTreeMap<String, Declaration>,
    /// The tests, in the order in which a trial goes through them.
    #[serde(rename = "test")]
    pub tests: Vec<Test>,
    /// Figures that others have published for the same tests.
    #[serde(default)]
    pub published: Vec<Published>,
    /// The file it was read from.
    #[serde(skip)]
    pub path: PathBuf,
    /// Its text, which a run file keeps.
    #[serde(skip)]
    pub text: String,
}

/// A test as written. `title`, `statements` and `check` are templates.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Test {
    /// A short name, unique in the suite, by which `--only` selects it.
    pub id: String,
    /// One line for people.
    pub title: Spanned<String>,
    /// A sentence on what the test shows.
    pub shows: String,
    /// The kind of work.
    pub model: Model,
    /// The tests whose work this one builds on, by id; `--only` keeps them, untold.
    #[serde(default)]
    pub needs: Vec<String>,
    /// How the statements commit.
    #[serde(default)]
    pub transaction: Transaction,
    /// The statements.
    pub statements: Spanned<String>,
    /// The query whose rows are the answer; without one, the rows of the statements are.
    pub check: Option<Spanned<String>>,
    /// The rows of the right answer with the parameters' defaults, where they are known.
    pub expect: Option<Vec<Vec<Value>>>,
}

/// The models that suites can use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Model {
    /// Statements as text, one after another.
    Statements,
}

impl Model {
    /// The name, as the protocol and `runner.toml` spell it.
    pub fn name(self) -> &'static str {
        match self {
            Model::Statements => "statements",
        }
    }
}

/// How the statements of a test commit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transaction {
    /// Each statement is a transaction of its own.
    #[default]
    Each,
    /// One transaction holds them all; its BEGIN and COMMIT are timed with them.
    One,
}

/// A published table of figures for a suite's tests.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Who published it and when.
    pub source: String,
    /// Where, if it still can be read.
    pub link: Option<String>,
    /// On what hardware.
    pub hardware: String,
    /// Seconds per test, in the order of the suite's tests, by the name of the system.
    pub seconds: BTreeMap<String, Vec<f64>>,
}

/// A test made ready for one dialect.
#[derive(Debug, Clone, PartialEq)]
pub struct Rendered {
    /// The test's id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Every statement, BEGIN and COMMIT included.
    pub statements: Vec<String>,
    /// The checking query.
    pub check: Option<String>,
}

impl Suite {
    /// All tests for one dialect. They are rendered in order, all of them, because they share one
    /// stream of random numbers.
    pub fn render(&self, parameters: &Parameters, dialect: &str) -> Result<Vec<Rendered>> {
        let renderer = Renderer::new(parameters, dialect);
        self.tests.iter().map(|test| self.render_test(test, &renderer, dialect)).collect()
    }

    fn render_test(&self, test: &Test, renderer: &Renderer, dialect: &str) -> Result<Rendered> {
        let render = |template: &Spanned<String>| {
            renderer.render(template.get_ref()).map_err(|error| self.at_template(template, &error))
        };
        let mut statements = statements::split(&render(&test.statements)?, dialect);
        if statements.is_empty() {
            let line = self.line_of(test.statements.span().start);
            bail!("{}:{line}: test {} has no statement for {dialect}", self.path.display(), test.id);
        }
        if test.transaction == Transaction::One {
            statements.insert(0, "BEGIN".into());
            statements.push("COMMIT".into());
        }
        let check = test.check.as_ref().map(|check| self.render_check(test, check, renderer, dialect));
        Ok(Rendered {
            id: test.id.clone(),
            title: render(&test.title)?.trim().to_owned(),
            statements,
            check: check.transpose()?,
        })
    }

    fn render_check(
        &self,
        test: &Test,
        check: &Spanned<String>,
        renderer: &Renderer,
        dialect: &str,
    ) -> Result<String> {
        let text = renderer.render(check.get_ref()).map_err(|error| self.at_template(check, &error))?;
        let mut queries = statements::split(&text, dialect);
        match (queries.pop(), queries.len()) {
            (Some(query), 0) => Ok(query),
            (_, others) => {
                let line = self.line_of(check.span().start);
                let count = if others == 0 { "no query".into() } else { format!("{} queries", others + 1) };
                bail!(
                    "{}:{line}: the check of test {} has {count} for {dialect}; it takes exactly one",
                    self.path.display(),
                    test.id
                )
            }
        }
    }
}
