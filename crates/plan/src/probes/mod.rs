//! Probes of isolation: a suite of dyno's own, whose histories say what transactions saw of one another.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use dyno_engine::Contender;
use dyno_suite::{Model, NO_SQL, Suite, resolve};

use super::{Plan, Selection};

/// The suite.
const TEXT: &str = include_str!("isolation.toml");
/// The dialects in which it is written.
const DIALECTS: [&str; 3] = ["sqlite", "postgres", "mysql"];

/// The plan of the probes, their inputs in a folder that is made.
///
/// # Errors
/// The inputs cannot be written.
pub fn plan(contenders: Vec<Contender>, folder: &Path) -> Result<Plan> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let suite = suite()?;
    let parameters = resolve(&suite.parameters, &[])?;
    let selection = vec![Selection::Timed; suite.tests.len()];
    Plan::new(&suite, &parameters, contenders, &selection, folder, None)
}

/// Whether a contender can be probed: it has clients that do transactions in SQL which the probes are written in.
pub fn can_be_probed(contender: &Contender) -> bool {
    let dialect = contender.engine.dialect.as_str();
    !contender.engine.harness
        && dialect != NO_SQL
        && DIALECTS.contains(&dialect)
        && contender.implements(Model::Mix.name())
        && contender.engine.alone(&contender.settings).is_none()
}

fn suite() -> Result<Suite> {
    let dialects: BTreeSet<String> = DIALECTS.map(str::to_owned).into();
    Suite::parse(TEXT.to_owned(), Path::new("isolation.toml"), &dialects)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_probes_are_written_in_all_dialects() {
        let suite = suite().unwrap();
        let parameters = resolve(&suite.parameters, &[]).unwrap();
        for dialect in DIALECTS {
            let tests = suite.render(&parameters, dialect).unwrap();
            assert!(tests.iter().all(|test| test.check.is_some()), "{dialect}");
            assert!(tests[1..].iter().all(|test| !test.classes.is_empty()), "{dialect}");
        }
    }
}
