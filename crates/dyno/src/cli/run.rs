//! The command lines of `dyno run` and `dyno rerun`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use dyno_record::{MadeBy, Target};
use dyno_verdict::GateLimit;

use super::values::{Caches, SharingArg, caches, delay, duration, folder, seconds, share, size, target};
use super::{RepeatArgs, ShowOptions, TextFormat};

/// The headings of the help.
const WORK: &str = "What to compare";
const SIZE: &str = "How much work";
const LONG: &str = "How long, and how often";
const LOAD: &str = "Many clients";
const PLACE: &str = "Where and how trials run";

/// Arguments of `dyno run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// The name of a suite, as `dyno list` shows them, or the path of its file
    #[arg(help_heading = WORK)]
    pub suite: Option<String>,
    /// Compare these contenders, comma-separated: engine[@build][/driver[+variant]][:profile][,setting=value…]. A
    /// server that is already running is engine=URL, as with --url [default: the suite's own, and sqlite:nosync for
    /// dyno calibrate]
    #[arg(long = "with", value_name = "CONTENDERS", help_heading = WORK)]
    pub with: Vec<String>,
    /// Compare also the suite's further contenders, which `dyno list SUITE` shows
    #[arg(long, conflicts_with_all = ["with", "urls"], help_heading = WORK)]
    pub all: bool,
    /// Measure a server that is already running: postgres://, mysql:// or mariadb://user@host/database. dyno
    /// creates one database there and removes it afterwards. It also takes passwords from the environment,
    /// ~/.pgpass and ~/.my.cnf
    // Text, and read later: clap's messages would quote a value that is wrong, with its password.
    #[arg(long = "url", value_name = "URL", help_heading = WORK)]
    pub urls: Vec<String>,
    /// Run only these tests, by id: 1,4-6. Tests that they need run too, but are not shown
    #[arg(long, value_name = "TESTS", help_heading = WORK)]
    pub only: Option<String>,
    /// Measure each contender exactly this many times, after one trial to warm up
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..), help_heading = LONG)]
    pub trials: Option<u32>,
    /// Measure from the first trial on, without a trial to warm up; for work that takes very long
    #[arg(long, help_heading = LONG)]
    pub no_warm_up: bool,
    /// Run every trial alone, from its first test to its last, also where contenders could take turns
    #[arg(long, help_heading = LONG)]
    pub no_turns: bool,
    /// The longest time to measure: 90s, 10m, 2h [default: 60s, 35s each with several --clients, either up to five
    /// times as long where 7 trials take longer; 3m with --sustain, 2m for dyno calibrate; none with --trials]
    #[arg(long, value_parser = duration, help_heading = LONG)]
    pub budget: Option<Duration>,
    /// Stop when every interval is within this share of its median: 5%, which is also 5 or 0.05
    #[arg(long, default_value = "5%", value_parser = share, help_heading = LONG)]
    pub target: f64,
    /// Multiply the suite's row counts and ranges by this number, as 0.1 or 2; short for --set scale=K [default: the
    /// suite's own, which `dyno list SUITE` shows, as for all of these numbers]
    #[arg(long, value_name = "K", help_heading = SIZE)]
    pub scale: Option<String>,
    /// The number of rows; short for --set rows=N. K, M and G stand for 10³, 10⁶ and 10⁹, as in 10M [default: the
    /// suite's own]
    #[arg(long, value_name = "N", help_heading = SIZE)]
    pub rows: Option<String>,
    /// Import this file instead of the one that the suite makes; it has the same columns and no header
    #[arg(long, value_name = "FILE", help_heading = SIZE)]
    pub file: Option<PathBuf>,
    /// The number of pairs; short for --set n=N. With several, as 5000,50000, dyno runs each size and shows how
    /// the engines scale [default: the suite's own]
    #[arg(long, value_name = "N", value_delimiter = ',', help_heading = SIZE)]
    pub n: Vec<String>,
    /// The number of clients that work at once, in suites with many; short for --set clients=N. With several, as
    /// 1,8,32, dyno runs each number and shows how the engines scale [default: the suite's own]
    #[arg(long, value_name = "N", value_delimiter = ',', help_heading = LOAD)]
    pub clients: Vec<String>,
    /// The number of operations that arrive in a second, for all clients together, whether or not the database keeps
    /// up; or a rate that changes: '0s 100, 30s 1000'. Short for --set rate=N [default: each client begins an operation
    /// as soon as it is free]
    #[arg(long, value_name = "N", help_heading = LOAD)]
    pub rate: Option<String>,
    /// Make each client a separate process, as where several programs share a database file; without this, clients are
    /// threads of one process. Short for the setting processes=yes with every contender
    #[arg(long, help_heading = LOAD)]
    pub processes: bool,
    /// Make each cluster of this many nodes, each a private server on this machine: 3. Short for the setting nodes=N
    /// with every contender that is a cluster [default: 3]
    #[arg(long, value_name = "N", help_heading = LOAD)]
    pub nodes: Option<u32>,
    /// Make each round trip between two nodes of a cluster longer by this time: 1ms. Short for the setting
    /// node_delay=TIME with every contender that is a cluster [default: 0]
    #[arg(long, value_name = "TIME", help_heading = LOAD)]
    pub node_delay: Option<String>,
    /// Find the highest rate of operations at which this target still holds: p99<=10ms means that 99 % of them are done
    /// within 10 ms of their arrival
    #[arg(long, value_name = "TARGET", value_parser = target, help_heading = LOAD)]
    #[arg(conflicts_with_all = ["rate", "think", "sessions"])]
    pub sustain: Option<Target>,
    /// The mean time that each client waits before it begins the next operation: 100ms; short for --set think=SECONDS
    /// [default: 0]
    #[arg(long, value_parser = duration, conflicts_with = "rate", help_heading = LOAD)]
    pub think: Option<Duration>,
    /// Let operations arrive in sessions of N: each session connects, does N operations one after another and leaves.
    /// --rate still counts operations: with --rate 1000 --sessions 5, 200 sessions arrive in a second. Short for --set
    /// sessions=N [default: clients stay connected]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = LOAD)]
    pub sessions: Option<u32>,
    /// Make each round trip between a client and its server longer by this time, half of it each way: 1ms. With
    /// several, as 0,0.2ms,1ms,5ms,40ms, dyno runs each delay and shows how the contenders bear it [default: 0]
    #[arg(long, value_name = "TIME", value_delimiter = ',', value_parser = delay, help_heading = LOAD)]
    pub delay: Vec<Duration>,
    /// The time for which to measure the clients: 10s, 2m; short for --set duration=SECONDS [default: the suite's own]
    #[arg(long, value_parser = duration, help_heading = LOAD)]
    pub duration: Option<Duration>,
    /// Set a parameter of the suite: name=value. `dyno list SUITE` shows the names
    #[arg(long = "set", value_name = "NAME=VALUE", help_heading = SIZE)]
    pub set: Vec<String>,
    /// The seed of the order of trials and of the statistics; the data have their own, --set seed=N [default: a random
    /// one]
    #[arg(long, help_heading = LONG)]
    pub seed: Option<u64>,
    /// Give every engine a cache of this size through its own setting: 64MiB; `default` leaves each its own where the
    /// suite states a size
    #[arg(long, value_name = "SIZE", value_parser = caches, help_heading = SIZE)]
    pub cache: Option<Caches>,
    /// Limit each runner to this much memory, the kernel's file cache included: 256MiB. This needs root, or a control
    /// group of yours [default: no limit]
    #[arg(long, value_name = "SIZE", value_parser = size, help_heading = SIZE)]
    pub memory: Option<u64>,
    /// After the measured trials, run three more that time each single operation of key-value tests
    #[arg(long, help_heading = LONG)]
    pub latency: bool,
    /// Time each statement of each operation in suites with many clients, and show the times by statement; each costs
    /// two more readings of the clock
    #[arg(long, help_heading = LONG)]
    pub statements: bool,
    /// Count, before the trials, what each operation takes on the way to a server: statements, round trips, bytes,
    /// preparations. One client does some operations of each class through a proxy that records them, twice
    #[arg(long, help_heading = LONG)]
    pub round_trips: bool,
    /// After the measured trials, run up to six more that count within the timed sections: instructions and allocations
    /// on a simulated processor (valgrind), some thirty to fifty times as slow; system calls, flushes and bytes (strace), of a
    /// private server too; page faults, context switches, the peak of the heap, and a server's CPU time
    #[arg(long, help_heading = LONG)]
    pub counts: bool,
    /// After the measured trials, run one more in which dyno looks at what the threads wait for, and show how the time
    /// of each test divides; it also asks SQL engines for the plans of read statements
    #[arg(long, help_heading = LONG, conflicts_with_all = ["processes", "on"])]
    pub why: bool,
    /// Exit with 1 if a contender exceeds the baseline by more than this in a test, and with 5 if the samples leave
    /// that open: 'instructions<=+0.1%, time<=+3%'
    #[arg(long, value_name = "LIMITS", value_delimiter = ',', help_heading = WORK)]
    pub gate: Vec<GateLimit>,
    /// The contender with which to compare the others [default: the first]
    #[arg(long, value_name = "CONTENDER", help_heading = WORK)]
    pub baseline: Option<String>,
    /// The place and conditions of trials
    #[command(flatten)]
    pub place: PlaceArgs,
    /// The output of the results
    #[command(flatten)]
    pub show: ShowOptions,
}

impl RunArgs {
    /// The files that the run reads: its suite, where that is named by its path, and the file to import.
    pub fn inputs(&self) -> Vec<&Path> {
        let suite = self.suite.as_deref().filter(|name| dyno_suite::is_path(name));
        suite.map(Path::new).into_iter().chain(self.file.as_deref()).collect()
    }
}

/// The place and conditions of trials; none of it changes the work.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = PLACE)]
pub struct PlaceArgs {
    /// The folder for databases, on the file system to measure [default: $TMPDIR, else /var/tmp]
    #[arg(long, value_parser = folder())]
    pub dir: Option<PathBuf>,
    /// The run file [default: results/TIME-SUITE.jsonl]
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// The CPUs of the measured processes: 1 or 2-3 [default: the last one, and dyno takes the others; all
    /// if the suite says so]
    #[arg(long, value_name = "LIST")]
    pub cpus: Option<String>,
    /// The priority of the measured processes, -20 (first) to 19 [default: 0]
    #[arg(long, allow_negative_numbers = true, value_parser = clap::value_parser!(i32).range(-20..=19))]
    pub nice: Option<i32>,
    /// The CPUs of private servers and their clients [default: same-core]
    #[arg(long, value_enum)]
    pub placement: Option<SharingArg>,
    /// Drive the clients of mixes from other machines: a command that starts an agent on a {host}, as 'ssh {host}
    /// {agent}', or the name of a launcher, ssh or srun. The server must be at a URL that the hosts reach
    #[arg(long, value_name = "COMMAND", requires = "hosts")]
    pub on: Option<String>,
    /// The hosts of --on, as a,b,c; or the number of agents, where the command itself chooses hosts
    #[arg(long, value_name = "HOSTS", requires = "on")]
    pub hosts: Option<String>,
    /// The path of this version of dyno on these hosts [default: dyno, found on their PATH]
    #[arg(long, value_name = "PATH", requires = "on")]
    pub agent: Option<String>,
    /// A file whose first line is the key of encrypted databases; only its owner may read it [default:
    /// DYNO_KEY, else dyno makes a key for the run]
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<PathBuf>,
    /// The longest time that one test may take before dyno ends its trial [default: 5m]
    #[arg(long, value_parser = duration)]
    pub timeout: Option<Duration>,
    /// Also write the page of the run: one HTML file
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Load and run what a run file or a suite file names outside of its private database: libraries, programs,
    /// servers, statements that reach files [default: dyno lists these, and asks if it runs on a terminal]
    #[arg(long)]
    pub trust: bool,
    /// State in the run file who makes the run: maintainer (of dyno), vendor:ENGINE, as in vendor:postgres, if you
    /// write or sell that engine or a driver of it, or other [default: not stated]
    #[arg(long, value_name = "MAKER")]
    pub made_by: Option<MadeBy>,
    /// Keep the database of the last trial of each contender, in a new folder below results/ or on the server of its
    /// URL, and print its place
    #[arg(long)]
    pub keep: bool,
    /// While dyno measures a mix, print a line to standard error at this interval, as 5s: its rates, p99 and failures
    /// [default: no such lines]
    #[arg(long, value_name = "TIME", value_parser = seconds, conflicts_with = "quiet")]
    pub progress: Option<Duration>,
    /// Show no progress
    #[arg(long, short)]
    pub quiet: bool,
}

/// Arguments of `dyno calibrate`.
#[derive(Debug, Args)]
pub struct CalibrateArgs {
    /// Show the calibration from an earlier run, and run nothing
    #[arg(long, value_name = "RUN")]
    pub again: Option<PathBuf>,
    /// The number of copies of the contender's library to run under other names, where dyno knows its file: what they
    /// differ by is in no interval of a run
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(..=20))]
    pub copies: u8,
    /// As of `dyno run` [default: speedtest with sqlite:nosync, for 2 minutes]
    #[command(flatten)]
    pub run: RunArgs,
}

/// Arguments of `dyno rerun`.
#[derive(Debug, Args)]
pub struct RerunArgs {
    /// The run file
    pub run: PathBuf,
    /// The place and conditions of trials
    #[command(flatten)]
    pub place: PlaceArgs,
    /// The output of the results
    #[command(flatten)]
    pub show: ShowOptions,
}

/// Arguments of `dyno challenge`.
#[derive(Debug, Args)]
pub struct ChallengeArgs {
    /// The run whose claims to challenge, and how long each changed run measures
    #[command(flatten)]
    pub repeat: RepeatArgs,
    /// The number of changed runs
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: u32,
    /// A folder for databases; with several, as --dir A --dir B, the changed runs take turns: they may be on different
    /// file systems [default: $TMPDIR, else /var/tmp]
    #[arg(long, value_parser = folder())]
    pub dir: Vec<PathBuf>,
    /// How to print
    #[arg(long, value_enum, default_value_t = TextFormat::Table)]
    pub format: TextFormat,
}
