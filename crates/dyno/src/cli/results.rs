//! The command lines of what shows results: `dyno show`, `report`, `export`, `history`, `compare`, `scaling` and
//! `verify`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use dyno_show::TableOptions;
use dyno_verdict::GateLimit;

use super::values::share;

/// The output formats of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// For people: as wide as the terminal, elsewhere 100 columns
    Table,
    /// For programs: the verdict
    Json,
    /// For spreadsheets: a line for each test and contender
    Csv,
    /// For a README or a pull request: the page without its charts
    Markdown,
    /// For a browser: the page of `dyno report`
    Html,
}

/// The choice of when results have colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Everywhere
    Always,
    /// Nowhere
    Never,
}

/// The options that shape printed results.
#[derive(Debug, Args)]
#[command(next_help_heading = "How results are printed")]
pub struct ShowOptions {
    /// The format of the results
    #[arg(long, value_enum, default_value_t = OutputFormat::Table)]
    pub format: OutputFormat,
    /// Colours in the table
    #[arg(long, value_enum, default_value_t = Colour::Auto, value_name = "WHEN")]
    pub color: Colour,
    /// Also show settings, what each contender survives and why, and disturbances
    #[arg(long)]
    pub notes: bool,
    /// Also show published figures, which are of other hardware and other versions
    #[arg(long)]
    pub published: bool,
    /// Also show what each test used: processor time, device, memory, database
    #[arg(long)]
    pub costs: bool,
    /// Show the driver tax: how much more time each driver of an engine takes than its lowest-level one
    #[arg(long)]
    pub tax: bool,
    /// Call a contender the fastest only if all others are shown to be slower, by more than this share: 5%, which is
    /// also 5 or 0.05 [default: 5%, or what the run file says]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub margin: Option<f64>,
}

impl ShowOptions {
    /// A table without its optional parts.
    pub fn plain() -> ShowOptions {
        ShowOptions {
            format: OutputFormat::Table,
            color: Colour::Never,
            notes: false,
            published: false,
            costs: false,
            tax: false,
            margin: None,
        }
    }

    /// The optional parts of a table that these options ask for.
    pub fn table(&self) -> TableOptions {
        let ShowOptions { notes, published, costs, tax, .. } = *self;
        TableOptions { notes, published, costs, tax }
    }
}

/// Arguments of `dyno show`.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The run file [default: the newest in results/]
    pub run: Option<PathBuf>,
    /// The output of the results
    #[command(flatten)]
    pub show: ShowOptions,
}

/// Arguments of `dyno report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// The run files; the page is about the last one [default: the newest in results/]
    pub runs: Vec<PathBuf>,
    /// The file of the page [default: the last run's name, with .html]
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Call a contender the fastest only if all others are shown to be slower, by more than this share: 5%, which is
    /// also 5 or 0.05 [default: 5%, or what the run file says]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub margin: Option<f64>,
    /// Open the page in the browser
    #[arg(long)]
    pub open: bool,
}

/// Arguments of `dyno export`.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The run files [default: the newest in results/]
    pub runs: Vec<PathBuf>,
    /// The file; its ending says the format: .csv, .parquet, or .hlog, a log of HdrHistograms of how long operations
    /// took in each second, by contender, test and class
    #[arg(long, short, value_name = "FILE")]
    pub out: PathBuf,
    /// Also write samples that no figure uses: warm-up trials, and the harness that measures dyno itself
    #[arg(long)]
    pub all: bool,
    /// Write how long the operations of each class took instead, one row for each class of a sample: p50, p90, p99,
    /// p99.9 and the slowest
    #[arg(long)]
    pub latency: bool,
}

/// Arguments of `dyno history`.
#[derive(Debug, Args)]
pub struct HistoryArgs {
    /// Only runs of this suite [default: the suite of the newest run]
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
    /// Exit with 1 if a contender exceeds its old figure by more than this in a test, and with 5 if the samples leave
    /// that open: 'instructions<=+0.1%, time<=+3%'
    #[arg(long, value_name = "LIMITS", value_delimiter = ',')]
    pub gate: Vec<GateLimit>,
    /// Short for --gate 'time<=+SHARE': 5%, which is also 5 or 0.05
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub fail_slower: Option<f64>,
    /// Compare a contender of the old run with one of another name in the new run: sqlite@system=sqlite
    #[arg(long = "as", value_name = "OLD=NEW")]
    pub aliases: Vec<String>,
    /// The format of the output
    #[arg(long, value_enum, default_value_t = OutputFormat::Table)]
    pub format: OutputFormat,
}

/// Arguments of `dyno scaling`.
#[derive(Debug, Args)]
pub struct ScalingArgs {
    /// The run files: of one suite, different in one parameter
    #[arg(required = true, num_args = 2..)]
    pub runs: Vec<PathBuf>,
    /// The format of the output
    #[arg(long, value_enum, default_value_t = OutputFormat::Table)]
    pub format: OutputFormat,
}

/// Arguments of `dyno verify`.
#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// The run files and pages
    #[arg(required = true, num_args = 1..)]
    pub runs: Vec<PathBuf>,
    /// Also demand a signature by one of these keys: a file of allowed signers, as ssh-keygen(1) describes it. The
    /// signature of RUN is in RUN.sig; `ssh-keygen -Y sign -n dyno-run -f KEY RUN` makes it
    #[arg(long, value_name = "FILE")]
    pub signers: Option<PathBuf>,
}

/// Arguments of `dyno site`.
#[derive(Debug, Args)]
pub struct SiteArgs {
    /// The run files and pages. A file RUN.withdrawn next to RUN says why it is withdrawn
    #[arg(required = true, num_args = 1..)]
    pub runs: Vec<PathBuf>,
    /// The folder of the site
    #[arg(long, short, value_name = "FOLDER", default_value = "site")]
    pub out: PathBuf,
}
