//! `dyno calibrate`: contenders beside copies of themselves, and what these tell of the machine.

use std::time::Duration;

use anyhow::Result;
use dyno_engine::{Contender, Home, Registry};
use dyno_record::Run;
use dyno_show::calibration;
use dyno_verdict::calibrate;

use super::run::{perform, typed};
use super::{Exit, Input, print};
use crate::cli::CalibrateArgs;

/// What is calibrated with where nobody says.
const SUITE: &str = "speedtest";
const CONTENDER: &str = "sqlite:nosync";
/// How long, where nobody says.
const BUDGET: Duration = Duration::from_secs(120);
/// By how much copies are slower.
const SLOWDOWNS: [&str; 5] = ["0%", "1%", "3%", "5%", "10%"];

/// Calibrates, or shows what an earlier run tells.
pub fn execute(arguments: CalibrateArgs) -> Result<Exit> {
    let CalibrateArgs { again, mut run } = arguments;
    if let Some(path) = again {
        return shown(&dyno_record::load(&path).input()?);
    }
    let registry = Registry::load(&Home::find()?)?;
    if run.with.is_empty() && run.urls.is_empty() {
        run.suite.get_or_insert_with(|| SUITE.into());
        run.with.push(CONTENDER.into());
    }
    if run.trials.is_none() {
        run.budget.get_or_insert(BUDGET);
        // Until the budget ends: what is asked is how far the blocks scatter.
        run.target = 0.0;
    }
    let mut request = typed(&run, None, &Home::find()?, &registry).input()?;
    let originals = std::mem::take(&mut request.contenders);
    for original in originals {
        let copies = SLOWDOWNS.map(|share| format!("{},slowdown={share}", original.label));
        request.contenders.push(original);
        for copy in copies {
            request.contenders.push(Contender::parse(&copy, &registry).input()?);
        }
    }
    perform(request, &registry, &run.place, |run, _| shown(run))
}

fn shown(run: &Run) -> Result<Exit> {
    print(&calibration::render(&calibrate(run)))
}
