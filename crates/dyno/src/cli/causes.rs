//! The command line of `dyno causes`.

use std::path::PathBuf;

use clap::Args;

use super::values::folder;
use super::{OutputFormat, RepeatArgs};

/// Arguments of `dyno causes`.
#[derive(Debug, Args)]
pub struct CausesArgs {
    /// The run, and how long to measure
    #[command(flatten)]
    pub repeat: RepeatArgs,
    /// The two contenders of the run whose difference to explain [default: both, if the run has two]
    #[arg(long, value_name = "A,B")]
    pub of: Option<String>,
    /// Run only these tests, by id: 1,4-6 [default: as in the run]
    #[arg(long, value_name = "TESTS")]
    pub only: Option<String>,
    /// The folder for databases, on the file system whose cost to explain [default: $TMPDIR, else /var/tmp]
    #[arg(long, value_parser = folder())]
    pub dir: Option<PathBuf>,
    /// The run file of the experiment [default: results/TIME-SUITE.jsonl]
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// How to print
    #[arg(long, value_enum, default_value_t = OutputFormat::Table)]
    pub format: OutputFormat,
}
