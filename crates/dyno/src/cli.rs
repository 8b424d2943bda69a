//! The command line: what can be typed, with its help. Nothing is done here.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

mod causes;
pub mod defaults;
mod examples;
mod import;
mod prove;
mod read;
mod repeat;
mod results;
mod run;
mod values;

pub use causes::CausesArgs;
pub use import::{ImportArgs, OnConflictArg, OnErrorArg, SafetyArg};
pub use prove::{DiskFileSystem, FilesArgs, ProveArgs, ProvedDevice, RecorderArgs, WatcherArgs};
pub use repeat::RepeatArgs;
pub use results::{
    Colour, CompareArgs, ExportArgs, HistoryArgs, OutputFormat, ReportArgs, ScalingArgs, ShowArgs,
    ShowOptions, SiteArgs, VerifyArgs,
};
pub use run::{CalibrateArgs, ChallengeArgs, PlaceArgs, RerunArgs, RunArgs};
pub use values::Caches;

/// A dynamometer for database engines.
///
/// dyno measures which database, which driver and which settings are fastest for your work, on this machine, at
/// the same safety.
#[derive(Debug, Parser)]
#[command(
    name = "dyno",
    version,
    long_version = LONG_VERSION,
    max_term_width = 100,
    before_help = examples::DYNO,
    after_help = AFTER_HELP
)]
pub struct Cli {
    /// The command; without one, dyno says what it is and what to try.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The text that `dyno --version` prints after the name; `-V` prints its first word.
const LONG_VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\ncommit: ",
    env!("DYNO_COMMIT_OR_UNKNOWN"),
    "\nfeatures: ",
    env!("DYNO_FEATURES")
);

/// The text that dyno prints when it is started without arguments.
pub const WELCOME: &str = "\
dyno is a dynamometer for database engines. It measures which database, which driver and which
settings are fastest for your work, on this machine, at the same safety.

Try these:
  dyno run speedtest           times fifteen SQL tests on SQLite; takes about a minute
  dyno list                    shows what else you can measure here, and what is missing
  dyno report --open           opens the newest result as a page in the browser
  dyno doctor                  shows what on this machine disturbs measurement
  dyno import FILE.csv --into NEW.db
                               loads a file into a database as fast as is safe

`dyno --help` lists all commands. `dyno run --help` explains how to choose what is measured.
";

const AFTER_HELP: &str = "\
Options that you always type have a place in ~/.config/dyno/dyno.toml: docs/defaults.md. Your own suites,
engines and runners have a place in ~/.config/dyno/suites, engines and runners. DYNO_HOME names the folder
with those that come with dyno, if it is not above the program.

Exit codes:
  0    dyno did all of it
  1    compare, run --gate: something exceeds a limit, or no longer works;
       prove --command: your program lost a commit, acknowledged none, failed or did not end
  2    the command line, a suite, a contender or a file is wrong; dyno ran nothing
  3    something failed, an answer was wrong, rows were rejected, or dyno refused a run file; dyno
       did the rest and shows the results
  4    dyno could not do the work: no space, no permission, no runner
  5    compare, run --gate: too few trials, or too much noise, to decide whether something is slower
  130  you interrupted dyno (143, 129: TERM or HUP ended it); it keeps finished trials, and no import is half done";

/// The subcommands of `dyno`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show the suites, engines, drivers and profiles, and what is missing here
    ///
    /// With the name of an engine: its drivers, builds, variants and profiles with their settings. With the name of
    /// a suite: its tests, parameters and contenders.
    #[command(before_help = examples::LIST)]
    List(ListArgs),
    /// Run a suite and show how fast each contender is
    #[command(before_help = examples::RUN)]
    Run(Box<RunArgs>),
    /// Show the results of a run again
    #[command(before_help = examples::SHOW)]
    Show(ShowArgs),
    /// Write the page of a run: one HTML file that opens anywhere, without a network
    ///
    /// With several runs, the page is about the last one. It compares that run with the others of the same work,
    /// and shows how speed changes with size where the others are of other sizes. If the name ends in .md, dyno writes
    /// Markdown.
    #[command(before_help = examples::REPORT)]
    Report(ReportArgs),
    /// Write every sample of runs to a file for notebooks: CSV or Parquet, one row for each sample
    #[command(before_help = examples::EXPORT)]
    Export(ExportArgs),
    /// List the runs in a folder, and draw how a test's medians changed over time
    ///
    /// A permutation test flags the run from which on a contender is slower or faster; docs/report.md explains it.
    #[command(before_help = examples::HISTORY)]
    History(HistoryArgs),
    /// Compare two runs, test by test
    #[command(before_help = examples::COMPARE)]
    Compare(CompareArgs),
    /// Show how fast each contender is at each size, from runs of several sizes
    #[command(before_help = examples::SCALING)]
    Scaling(ScalingArgs),
    /// Verify run files and pages: all that they say must follow from their samples
    ///
    /// dyno checks the seals of a run file, that its samples do not contradict each other, and that the tests, right
    /// answers, levels and the order of trials follow from the suite, the engine files and the seed. It makes a page
    /// anew from the run within it and compares every line. A file that says anything else is refused, with the reason
    /// and exit code 3.
    #[command(before_help = examples::VERIFY)]
    Verify(VerifyArgs),
    /// Write many runs, of many machines, as one folder of pages that needs no server
    ///
    /// dyno verifies each run file and refuses those that it cannot verify. Runs of the same work are in one table: a
    /// row for each contender, a column for each machine, and in each cell the ratio to the same contender within that
    /// machine's run.
    #[command(before_help = examples::SITE)]
    Site(SiteArgs),
    /// Repeat a run: the same suite, parameters, contenders and order
    #[command(before_help = examples::RERUN)]
    Rerun(RerunArgs),
    /// Repeat a run under changes that should not matter, and count in how many of them its claims survive
    ///
    /// dyno changes the size of the runners' environment, their addresses, the order of trials, the folder of the
    /// databases and the CPUs. docs/challenge.md explains what a count shows and what it does not.
    #[command(before_help = examples::CHALLENGE)]
    Challenge(ChallengeArgs),
    /// Find out by experiment why one contender of a run is slower than another
    ///
    /// dyno repeats the run's work for the two, and neutralises one suspect after another for both: the disk, the size
    /// of the cache, the number of processors, the way to servers. It prints the share of the difference that goes with
    /// each. docs/causes.md explains what a share shows and what it does not.
    #[command(before_help = examples::CAUSES)]
    Causes(CausesArgs),
    /// Load a file into SQLite, PostgreSQL, MariaDB or MySQL as fast as is safe
    ///
    /// dyno loads all rows or none. It never rounds a number and never truncates a text. docs/import.md explains what
    /// dyno chooses and why.
    #[command(before_help = examples::IMPORT)]
    Import(Box<ImportArgs>),
    /// Prove whether every acknowledged commit survives power cuts and kills
    ///
    /// dyno lets each contender work on a disk that records every write and flush, and then checks the data as many
    /// power cuts could have left them. That needs root; without root, dyno checks what kills leave and which system
    /// calls a commit waits for. docs/proofs.md explains what is tried and what it shows.
    #[command(before_help = examples::PROVE)]
    Prove(ProveArgs),
    /// Record a disk, for `dyno prove`, which starts this
    #[command(hide = true, before_help = examples::PROVE_RECORDER)]
    ProveRecorder(RecorderArgs),
    /// Record files, for `dyno prove`, which starts this
    #[command(hide = true, before_help = examples::PROVE_FILES)]
    ProveFiles(FilesArgs),
    /// Watch the system calls of a process, for `dyno prove`, which starts this
    #[command(hide = true, before_help = examples::PROVE_WATCHER)]
    ProveWatcher(WatcherArgs),
    /// Serve a dyno on another machine, which starts this by `dyno run --on`
    ///
    /// It reads orders on standard input and writes reports to standard output. docs/machines.md explains it.
    #[command(hide = true, before_help = examples::AGENT)]
    Agent,
    /// Measure which differences this machine can show
    ///
    /// dyno compares each contender with copies of itself: an equal one, and others that it makes slower by 1, 3, 5 and
    /// 10 %. It shows how often runs of 10, 30 and 60 seconds find these, and how often they call equals different. The
    /// options of `dyno run` that say what runs, how long and where apply, and the run is kept like any other.
    #[command(before_help = examples::CALIBRATE)]
    Calibrate(Box<CalibrateArgs>),
    /// Show what on this machine disturbs measurement
    #[command(before_help = examples::DOCTOR)]
    Doctor(DoctorArgs),
    /// Install a version of an engine next to the system's
    #[command(subcommand, before_help = examples::ENGINES)]
    Engines(EnginesCommand),
    /// Check that runners follow the protocol
    ///
    /// dyno starts each contender's runner many times, with good jobs and bad ones, and checks every answer.
    /// docs/runners.md explains the checks.
    #[command(before_help = examples::CONFORMANCE)]
    Conformance(ConformanceArgs),
    /// Print a JSON Schema: of run files, of a runner's job, of its events
    #[command(before_help = examples::SCHEMA)]
    Schema {
        /// The subject of the schema
        #[arg(value_enum)]
        what: SchemaOf,
    },
    /// Print completions for a shell
    #[command(before_help = examples::COMPLETIONS)]
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Print the manual page of a command
    #[command(before_help = examples::MAN)]
    Man {
        /// The command, as in `run`; without one, the page of dyno itself
        command: Option<String>,
        /// Print the names of the commands that have a page
        #[arg(long, conflicts_with = "command")]
        list: bool,
    },
}

/// Arguments of `dyno list`.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// An engine or a suite, to see all of it; the path of a suite's file, as ./my.toml, also checks that suite
    pub name: Option<String>,
    /// The format of the output
    #[arg(long, value_enum, default_value_t = TextFormat::Table)]
    pub format: TextFormat,
}

/// Arguments of `dyno doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// The folder whose file system to look at [default: $TMPDIR, else /var/tmp]
    #[arg(long, value_parser = values::folder())]
    pub dir: Option<PathBuf>,
    /// The format of the output
    #[arg(long, value_enum, default_value_t = TextFormat::Table)]
    pub format: TextFormat,
}

/// The subcommands of `dyno engines`.
#[derive(Debug, Subcommand)]
pub enum EnginesCommand {
    /// Fetch and unpack a version of PostgreSQL for this user alone, such as postgres@18
    #[command(before_help = examples::INSTALL)]
    Install {
        /// The engine and its version; contenders then use this name
        name: String,
    },
}

/// Arguments of `dyno conformance`.
#[derive(Debug, Args)]
pub struct ConformanceArgs {
    /// Contenders whose runners to check
    #[arg(required = true)]
    pub contenders: Vec<String>,
    /// Instead of the checks, have the connection to the server fail, and print what each driver does: the server
    /// restarts, the connection is cut in a commit, answers stay away, a statement takes too long
    #[arg(long, conflicts_with = "only")]
    pub faults: bool,
    /// Run only checks whose description contains TEXT, such as "import"; may be repeated
    #[arg(long, value_name = "TEXT")]
    pub only: Vec<String>,
    /// The folder for databases [default: $TMPDIR, else /var/tmp]
    #[arg(long, value_parser = values::folder())]
    pub dir: Option<PathBuf>,
}

/// The output formats of commands that print text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TextFormat {
    /// For the terminal
    Table,
    /// For programs
    Json,
}

/// The formats in which `dyno prove` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProofFormat {
    /// For the terminal
    Table,
    /// For programs
    Json,
    /// A line for each subject
    Csv,
}

/// The documents that have a JSON schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SchemaOf {
    /// A line of a run file
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
