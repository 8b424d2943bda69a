//! Probes of isolation: a suite built into dyno, whose histories record what transactions saw of one another.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use dyno_engine::Contender;
use dyno_suite::{Model, NO_SQL, Suite, resolve};

use super::{Plan, Selection};

/// The suite in SQL.
const TEXT: &str = include_str!("isolation.toml");
/// The dialects in which it is written.
const DIALECTS: [&str; 6] = ["sqlite", "postgres", "mysql", "h2", "hsqldb", "derby"];
/// The suite for stores of keys and values.
const OF_STORES: &str = include_str!("stores.toml");

/// The probes that fit a contender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Probes {
    /// Transactions in SQL.
    Sql,
    /// Transactions of gets and puts.
    Store,
}

/// The plan of the probes of contenders that are all probed by these, their inputs in a folder that is made.
///
/// # Errors
/// The inputs cannot be written.
pub fn plan(probes: Probes, contenders: Vec<Contender>, folder: &Path) -> Result<Plan> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let suite = suite(probes)?;
    let parameters = resolve(&suite.parameters, &[])?;
    let selection = vec![Selection::Timed; suite.tests.len()];
    Plan::new(&suite, &parameters, contenders, &selection, folder, None)
}

/// The probes that fit a contender: it has clients that do transactions, in the SQL of the probes or on a store.
pub fn probes_of(contender: &Contender) -> Option<Probes> {
    let has_clients = !contender.engine.harness
        && contender.implements(Model::Mix.name())
        && contender.engine.alone(&contender.settings).is_none();
    match contender.engine.dialect.as_str() {
        _ if !has_clients => None,
        NO_SQL => Some(Probes::Store),
        dialect => DIALECTS.contains(&dialect).then_some(Probes::Sql),
    }
}

fn suite(probes: Probes) -> Result<Suite> {
    let (text, name, dialects) = match probes {
        Probes::Sql => (TEXT, "isolation.toml", DIALECTS.to_vec()),
        Probes::Store => (OF_STORES, "stores.toml", vec![NO_SQL]),
    };
    let dialects: BTreeSet<String> = dialects.into_iter().map(str::to_owned).collect();
    Suite::parse(text.to_owned(), Path::new(name), &dialects)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_probes_are_written_in_all_dialects() {
        let suite = suite(Probes::Sql).unwrap();
        let parameters = resolve(&suite.parameters, &[]).unwrap();
        for dialect in DIALECTS {
            let tests = suite.render(&parameters, dialect).unwrap();
            assert!(tests.iter().all(|test| test.check.is_some()), "{dialect}");
            assert!(tests[1..].iter().all(|test| !test.classes.is_empty()), "{dialect}");
        }
        let suite = super::suite(Probes::Store).unwrap();
        let parameters = resolve(&suite.parameters, &[]).unwrap();
        let tests = suite.render(&parameters, NO_SQL).unwrap();
        assert!(tests.len() == 4 && tests.iter().all(|test| test.store.as_deref() == Some("seen")));
    }
}
