//! The command line of `dyno causes`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::TextFormat;
use super::values::duration;

/// Arguments of `dyno causes`.
#[derive(Debug, Args)]
pub struct CausesArgs {
    /// The run file whose work to repeat
    pub run: PathBuf,
    /// The two contenders of the run whose difference to explain [default: both, if the run has two]
    #[arg(long, value_name = "A,B")]
    pub of: Option<String>,
    /// Run only these tests, by id: 1,4-6 [default: as in the run]
    #[arg(long, value_name = "TESTS")]
    pub only: Option<String>,
    /// Measure each contender exactly this many times, plainly and with each suspect neutralised [default: 10, if no
    /// --budget is named]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub trials: Option<u32>,
    /// Measure for this time: 2m
    #[arg(long, value_parser = duration)]
    pub budget: Option<Duration>,
    /// The folder for databases, on the file system whose cost to explain [default: $TMPDIR, else /var/tmp]
    #[arg(long)]
    pub dir: Option<PathBuf>,
    /// The run file of the experiment [default: results/TIME-SUITE.jsonl]
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// The time that one test may take before dyno ends its trial [default: as in the run]
    #[arg(long, value_parser = duration)]
    pub timeout: Option<Duration>,
    /// Load and run what the run file names outside of its private database, as with dyno rerun
    #[arg(long)]
    pub trust: bool,
    /// How to print
    #[arg(long, value_enum, default_value_t = TextFormat::Table)]
    pub format: TextFormat,
    /// Show no progress
    #[arg(long, short)]
    pub quiet: bool,
}
