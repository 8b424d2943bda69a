//! The command line: what can be typed, with its help. Nothing is done here.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

mod import;
mod read;
mod run;
mod values;

pub use import::{ImportArgs, OnErrorArg, SafetyArg};
pub use run::{PlaceArgs, RerunArgs, RunArgs};
use values::share;

/// A dynamometer for database engines.
///
/// Which database, which driver and which settings are fastest for this work, on this machine, at the
/// same safety?
#[derive(Debug, Parser)]
#[command(name = "dyno", version, max_term_width = 100, after_help = EXIT_CODES)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    compare: something is slower than allowed
  2    the command line, a suite, a contender or a file is wrong; nothing was run
  3    something failed or gave a wrong answer, or rows were rejected; the rest was done and is shown
  4    the work could not be done: no space, no permission, no runner
  130  interrupted (143 when terminated); finished trials are kept and shown, no import is half done";

/// What dyno can do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the suites, engines, drivers and profiles, and what is missing here
    List(ListArgs),
    /// Run a suite and show who is how fast
    Run(Box<RunArgs>),
    /// Show the results of a run again
    Show(ShowArgs),
    /// Write a page: one HTML file that opens anywhere, without a network
    ///
    /// With several runs the last one is the subject. It is compared with those that did the same work; those of
    /// other sizes show how speed changes with size. A name that ends in .md gets the same as Markdown.
    Report(ReportArgs),
    /// Write every sample of runs to a file for notebooks: CSV or Parquet, one row a sample
    Export(ExportArgs),
    /// List the runs kept here, and draw how a test's medians went over time
    ///
    /// A run from which on a contender is slower or faster is flagged by a permutation test; docs/report.md
    /// explains it.
    History(HistoryArgs),
    /// Compare two runs, test by test
    Compare(CompareArgs),
    /// Set runs of several sizes side by side: how fast each contender is at each
    Scaling(ScalingArgs),
    /// Run the same again: suite, parameters, contenders, order
    Rerun(RerunArgs),
    /// Load a file into SQLite, PostgreSQL, MariaDB or MySQL as fast as is safe
    ///
    /// Either all rows are loaded or none. Numbers are never rounded, text is never cut.
    /// docs/import.md explains what is chosen and why.
    Import(ImportArgs),
    /// Tell what on this machine disturbs measurement
    Doctor(DoctorArgs),
    /// Install a version of an engine beside the system's
    #[command(subcommand)]
    Engines(EnginesCommand),
    /// Check that runners keep the protocol
    ///
    /// Starts each contender's runner many times, with good jobs and bad ones, and checks every answer.
    /// docs/runners.md explains the checks.
    Conformance(ConformanceArgs),
    /// Print a JSON Schema: of run files, of a runner's job, of its events
    Schema {
        /// Of what.
        #[arg(value_enum)]
        what: SchemaOf,
    },
    /// Print completions for a shell
    Completions {
        /// The shell.
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
}

/// Arguments of `dyno list`.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// How to print
    #[arg(long, value_enum, default_value_t = TextFormat::Table)]
    pub format: TextFormat,
}

/// How results are printed.
#[derive(Debug, Args)]
pub struct ShowOptions {
    /// How to print the results
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Show published figures beside today's: other hardware, other versions
    #[arg(long)]
    pub published: bool,
    /// Show what each test took beside time: processor, device, memory, database
    #[arg(long)]
    pub costs: bool,
    /// Show the driver tax: every driver of an engine beside its lowest-level one, in percent
    #[arg(long)]
    pub tax: bool,
}

/// Arguments of `dyno show`.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The run file [default: the newest in results/]
    pub run: Option<PathBuf>,
    /// How the results are printed
    #[command(flatten)]
    pub show: ShowOptions,
}

/// Arguments of `dyno report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// The run files, the subject last [default: the newest in results/]
    pub runs: Vec<PathBuf>,
    /// The page [default: the last run's name, with .html]
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Show it in the browser
    #[arg(long)]
    pub open: bool,
}

/// Arguments of `dyno export`.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The run files [default: the newest in results/]
    pub runs: Vec<PathBuf>,
    /// The file; its ending says the format: .csv or .parquet
    #[arg(long, short, value_name = "FILE")]
    pub out: PathBuf,
}

/// Arguments of `dyno history`.
#[derive(Debug, Args)]
pub struct HistoryArgs {
    /// Only runs of this suite [default: that of the newest run]
    pub suite: Option<String>,
    /// Draw this test, by its id
    #[arg(long, value_name = "ID")]
    pub test: Option<String>,
    /// The folder of run files
    #[arg(long, default_value = "results")]
    pub results: PathBuf,
}

/// Arguments of `dyno compare`.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// The run file to compare with
    pub old: PathBuf,
    /// The run file to judge
    pub new: PathBuf,
    /// Exit with 1 if a test is slower by more than this and the slowdown is real: 5%
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub fail_slower: Option<f64>,
    /// How to print
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

/// Arguments of `dyno scaling`.
#[derive(Debug, Args)]
pub struct ScalingArgs {
    /// The run files: of one suite, with one parameter that differs
    #[arg(required = true, num_args = 2..)]
    pub runs: Vec<PathBuf>,
    /// How to print
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

/// Arguments of `dyno doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// The folder whose file system to look at [default: $TMPDIR, else /var/tmp]
    #[arg(long)]
    pub dir: Option<PathBuf>,
    /// How to print
    #[arg(long, value_enum, default_value_t = TextFormat::Table)]
    pub format: TextFormat,
}

/// What `dyno engines` can do.
#[derive(Debug, Subcommand)]
pub enum EnginesCommand {
    /// Fetch and unpack a version for this user alone, as postgres@18
    Install {
        /// The engine and its version; it is then a contender of that name
        name: String,
    },
}

/// Arguments of `dyno conformance`.
#[derive(Debug, Args)]
pub struct ConformanceArgs {
    /// Contenders whose runners to check
    #[arg(required = true)]
    pub contenders: Vec<String>,
    /// The folder for databases [default: $TMPDIR, else /var/tmp]
    #[arg(long)]
    pub dir: Option<PathBuf>,
}

/// How figures are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For the terminal, 100 columns
    Table,
    /// The verdict, for programs
    Json,
    /// A line for each test and contender
    Csv,
    /// All of the page but its charts, for a README or a pull request
    Markdown,
}

/// How texts are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TextFormat {
    /// For the terminal
    Table,
    /// For programs
    Json,
}

/// What has a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SchemaOf {
    /// A run file
    Run,
    /// The job that a runner reads
    Job,
    /// An event that a runner writes
    Event,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }
}
