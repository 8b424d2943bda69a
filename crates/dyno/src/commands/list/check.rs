//! Checks a suite's file as a run would, without running it.

use std::path::Path;

use anyhow::{Context, Result};
use dyno_engine::{Contender, Registry};
use dyno_lab::scratch::{self, Scratch};
use dyno_plan::{Plan, check_models, select};
use dyno_suite::Suite;
use dyno_suite::watch::Watch;

use super::super::Input;
use super::suite::{SuiteItem, readable};

/// The suite of a file. Its inputs are written and its statements rendered, with its own parameters and contenders, in a
/// folder that is removed again.
///
/// # Errors
/// It holds a mistake: with its file and line.
pub fn suite(path: &str, registry: &Registry) -> Result<SuiteItem> {
    let suite = Suite::load(Path::new(path), &registry.dialects()).input()?;
    let contenders = suite
        .contenders()
        .into_iter()
        .map(|label| Contender::parse(&label, registry).with_context(|| suite.path.display().to_string()));
    let contenders = contenders.collect::<Result<Vec<_>>>().input()?;
    let selection = select(&suite, None).input()?;
    // As in a run, those that do none of its work take no part.
    let able = contenders.into_iter().filter(|contender| check_models(&suite, &selection, contender).is_ok());
    let parameters = dyno_suite::resolve(&suite.parameters, &[]).input()?;
    let scratch = Scratch::create(&scratch::default_parent())?;
    let (able, inputs) = (able.collect(), scratch.inputs());
    Plan::watched(&suite, &parameters, able, &selection, &inputs, None, &Watch::default()).input()?;
    Ok(readable(suite.name.clone(), &suite))
}
