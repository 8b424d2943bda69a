//! The input files: the statements of a suite, as dyno's plan writes them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use dyno::suite::{Parameters, Suite};

/// The statements of one test.
#[derive(Debug)]
pub struct Input {
    /// The test's id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The file, each statement ended by a NUL byte.
    pub file: PathBuf,
    /// How many statements there are.
    pub count: u64,
}

/// Renders a suite for SQLite and writes a file for each test.
pub fn write(suite: &Path, folder: &Path) -> Result<Vec<Input>> {
    let dialects = BTreeSet::from(["sqlite".to_owned()]);
    let suite = Suite::load(suite, &dialects)?;
    let parameters = Parameters::resolve(&suite.parameters, &[])?;
    let tests = suite.render(&parameters, "sqlite")?;
    let write = |test: dyno::suite::Rendered| {
        let file = folder.join(format!("{}.statements", test.id));
        let text: String = test.statements.iter().flat_map(|statement| [statement.as_str(), "\0"]).collect();
        fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
        Ok(Input { id: test.id, title: test.title, file, count: test.statements.len() as u64 })
    };
    tests.into_iter().map(write).collect()
}
