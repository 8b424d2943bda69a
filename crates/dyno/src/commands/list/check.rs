//! Checks a suite's file as a run would, without running it.

use anyhow::{Context, Result};
use dyno_engine::{Contender, Registry};
use dyno_lab::scratch::{self, Scratch};
use dyno_launch::Interrupts;
use dyno_plan::{Plan, check_models, select};
use dyno_suite::Suite;

use super::super::outcome::AsInput;
use super::super::planning;
use super::suite::{SuiteItem, readable};
use crate::progress::Progress;

/// A suite that was read from a file, as an item of the list; None where a signal came first. Its inputs are written and its statements rendered, with its own
/// parameters and contenders, in a folder that is removed again.
///
/// # Errors
/// It holds a mistake: with its file and line.
pub fn suite(suite: &Suite, registry: &Registry, interrupts: &Interrupts) -> Result<Option<SuiteItem>> {
    let contenders =
        suite.contenders().into_iter().chain(suite.more_contenders().iter().cloned()).map(|label| {
            Contender::parse(&label, registry).with_context(|| suite.path.display().to_string())
        });
    let contenders = contenders.collect::<Result<Vec<_>>>().input()?;
    let selection = select(suite, None).input()?;
    // As in a run, those that do none of its work take no part.
    let able = contenders.into_iter().filter(|contender| check_models(suite, &selection, contender).is_ok());
    let parameters = dyno_suite::resolve(&suite.parameters, &[]).input()?;
    let scratch = Scratch::create_or(&scratch::default_parent(), scratch::BY_TMPDIR)?;
    let (able, inputs, planned) = (able.collect(), scratch.inputs(), suite.clone());
    let memory = planning::memory(dyno_plan::bounds(suite, &parameters));
    let plan = move |watch: &_| Plan::watched(&planned, &parameters, able, &selection, &inputs, None, watch);
    let made = planning::make(plan, memory, 0, interrupts, &mut Progress::new(true))?;
    Ok(made.map(|_| readable(suite.name.clone(), suite)))
}
