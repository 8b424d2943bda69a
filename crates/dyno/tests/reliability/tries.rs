//! One try: a command, something that happens to it at a moment drawn from a seed, and [five
//! questions](super::questions).

use std::time::Duration;

use nix::sys::signal::Signal;

use super::proxy::Fault;
use super::servers::Server;

/// The time that a command may take to end after its first signal.
const TO_END: Duration = Duration::from_secs(60);

/// A try.
#[derive(Debug, Clone)]
pub struct Try {
    pub seed: u64,
    /// The program: dyno, or a shell script that does wrong on purpose.
    pub program: Program,
    pub event: Event,
    /// The time that the command may take to end after its first signal.
    pub to_end: Duration,
}

/// The program.
#[derive(Debug, Clone)]
pub enum Program {
    /// dyno with these arguments, separated by spaces.
    Dyno(String),
    /// A shell script.
    Script(&'static str),
}

/// The event.
#[derive(Debug, Clone)]
pub enum Event {
    /// A signal to dyno after milliseconds.
    Dyno(Signal, u64),
    /// Dyno stands still for a second.
    Pause(u64),
    /// A signal to one of the processes that dyno has started.
    Other(Signal, u64),
    /// One of these stands still for a second.
    PauseOther(u64),
    /// The folder of the databases is a file system of megabytes.
    Small(u64),
    /// The way to a server at a URL, by its place.
    Way(Fault, usize),
    /// A server at a URL, by its place, is killed after milliseconds and started again.
    Restart(usize, u64),
}

const MIXES: [&str; 6] = [
    "bank --only transfer --set accounts=50 --clients 32 --with sqlite:wal,postgres",
    "app --set users=50 --clients 4 --rate 100 --sessions 3 --with sqlite:wal,mariadb",
    "orders --set scale=0.01 --set warehouses=1 --clients 4 --with sqlite:wal,postgres",
    "ycsb --set records=300 --clients 4 --processes --with lmdb,sqlite:wal",
    "bank --only transfer --set accounts=50 --clients 4 --sustain p90<=400ms --with sqlite:wal,mariadb",
    "bank --only transfer --set accounts=50 --clients 32 --processes --with mariadb,sqlite:wal",
];
const SMALL: &str = "--set warm_up=0.1 --duration 0.3s --trials 2 --quiet -o run.jsonl";
const PROOFS: [&str; 2] = [
    "prove --with sqlite:wal --commits 20 --cuts 20 --kills 3 --no-errors",
    "prove --with postgres --commits 20 --cuts 5 --kills 1 --no-errors",
];
/// A run whose contenders have a key, which is a secret as a password is.
const ENCRYPTED: &str =
    "run encryption --scale 0.02 --only 1-3 --with sqlite@mc:plain,sqlite@mc --trials 2 --quiet -o run.jsonl";
const IMPORT: &str = "import rows.csv --header --into new.db --table t --index a";
/// Works on a server at a URL, which follows.
const AT_URL: [&str; 3] = [
    "run bank --set accounts=50 --clients 4 --set warm_up=0.1 --duration 0.3s --trials 2 --quiet -o run.jsonl --url",
    "run speedtest --scale 0.02 --trials 1 --quiet -o run.jsonl --url",
    "import rows.csv --header --table t --into",
];
const SIGNALS: [Signal; 4] = [Signal::SIGKILL, Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP];

impl Try {
    /// The try of a seed, with these servers.
    pub fn draw(seed: u64, servers: &[Server]) -> Try {
        let mut random = fastrand::Rng::with_seed(seed);
        let kind = random.u8(0..11);
        let arguments = match kind {
            4..=7 => mix(&mut random),
            8..=10 => (*random.choice(&AT_URL).unwrap()).to_owned(),
            _ => any(&mut random),
        };
        // An import is over in a moment.
        let longest = if arguments.starts_with("import") { 400 } else { 9000 };
        let millis = random.u64(10..longest);
        let signal = *random.choice(&SIGNALS).unwrap();
        let event = match kind {
            0..3 => Event::Dyno(signal, millis),
            3 => Event::Pause(millis),
            4..6 => Event::Other(signal, millis),
            6 => Event::PauseOther(millis),
            7 => Event::Small(random.u64(2..48)),
            8 => Event::Restart(random.usize(0..servers.len()), millis),
            _ => Event::Way(fault(&mut random), random.usize(0..servers.len())),
        };
        Try { seed, program: Program::Dyno(arguments), event, to_end: TO_END }
    }

    /// The row of the table that it belongs to.
    pub fn kind(&self) -> String {
        let what = match self.event {
            Event::Dyno(signal, _) => format!("{signal} to dyno"),
            Event::Pause(_) => "dyno stands still".to_owned(),
            Event::Other(signal, _) => format!("{signal} to one of its processes"),
            Event::PauseOther(_) => "one of its processes stands still".to_owned(),
            Event::Small(_) => "the disk fills".to_owned(),
            Event::Way(fault, _) => format!("the way to a server: {}", fault.name()),
            Event::Restart(..) => "the server at the URL restarts".to_owned(),
        };
        let work = match &self.program {
            Program::Dyno(arguments) => arguments.as_str(),
            Program::Script(_) => "script",
        };
        let work = work.split_whitespace().take_while(|word| !word.starts_with('-'));
        format!("{what} | {}", work.take(2).filter(|word| *word != "rows.csv").collect::<Vec<_>>().join(" "))
    }
}

fn mix(random: &mut fastrand::Rng) -> String {
    format!("run {} {SMALL}", random.choice(MIXES).unwrap())
}

fn any(random: &mut fastrand::Rng) -> String {
    match random.u8(0..10) {
        0 => random.choice(PROOFS).unwrap().to_owned(),
        1 => IMPORT.to_owned(),
        2 => ENCRYPTED.to_owned(),
        _ => mix(random),
    }
}

fn fault(random: &mut fastrand::Rng) -> Fault {
    match random.u8(0..6) {
        0 => Fault::Refuse(random.usize(0..12)),
        1 => Fault::Cut(random.usize(1..40_000)),
        2 => Fault::Garbage(random.usize(1..40_000)),
        3 => Fault::Stall(random.usize(1..40_000)),
        4 => Fault::Slow(random.u64(1..40)),
        _ => Fault::None,
    }
}
