//! The options of the commands that repeat the work of a run: `dyno challenge` and `dyno causes`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::values::duration;
use super::{PlaceArgs, RerunArgs, ShowOptions};

/// The run to repeat, and for how long.
#[derive(Debug, Clone, Args)]
pub struct RepeatArgs {
    /// The run file whose work to repeat
    pub run: PathBuf,
    /// Measure each contender exactly this many times [default: as in the run; for dyno causes 10, if no --budget is
    /// named]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub trials: Option<u32>,
    /// Measure for this time, in dyno challenge each changed run: 2m [default: as in the run; for dyno causes none]
    #[arg(long, value_parser = duration)]
    pub budget: Option<Duration>,
    /// The time that one test may take before dyno ends its trial [default: as in the run]
    #[arg(long, value_parser = duration)]
    pub timeout: Option<Duration>,
    /// Load and run what the run file names outside of its private database, as with dyno rerun
    #[arg(long)]
    pub trust: bool,
    /// Show no progress
    #[arg(long, short)]
    pub quiet: bool,
}

impl RepeatArgs {
    /// The same as a rerun of the run in a folder, whose run file may have a name.
    pub fn rerun(&self, dir: Option<PathBuf>, out: Option<PathBuf>, quiet: bool) -> RerunArgs {
        RerunArgs {
            run: self.run.clone(),
            place: PlaceArgs {
                dir,
                out,
                timeout: self.timeout,
                trust: self.trust,
                quiet,
                ..PlaceArgs::default()
            },
            show: ShowOptions::plain(),
        }
    }

    /// The longest time to measure, in nanoseconds.
    pub fn budget_ns(&self) -> Option<u64> {
        self.budget.map(|budget| budget.as_nanos() as u64)
    }
}
