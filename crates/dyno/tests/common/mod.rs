//! A small vocabulary for tests that use dyno as people do: the command, in a separate folder.

pub mod browser;
pub mod drivers;
pub mod runner;
pub mod server;
pub mod spinning;
pub mod stores;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use dyno_engine::{Home, Registry};
use dyno_lab::server::Installation;
use dyno_protocol::Build;
use nix::sys::signal::{SigHandler, Signal, kill, signal};
use nix::unistd::Pid;
use serde_json::Value;
use tempfile::TempDir;

/// A folder with a place for databases, in which dyno runs.
pub struct Place {
    folder: TempDir,
    home: Option<PathBuf>,
    /// The folder for databases in memory; else they go to `data/`.
    memory: Option<TempDir>,
}

/// Gives a command the usual effect of signals that the tests' parent may ignore, as a shell does for what runs in the
/// background: dyno and shells keep ignoring what their parent ignored.
pub fn heed_signals(command: &mut Command) {
    let heed = || {
        for caught in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
            // SAFETY: nothing handles the signal.
            unsafe { signal(caught, SigHandler::SigDfl) }?;
        }
        Ok(())
    };
    // SAFETY: between fork and exec it makes system calls only.
    unsafe { command.pre_exec(heed) };
}

/// True if tests run at the sizes of `make soak`, which sets `DYNO_THOROUGH`: those of `make test` are smaller where a
/// test would take long.
pub fn is_thorough() -> bool {
    std::env::var_os("DYNO_THOROUGH").is_some()
}

/// The Java machine of `make test`, where there is one. It compiles quickly rather than well, which halves the processor
/// time of trials as short as these.
fn quick_java() -> Option<&'static Path> {
    static MADE: OnceLock<Option<PathBuf>> = OnceLock::new();
    let make = || {
        let java = Path::new(env!("CARGO_BIN_EXE_dyno")).with_file_name("../jvm/bin/java");
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("java");
        if is_thorough() || !java.is_file() {
            return None;
        }
        let script = format!("#!/bin/sh\nexec '{}' -XX:TieredStopAtLevel=1 \"$@\"\n", java.display());
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        Some(path)
    };
    MADE.get_or_init(make).as_deref()
}

/// The words of duties that concern how rows come to a table: what ways of loading differ in.
pub const LOADING: [&str; 4] = ["row", "load", "import", "records"];

/// The words of duties that concern settings and files: what profiles and builds of one driver differ in.
pub const SETTINGS: [&str; 4] = ["setting", "read", "client", "hello"];

/// The words of duties in which drivers of one engine and language differ: what a database is asked, and what it answers.
pub const DRIVING: [&str; 12] = [
    "setting",
    "back",
    "rows",
    "whole",
    "closed",
    "connection",
    "engine's",
    "loaded",
    "go",
    "parameters",
    "undone",
    "prepared",
];

/// The outcome of a command.
pub struct Result {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Place {
    /// A fresh folder.
    pub fn new() -> Place {
        require_runners();
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("data")).unwrap();
        Place { folder, home: None, memory: None }
    }

    /// The same with a place for databases in memory, where there is one: for tests that ask nothing of what survives.
    /// Nothing waits for a disk there.
    pub fn in_memory() -> Place {
        let memory = tempfile::Builder::new().prefix("dyno-test-").tempdir_in("/dev/shm").ok();
        Place { memory, ..Place::new() }
    }

    /// The folder for databases.
    pub fn data(&self) -> PathBuf {
        self.memory.as_ref().map_or_else(|| self.path("data"), |memory| memory.path().to_owned())
    }

    /// A fresh folder with a separate home: dyno's suites and engines, and one more runner, a shell
    /// script that serves `fake/sh`.
    pub fn with_runner(script: &str) -> Place {
        let mut place = Place::new();
        let home = place.path("home");
        let root = repository();
        for name in ["suites", "engines", "runners"] {
            copy(&root.join(name), &home.join(name));
        }
        fs::write(home.join("engines/fake.toml"), FAKE_ENGINE).unwrap();
        let runner = home.join("runners/fake");
        fs::create_dir(&runner).unwrap();
        fs::write(runner.join("runner.toml"), FAKE_RUNNER).unwrap();
        let program = runner.join("run.sh");
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        place.home = Some(home);
        place
    }

    /// The same with SQLite and the null runner alone: what lists all engines starts the driver of each.
    pub fn with_runner_and_few_others(script: &str) -> Place {
        let place = Place::with_runner(script);
        for (folder, few) in
            [("engines", ["sqlite.toml", "null.toml", "fake.toml"]), ("runners", ["sqlite", "null", "fake"])]
        {
            for entry in fs::read_dir(place.path("home").join(folder)).unwrap() {
                let path = entry.unwrap().path();
                if few.iter().any(|name| path.file_name().is_some_and(|own| own == *name)) {
                    continue;
                }
                if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
            }
        }
        place
    }

    /// A fresh folder with a separate home: dyno's suites, engines and runners, and one more engine, which is
    /// nothing but this file.
    pub fn with_engine(name: &str, text: &str) -> Place {
        let mut place = Place::new();
        let home = place.path("home");
        fs::create_dir(&home).unwrap();
        for folder in ["suites", "runners"] {
            symlink(repository().join(folder), home.join(folder)).unwrap();
        }
        copy(&repository().join("engines"), &home.join("engines"));
        fs::write(home.join(format!("engines/{name}.toml")), text).unwrap();
        place.home = Some(home);
        place
    }

    /// A path within the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file and gives its path.
    pub fn write(&self, name: &str, text: &str) -> String {
        fs::write(self.path(name), text).unwrap();
        self.path(name).display().to_string()
    }

    /// The command, ready for arguments.
    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dyno"));
        command.current_dir(self.folder.path()).env("TMPDIR", self.data());
        // A user's defaults, and findings on this machine, must not influence a test.
        command.env("DYNO_DEFAULTS", "").env("XDG_CONFIG_HOME", self.path("config"));
        command.env("DYNO_PROOFS", self.path("proofs.jsonl"));
        command.env("DYNO_CALIBRATION", self.path("calibration.json"));
        match &self.home {
            Some(home) => command.env("DYNO_HOME", home),
            None => command.env_remove("DYNO_HOME"),
        };
        if let Some(java) = quick_java() {
            command.env("DYNO_JAVA", java);
        }
        heed_signals(&mut command);
        command
    }

    /// Runs dyno with arguments separated by spaces. A short duration may pass on a busy machine without one operation:
    /// then the same is run for longer.
    pub fn dyno(&self, arguments: &str) -> Result {
        let result: Result = self.command().args(arguments.split_whitespace()).output().unwrap().into();
        // If a reason follows, more time would not help.
        let stdout = unwrapped(&result.stdout);
        let mut starved = stdout.split("no operation succeeded within the time").skip(1);
        let is_starved = starved.any(|rest| !rest.starts_with(':'));
        match longer(arguments) {
            Some(longer) if is_starved => self.dyno(&longer),
            _ => result,
        }
    }

    /// Starts dyno and leaves it running.
    pub fn start(&self, arguments: &str) -> Child {
        let mut command = self.command();
        command.args(arguments.split_whitespace()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Starts dyno, waits until a folder in `data/` has a file of this name, and sends dyno a signal.
    pub fn interrupted(&self, arguments: &str, file: &str, signal: Signal) -> Result {
        let dyno = self.start(arguments);
        wait_for(file, 30, || {
            let folders = fs::read_dir(self.data()).unwrap().flatten();
            folders.map(|folder| folder.path().join(file)).any(|file| file.exists())
        });
        kill(Pid::from_raw(dyno.id().cast_signed()), signal).unwrap();
        dyno.wait_with_output().unwrap().into()
    }

    /// The page of run files.
    pub fn page(&self, runs: &[&Path]) -> PathBuf {
        let names: Vec<String> = runs.iter().map(|run| run.display().to_string()).collect();
        self.dyno(&format!("report {} -o page.html", names.join(" "))).exits(0).says("page.html");
        self.path("page.html")
    }

    /// The only run file in `results/`.
    pub fn run_file(&self) -> Value {
        let files: Vec<PathBuf> =
            fs::read_dir(self.path("results")).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(files.len(), 1, "run files: {files:?}");
        read_json(&files[0])
    }

    /// Checks the runners of contenders, and that each keeps its duties. `only` are words of the duties that are
    /// checked; all are if there are none.
    pub fn conforms(&self, contenders: &[&str], only: &[&str]) -> Result {
        let only = if is_thorough() { &[] } else { only };
        let only: String = only.iter().map(|words| format!(" --only {words}")).collect();
        let arguments = format!("conformance {}{only}", contenders.join(" "));
        let result = self.dyno(&arguments).exits(0).without_panic();
        assert!(!result.stdout.contains("BROKEN"), "{}", result.stdout);
        assert_eq!(result.stdout.matches(" 0 broken").count(), contenders.len(), "{}", result.stdout);
        self.assert_clean();
        result
    }

    /// Contenders run in a folder whose name has other letters than ASCII's, though the locale knows only these: some
    /// languages take the encoding of paths from it.
    pub fn serves_in_the_locale_c(&self, contenders: &[&str]) {
        let folder = self.path("Größe");
        fs::create_dir(&folder).unwrap();
        let arguments = format!(
            "run speedtest --scale 0.01 --only 1 --trials 1 --no-warm-up --quiet --with {}",
            contenders.join(",")
        );
        let mut command = self.command();
        command.args(arguments.split_whitespace()).arg("--dir").arg(&folder).env("LC_ALL", "C");
        Result::from(command.output().unwrap()).exits(0).without_panic();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "{} is not empty", folder.display());
    }

    /// Nothing may be left where databases go.
    pub fn assert_clean(&self) {
        let left: Vec<PathBuf> =
            fs::read_dir(self.data()).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!(left.is_empty(), "left behind: {left:?}");
    }
}

impl From<Output> for Result {
    fn from(output: Output) -> Result {
        Result {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Result {
    /// It ended with this code.
    pub fn exits(self, code: i32) -> Result {
        assert_eq!(self.code, Some(code), "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }

    /// It printed this as a result.
    pub fn prints(self, text: &str) -> Result {
        assert!(unwrapped(&self.stdout).contains(&unwrapped(text)), "no {text:?} in:\n{}", self.stdout);
        self
    }

    /// It said this to the person.
    pub fn says(self, text: &str) -> Result {
        assert!(unwrapped(&self.stderr).contains(&unwrapped(text)), "no {text:?} in:\n{}", self.stderr);
        self
    }

    /// It said nothing like a crash.
    pub fn without_panic(self) -> Result {
        for output in [&self.stdout, &self.stderr] {
            assert!(!output.contains("panicked") && !output.contains("RUST_BACKTRACE"), "{output}");
        }
        self
    }

    /// Its result as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {}", self.stdout))
    }
}

/// Text with its line breaks taken out, so that wrapping does not matter.
fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Reads a JSON file; of a run file all that its lines say.
pub fn read_json(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap();
    if text.starts_with("{\"run\":") {
        return serde_json::to_value(dyno_record::parse(&text, path).unwrap()).unwrap();
    }
    serde_json::from_str(&text).unwrap()
}

/// The text of a run file.
pub fn run_file(run: &Value) -> String {
    format!("{}\n", serde_json::json!({ "run": run }))
}

/// The programs of a server engine of dyno's own list.
pub fn installation(engine: &str, build: &Build) -> anyhow::Result<Installation> {
    let registry = Registry::load(&Home::find()?)?;
    Installation::find(&registry.engine(engine)?.server().unwrap(), build)
}

/// The root of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// Waits until something holds; panics after `seconds`.
pub fn wait_for(what: &str, seconds: u64, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(seconds);
    while !holds() {
        assert!(Instant::now() < deadline, "waited {seconds} s for: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Returns true if a process has a handler for a signal: one that is sent before that ends it without a word.
pub fn catches(process: u32, signal: Signal) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
    u64::from_str_radix(caught.trim(), 16).unwrap() & (1 << (signal as u32 - 1)) != 0
}

/// The other processes whose command line holds `text`.
pub fn processes_with(text: &str) -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let names = |pid: &u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(text)
    };
    pids.filter(|pid| *pid != std::process::id()).filter(names).collect()
}

/// The number of times that a test kills something at different moments, unless `DYNO_KILLS` sets another.
pub fn kills(usual: u32) -> u32 {
    std::env::var("DYNO_KILLS").map_or(usual, |kills| kills.parse().unwrap())
}

/// The shared memory that a PostgreSQL server would leave if it were killed.
#[derive(Debug)]
pub struct SharedMemory {
    file: PathBuf,
    /// The number of the System V segment, as the kernel lists it.
    number: String,
}

impl SharedMemory {
    /// That of a server, by its main process.
    pub fn of(process: u32) -> SharedMemory {
        let maps = fs::read_to_string(format!("/proc/{process}/maps")).unwrap();
        let line = |name: &str| maps.lines().find(|line| line.contains(name)).unwrap().to_owned();
        let file = line("/dev/shm/PostgreSQL.");
        // The kernel shows a segment's number as the inode of what is mapped.
        let number = line("/SYSV").split_whitespace().nth(4).unwrap().to_owned();
        SharedMemory { file: file[file.find('/').unwrap()..].into(), number }
    }

    /// True if any of it is there.
    pub fn is_there(&self) -> bool {
        let segments = fs::read_to_string("/proc/sysvipc/shm").unwrap();
        let is_listed = segments.lines().any(|line| line.split_whitespace().nth(1) == Some(&self.number));
        is_listed || self.file.exists()
    }
}

/// The runners are programs of other packages: building the workspace makes them.
fn require_runners() {
    let programs = Path::new(env!("CARGO_BIN_EXE_dyno")).parent().unwrap();
    for name in ["dyno-runner-sqlite", "dyno-runner-null"] {
        assert!(
            programs.join(name).is_file(),
            "{name} is not built; `make test` builds it, or run `cargo build --release --workspace`"
        );
    }
}

/// The same arguments with four times the duration, up to 20 seconds.
fn longer(arguments: &str) -> Option<String> {
    let (before, rest) = arguments.split_once("--duration ")?;
    let (duration, after) = rest.split_once('s')?;
    let duration = 4.0 * duration.parse::<f64>().ok()?;
    (duration <= 20.0).then(|| format!("{before}--duration {duration}s{after}"))
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        if entry.path().is_dir() {
            // Of a runner only its description is needed.
            fs::create_dir_all(to.join(entry.file_name())).unwrap();
            let description = entry.path().join("runner.toml");
            if description.is_file() {
                fs::copy(description, to.join(entry.file_name()).join("runner.toml")).unwrap();
            }
        } else {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

const FAKE_ENGINE: &str = r#"
name = "fake"
title = "A runner that misbehaves"
dialect = "sqlite"
builds = ["bundled"]

[[profile]]
name = "default"
settings = []
reason = "none"

[[level]]
when = []
survives = "none"
consistent = false
why = "it is not a database"
"#;

const FAKE_RUNNER: &str = r#"
name = "fake"
start = ["{runner}/run.sh"]
build = "nothing"
needs = "a shell"
models = ["statements"]

[[driver]]
engine = "fake"
name = "sh"
default = true
language = "shell"
about = "misbehaves"
"#;
