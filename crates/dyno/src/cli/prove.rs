//! The command line of `dyno prove`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use dyno_record::NodeFault;

use super::ProofFormat;
use super::values::duration;

/// The storage whose power is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProvedDevice {
    /// A disk with a real file system on it
    Disk,
    /// Files that keep only what POSIX promises: the worst that it allows, not seen on ext4
    Posix,
}

/// The file system on a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DiskFileSystem {
    /// ext4
    Ext4,
    /// XFS
    Xfs,
    /// Btrfs
    Btrfs,
}

/// A fault of a node of a cluster, or of all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FaultArg {
    /// All its processes are killed
    Kill,
    /// All its processes stop, and go on later
    Pause,
    /// Its link goes down, which it sees
    Cable,
    /// Its packets are dropped, which it cannot see
    Partition,
    /// The power of all nodes is cut at once
    Power,
}

impl From<FaultArg> for NodeFault {
    fn from(fault: FaultArg) -> NodeFault {
        match fault {
            FaultArg::Kill => NodeFault::Kill,
            FaultArg::Pause => NodeFault::Pause,
            FaultArg::Cable => NodeFault::Cable,
            FaultArg::Partition => NodeFault::Partition,
            FaultArg::Power => NodeFault::Power,
        }
    }
}

/// Arguments of `dyno prove`.
#[derive(Debug, Args)]
pub struct ProveArgs {
    /// Prove these contenders, comma-separated: engine[@build][/driver[+variant]][:profile][,setting=value…]
    #[arg(long = "with", value_name = "CONTENDERS", required_unless_present_any = ["command", "import"])]
    pub with: Vec<String>,
    /// Prove what dyno import promises, all or nothing, into databases of these contenders: SQLite, or servers
    #[arg(long, value_name = "CONTENDERS")]
    pub import: Vec<String>,
    /// Prove a program of your own: a command for the shell that commits to files in {dir}, and writes a line `ack N`
    /// when commit N is acknowledged, each in one write
    #[arg(long, value_name = "COMMAND", requires = "check")]
    pub command: Option<String>,
    /// The name of that program in tables [default: its command]
    #[arg(long, value_name = "NAME", requires = "command")]
    pub label: Option<String>,
    /// The command that checks {dir}: it writes a line `have N` for each commit that it finds, and exits with 0 unless
    /// something else is wrong
    #[arg(long, value_name = "COMMAND", requires = "command")]
    pub check: Option<String>,
    /// The number of commits that a contender makes
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u64).range(2..=10_000))]
    pub commits: u64,
    /// The number of clients that commit at once, each its share; in SQL they also move sums between shared accounts.
    /// A server's clients are connections, SQLite's are processes, those of other engines are threads of one process
    /// [default: 1; of a cluster 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=64))]
    pub clients: Option<u64>,
    /// Make SQLite's clients threads of one process too
    #[arg(long)]
    pub threads: bool,
    /// The number of power cuts at random moments; dyno also cuts after flushes, at most this many more. With 0, no devices
    /// fail either, because dyno compares their losses with those of cuts
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub cuts: usize,
    /// The number of kills to try
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub kills: usize,
    /// The number of power cuts in succession: after each but the last, a contender with one client recovers and goes
    /// on, and the power fails again meanwhile
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=100))]
    pub rounds: u64,
    /// Do not try failing devices
    #[arg(long)]
    pub no_errors: bool,
    /// Keep the smallest harmful cut in this folder: the disk that it left, what was written to it, and a script that
    /// repeats the check
    #[arg(long, value_name = "FOLDER")]
    pub keep: Option<PathBuf>,
    /// Look again at what --keep kept in this folder
    #[arg(long, value_name = "FOLDER", hide = true)]
    pub again: Option<PathBuf>,
    /// Look at it although another user can have written what is there: dyno mounts its disk, and the engine opens its
    /// data [default: dyno asks if it runs on a terminal]
    #[arg(long, requires = "again", hide = true)]
    pub trust: bool,
    /// The storage that loses power: a disk with a real file system on it, or files that keep only what POSIX promises
    #[arg(long, value_enum, default_value_t = ProvedDevice::Disk)]
    pub device: ProvedDevice,
    /// The file system on the disk
    #[arg(long, value_enum, default_value_t = DiskFileSystem::Ext4)]
    pub file_system: DiskFileSystem,
    /// Make each cluster of this many nodes, each a private server on this machine: 3. Short for the setting nodes=N
    /// with every contender that is a cluster
    #[arg(long, value_name = "N")]
    pub nodes: Option<u32>,
    /// Make each round trip between two nodes of a cluster longer by this time: 1ms. Short for the setting
    /// node_delay=TIME with every contender that is a cluster
    #[arg(long, value_name = "TIME")]
    pub node_delay: Option<String>,
    /// The number of times to try each fault of a node of a cluster [default: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub tries: Option<u64>,
    /// The faults of nodes to try, comma-separated [default: all]
    #[arg(long, value_enum, value_name = "FAULTS", value_delimiter = ',')]
    pub faults: Vec<FaultArg>,
    /// The seed of the cuts, the kills and the faults [default: a random one]
    #[arg(long)]
    pub seed: Option<u64>,
    /// The longest time for the work, and for each check of the data: 60s, 5m
    #[arg(long, default_value = "60s", value_parser = duration)]
    pub timeout: Duration,
    /// The format of the output
    #[arg(long, value_enum, default_value_t = ProofFormat::Table)]
    pub format: ProofFormat,
    /// Keep what was observed in this file; dyno show and dyno report read it
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Write the page too
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Show no progress
    #[arg(long, short)]
    pub quiet: bool,
}

impl ProveArgs {
    /// The number of clients of a contender that is no cluster.
    pub fn clients_of_one(&self) -> u64 {
        self.clients.unwrap_or(1)
    }
}

/// Arguments of the process that records files.
#[derive(Debug, Args)]
pub struct FilesArgs {
    /// The folder with what is there at the beginning
    pub folder: PathBuf,
    /// The log, which is made
    pub log: PathBuf,
}

/// Arguments of the process that watches system calls.
#[derive(Debug, Args)]
pub struct WatcherArgs {
    /// The process to watch, with all that descend from it
    pub process: u32,
}

/// Arguments of the process that records a disk.
#[derive(Debug, Args)]
pub struct RecorderArgs {
    /// The disk's file
    pub disk: PathBuf,
    /// The log, which is made
    pub log: PathBuf,
    /// A fault that the disk is to have
    pub fault: Option<dyno_prove::disk::faults::Fault>,
}
