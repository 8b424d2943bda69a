//! A private server: started by dyno for one run, on the file system to be measured, and gone after it.
//!
//! It has an empty data folder, the settings asked for and none from the machine's files, one socket in a
//! folder that nobody else may enter, and no network. Whether dyno ends it, fails, or is killed: it does
//! not outlive dyno, and neither does its socket.

use std::fs::{self, DirBuilder, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};
use std::{env, io};

use anyhow::{Context, Result, bail};
use dyno_protocol::{Server, Setting};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;

use super::account::Account;
use super::copy::{Zeros, copy_folder};
use super::guard::Guard;
use super::installation::Installation;
use super::{ServerEngine, mysql, postgres, template};
use crate::placement::Placement;

/// How long a server may take until it accepts connections: one with large files or much memory has
/// them to make first.
const START_PATIENCE: Duration = Duration::from_secs(120);
/// How long a server may take to end before it is ended by force.
const STOP_PATIENCE: Duration = Duration::from_secs(10);
/// How long the end of a server may take to show after its clients have lost it.
const DEATH_PATIENCE: Duration = Duration::from_millis(500);
/// The longest path of a socket in bytes: the kernel keeps 108, and the last is zero.
const LONGEST_SOCKET: usize = 107;
/// How much of a log is shown: its end, in lines and in bytes.
const SHOWN_LOG: (usize, usize) = (20, 4096);

/// The places of a server.
#[derive(Debug)]
pub struct Folders {
    /// The database.
    pub data: PathBuf,
    /// What the server puts aside while it works.
    pub temporary: PathBuf,
    /// Its socket.
    pub sockets: PathBuf,
}

/// A running server. Dropped, it is stopped and its folders are removed.
#[derive(Debug)]
pub struct PrivateServer {
    engine: ServerEngine,
    version: String,
    child: Child,
    /// How it ended, once it has.
    ended: Option<ExitStatus>,
    folders: Folders,
    log: PathBuf,
    // In the order in which they must go: while folders are there, so is the guard.
    _sockets: Option<TempDir>,
    _folder: TempDir,
    _guard: Guard,
}

impl PrivateServer {
    /// Starts a server and waits until it accepts connections.
    ///
    /// `place` is a folder of dyno's own on the file system to be measured. Where dyno is root, the folder
    /// is opened to be entered by every account, since the server runs under another.
    ///
    /// Must be called by a thread that outlives the server: the kernel ends the server with the thread
    /// that started it.
    ///
    /// # Errors
    /// The data folder cannot be made, or the server ends or is not ready in time; with the end of what
    /// it wrote to its log.
    pub fn start(
        installation: &Installation,
        settings: &[Setting],
        place: &Path,
        placement: &Placement,
    ) -> Result<PrivateServer> {
        let name = format!("{} {}", installation.engine.title(), installation.version);
        start(installation, settings, place, placement)
            .with_context(|| format!("cannot start a private server of {name}"))
    }

    /// How to reach the server, and there the database of the name `scratch`.
    pub fn connection(&self, scratch: &str) -> Server {
        let sockets = self.folders.sockets.display().to_string();
        let (host, port, user, database) = match self.engine {
            ServerEngine::Postgres => {
                (sockets, Some(postgres::PORT), postgres::USER, Some(postgres::DATABASE.to_owned()))
            }
            ServerEngine::MariaDb | ServerEngine::MySql => {
                (format!("{sockets}/{}", mysql::SOCKET), None, mysql::USER, None)
            }
        };
        Server {
            host,
            port,
            user: user.to_owned(),
            password: None,
            database,
            scratch: scratch.to_owned(),
            options: Default::default(),
            process: Some(self.process()),
        }
    }

    /// The version that its program tells.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The main process.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// How the server ended, with the end of its log, if it has: for the message when a trial on it
    /// failed. Clients notice an end first, so this waits up to 0.5 s for one.
    pub fn death(&mut self) -> Option<String> {
        let deadline = Instant::now() + DEATH_PATIENCE;
        while self.is_alive() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(5));
        }
        let status = self.ended()?;
        Some(format!("the server {}; {}", describe(status), self.log_end()))
    }

    /// Whether the server is still there.
    pub fn is_alive(&mut self) -> bool {
        self.ended().is_none()
    }

    /// Stops the server: in order, or by force if that takes longer than 10 s. Dropping it does the same.
    pub fn stop(&mut self) {
        let pid = Pid::from_raw(self.child.id().cast_signed());
        if self.is_alive() {
            let _ = kill(pid, self.engine.stop_signal());
        }
        let deadline = Instant::now() + STOP_PATIENCE;
        while self.is_alive() {
            if Instant::now() > deadline {
                self.kill();
                return;
            }
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Ends the server and its children, which may each be in a session of its own.
    fn kill(&mut self) {
        let children = descendants(self.child.id());
        let _ = self.child.kill();
        for child in children {
            let _ = kill(Pid::from_raw(child), Signal::SIGKILL);
        }
        self.ended = self.child.wait().ok();
    }

    fn ended(&mut self) -> Option<ExitStatus> {
        if self.ended.is_none() {
            self.ended = self.child.try_wait().ok().flatten();
        }
        self.ended
    }

    fn wait_until_ready(&mut self) -> Result<()> {
        let deadline = Instant::now() + START_PATIENCE;
        loop {
            if let Some(status) = self.ended() {
                bail!("it {}; {}", describe(status), self.log_end());
            }
            let ready = match self.engine {
                ServerEngine::Postgres => postgres::is_ready(&self.folders),
                ServerEngine::MariaDb | ServerEngine::MySql => mysql::is_ready(&self.folders),
            };
            if ready {
                return Ok(());
            }
            if Instant::now() > deadline {
                bail!("it was not ready within {} s; {}", START_PATIENCE.as_secs(), self.log_end());
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn log_end(&self) -> String {
        match tail(&fs::read(&self.log).unwrap_or_default()) {
            log if log.is_empty() => "it wrote no log".to_owned(),
            log => format!("its log ends:\n{log}"),
        }
    }
}

impl Drop for PrivateServer {
    fn drop(&mut self) {
        self.stop();
    }
}

impl ServerEngine {
    fn stop_signal(self) -> Signal {
        match self {
            ServerEngine::Postgres => postgres::STOP,
            ServerEngine::MariaDb | ServerEngine::MySql => mysql::STOP,
        }
    }

    /// What the kernel sends the server when dyno dies. PostgreSQL's main process must live to end its
    /// children; MariaDB's and MySQL's has none.
    fn death_signal(self) -> Signal {
        match self {
            ServerEngine::Postgres => postgres::STOP,
            ServerEngine::MariaDb | ServerEngine::MySql => Signal::SIGKILL,
        }
    }

    fn start_command(self, installation: &Installation, settings: &[Setting], folders: &Folders) -> Command {
        match self {
            ServerEngine::Postgres => postgres::start_command(installation, settings, folders),
            ServerEngine::MariaDb | ServerEngine::MySql => {
                mysql::start_command(installation, settings, folders)
            }
        }
    }
}

fn start(
    installation: &Installation,
    settings: &[Setting],
    place: &Path,
    placement: &Placement,
) -> Result<PrivateServer> {
    let engine = installation.engine;
    let account = Account::for_server(engine)?;
    let place = std::path::absolute(place)?;
    let folder = closed_folder("server-", &place)
        .with_context(|| format!("cannot make a folder for the server in {}", place.display()))?;
    account.admit(&place)?;
    account.own(folder.path())?;
    account.check_way(folder.path())?;
    account.check_way(&installation.server)?;
    let (sockets, short) = socket_folder(engine, folder.path(), &account)?;
    let folders = Folders { data: folder.path().join("data"), temporary: folder.path().join("tmp"), sockets };
    prepare_data(installation, settings, &account, folder.path(), &folders)?;
    let log = folder.path().join("log");
    let output = File::create(&log).context("cannot make the server's log")?;
    let mut command = engine.start_command(installation, settings, &folders);
    command.current_dir(folder.path()).stdout(output.try_clone()?).stderr(output);
    placement.prepare(&mut command).context("cannot place the server")?;
    account.prepare(&mut command, engine.death_signal());
    let mut child =
        command.spawn().with_context(|| format!("cannot run {}", installation.server.display()))?;
    let left: Vec<&Path> =
        [Some(folder.path()), short.as_ref().map(TempDir::path)].into_iter().flatten().collect();
    let guard = Guard::watch(child.id(), engine.death_signal(), &left).inspect_err(|_| {
        let _ = child.kill();
        let _ = child.wait();
    })?;
    let mut server = PrivateServer {
        engine,
        version: installation.version.clone(),
        child,
        ended: None,
        folders,
        log,
        _sockets: short,
        _folder: folder,
        _guard: guard,
    };
    server.wait_until_ready()?;
    Ok(server)
}

/// Makes the data folder and lets it come to rest, so that no trial pays for writing it.
fn prepare_data(
    installation: &Installation,
    settings: &[Setting],
    account: &Account,
    folder: &Path,
    folders: &Folders,
) -> Result<()> {
    let made = template::obtain(installation, settings, account, folder)?;
    let copy = || -> io::Result<()> {
        copy_folder(&made, &folders.data, Some(account), Zeros::Written)?;
        DirBuilder::new().mode(0o700).create(&folders.temporary)?;
        account.own(&folders.temporary)?;
        if made.starts_with(folder) {
            fs::remove_dir_all(&made)?;
        }
        Ok(nix::unistd::syncfs(File::open(folder)?)?)
    };
    copy().with_context(|| format!("cannot copy the empty data folder to {}", folders.data.display()))
}

/// A folder for the socket: the server's own, unless that makes the socket's path too long; then a
/// short one elsewhere.
fn socket_folder(
    engine: ServerEngine,
    folder: &Path,
    account: &Account,
) -> Result<(PathBuf, Option<TempDir>)> {
    let socket = match engine {
        ServerEngine::Postgres => postgres::SOCKET,
        ServerEngine::MariaDb | ServerEngine::MySql => mysql::SOCKET,
    };
    let fits = |folder: &Path| folder.join(socket).as_os_str().as_bytes().len() <= LONGEST_SOCKET;
    if fits(folder) {
        return Ok((folder.to_owned(), None));
    }
    let parents =
        [Some(env::temp_dir()), env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from), Some("/tmp".into())];
    for parent in parents.into_iter().flatten() {
        let Ok(short) = closed_folder("dyno-", &parent) else { continue };
        let usable = account.own(short.path()).is_ok() && account.check_way(short.path()).is_ok();
        if fits(short.path()) && usable {
            return Ok((short.path().to_owned(), Some(short)));
        }
    }
    bail!(
        "the path of the server's socket in {} would be longer than the system's {LONGEST_SOCKET} bytes, \
         and no short folder can be made in /tmp; choose a shorter folder with --dir",
        folder.display()
    )
}

/// A folder that nobody but its owner and root may enter: it is all that keeps others from the server.
fn closed_folder(prefix: &str, parent: &Path) -> io::Result<TempDir> {
    let mode = fs::Permissions::from_mode(0o700);
    tempfile::Builder::new().prefix(prefix).permissions(mode).tempdir_in(parent)
}

/// The processes that descend from one, each after its parent.
fn descendants(of: u32) -> Vec<i32> {
    let mut found = vec![of.cast_signed()];
    let processes: Vec<(i32, i32)> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
            // The name before the last parenthesis may hold anything; state and parent follow it.
            let parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
            Some((pid, parent))
        })
        .collect();
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        found.extend(processes.iter().filter(|process| process.1 == parent).map(|process| process.0));
        next += 1;
    }
    found.split_off(1)
}

/// The end of what a program wrote.
pub(super) fn tail(text: &[u8]) -> String {
    let (lines, bytes) = SHOWN_LOG;
    let text = String::from_utf8_lossy(&text[text.len().saturating_sub(bytes)..]);
    let all: Vec<&str> = text.trim().lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}

fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal().map(Signal::try_from)) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(Ok(signal))) => format!("was killed by {signal}"),
        (None, _) => "ended".to_owned(),
    }
}
