//! The command line: what can be typed, with its help. Nothing is done here.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::pairing::Pairing;

mod import;

pub use import::{ImportArgs, OnErrorArg, SafetyArg};

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

/// Arguments of `dyno run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// A suite's name (see `dyno list`) or the path of its file
    pub suite: String,
    /// Contenders, comma-separated: engine[@build][/driver[+variant]][:profile][,setting=value…]
    #[arg(long = "with", value_name = "CONTENDERS")]
    pub with: Vec<String>,
    /// Measure a server that runs already: postgres://, mysql:// or mariadb://user@host/database. dyno
    /// makes one database of its own there and removes it. Passwords also come from the environment,
    /// ~/.pgpass and ~/.my.cnf
    // Text, and read later: what is wrong with a value that is read here is told with the value.
    #[arg(long = "url", value_name = "URL")]
    pub urls: Vec<String>,
    /// Only these tests, by id: 1,4-6. What they need runs too, but is not shown
    #[arg(long, value_name = "TESTS")]
    pub only: Option<String>,
    /// Exactly this many measured trials of each contender, after one for warm-up
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub trials: Option<u32>,
    /// Measure from the first block on, where a block takes so long that one more to warm up is too many
    #[arg(long)]
    pub no_warm_up: bool,
    /// How long to measure at most: 90s, 10m, 2h [default: 60s; none with --trials]
    #[arg(long, value_parser = duration)]
    pub budget: Option<Duration>,
    /// Stop when every interval is within this share of its median: 5%
    #[arg(long, default_value = "5%", value_parser = share)]
    pub target: f64,
    /// Multiply the suite's row counts and ranges; short for --set scale=K
    #[arg(long, value_name = "K")]
    pub scale: Option<String>,
    /// How many rows; short for --set rows=N. K, M and G are thousands: 10M
    #[arg(long, value_name = "N")]
    pub rows: Option<String>,
    /// Import this file in place of the one that the suite makes: the same columns, no header
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// How many pairs; short for --set n=N. Several, as 5000,50000, make a run of each and show how the
    /// engines scale
    #[arg(long, value_name = "N", value_delimiter = ',')]
    pub n: Vec<String>,
    /// Set a parameter of the suite: name=value
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// The seed of the order of trials and of the statistics [default: the time]
    #[arg(long)]
    pub seed: Option<u64>,
    /// Give every engine a cache of this size, by its own setting: 64MiB
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub cache: Option<u64>,
    /// Let each runner use this much memory and no more, the kernel's file cache included: 256MiB
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub memory: Option<u64>,
    /// After the measured trials, time every operation of key-value tests by itself in trials of their
    /// own
    #[arg(long)]
    pub latency: bool,
    /// The contender to compare with [default: the first]
    #[arg(long, value_name = "CONTENDER")]
    pub baseline: Option<String>,
    /// Where and how trials run
    #[command(flatten)]
    pub place: PlaceArgs,
    /// How the results are printed
    #[command(flatten)]
    pub show: ShowOptions,
}

/// Where and how trials run; none of it changes the work.
#[derive(Debug, Clone, Args)]
pub struct PlaceArgs {
    /// The folder for databases, on the file system to measure [default: $TMPDIR, else /var/tmp]
    #[arg(long)]
    pub dir: Option<PathBuf>,
    /// The run file [default: results/TIME-SUITE.json]
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// The CPUs of the measured processes: 1 or 2-3 [default: the last one; dyno takes the others]
    #[arg(long, value_name = "LIST")]
    pub cpus: Option<String>,
    /// The priority of the measured processes, -20 (first) to 19 [default: 0]
    #[arg(long, allow_negative_numbers = true, value_parser = clap::value_parser!(i32).range(-20..=19))]
    pub nice: Option<i32>,
    /// Where private servers and their clients run [default: same-core]
    #[arg(long, value_enum)]
    pub placement: Option<Pairing>,
    /// The key of encrypted databases, on the first line of a file that only its owner may read [default:
    /// DYNO_KEY, else one made for the run]
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<PathBuf>,
    /// How long one test may take before its trial is given up [default: 5m]
    #[arg(long, value_parser = duration)]
    pub timeout: Option<Duration>,
    /// Write the page of the run too: one HTML file
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// No progress
    #[arg(long, short)]
    pub quiet: bool,
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

/// Arguments of `dyno rerun`.
#[derive(Debug, Args)]
pub struct RerunArgs {
    /// The run file
    pub run: PathBuf,
    /// Where and how trials run
    #[command(flatten)]
    pub place: PlaceArgs,
    /// How the results are printed
    #[command(flatten)]
    pub show: ShowOptions,
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

/// Reads `90s`, `10m`, `1h 30m`; a bare number is seconds.
fn duration(text: &str) -> Result<Duration, String> {
    let spelled = if text.parse::<f64>().is_ok() { format!("{text}s") } else { text.to_owned() };
    let parsed: jiff::SignedDuration =
        spelled.parse().map_err(|_| "write a duration like 90s, 10m or 2h".to_owned())?;
    Duration::try_from(parsed)
        .ok()
        .filter(|duration| !duration.is_zero())
        .ok_or_else(|| "a duration must be longer than nothing".to_owned())
}

/// Reads `64MiB`, `1GiB`, `4096`: bytes, in powers of 1024.
fn size(text: &str) -> Result<u64, String> {
    let units = [("GiB", 30), ("MiB", 20), ("KiB", 10), ("G", 30), ("M", 20), ("K", 10), ("", 0)];
    let (number, shift) =
        units.iter().find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, *shift))).unwrap_or((text, 0));
    let bytes = number.trim().parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift));
    bytes.filter(|&bytes| bytes > 0).ok_or_else(|| "write a size like 64MiB or 1GiB".to_owned())
}

/// Reads `5%` or `0.05`.
fn share(text: &str) -> Result<f64, String> {
    let (number, divisor) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 100.0));
    match number.trim().parse::<f64>() {
        Ok(number) if number.is_finite() && number >= 0.0 => Ok(number / divisor),
        _ => Err("write a share like 5% or 0.05".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn durations_and_shares_are_read() {
        assert_eq!(duration("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        assert_eq!(duration("1.5"), Ok(Duration::from_millis(1500)));
        assert!(duration("soon").is_err());
        assert!(duration("0s").is_err());
        assert!(duration("-5s").is_err());
        assert_eq!((size("64MiB"), size("1G"), size("4096")), (Ok(64 << 20), Ok(1 << 30), Ok(4096)));
        assert!(size("big").is_err() && size("0").is_err() && size("99999999999GiB").is_err());
        assert_eq!(share("5%"), Ok(0.05));
        assert_eq!(share("0.05"), Ok(0.05));
        assert!(share("-1%").is_err());
        assert!(share("five").is_err());
    }
}
