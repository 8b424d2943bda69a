//! Private servers, against the real ones that this machine has. Where one is missing, its part is
//! skipped and says so.
//!
//! Each server is started by a separate process, this program again, so that its cache, its account
//! and its death are the test's to choose.

mod holder;
mod orphans;

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use dyno_engine::{Home, Registry};
use dyno_lab::placement;
use dyno_lab::scratch::Scratch;
use dyno_lab::server::{Installable, PrivateServer, ServerPool, installed};
use dyno_launch::Interrupts;
use dyno_protocol::Build;
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, Uid};

use crate::common::server::open_folder;
use crate::common::{Place, Result, SharedMemory, installation, processes_with, wait_for};
use holder::Holder;

const NOBODY: u32 = 65534;

/// An engine and the build of it to start; the builds that dyno installs go by their version.
type Choice = (&'static str, &'static str);

const CHOICES: [Choice; 4] =
    [("postgres", "system"), ("mariadb", "system"), ("postgres", "18"), ("mysql", "9")];

fn build(choice: Choice) -> Build {
    match choice.1 {
        "system" => Build::System,
        version => Build::Path(installed(choice.0, version).unwrap_or(version.into())),
    }
}

/// The servers that this machine has; those that it lacks are reported.
fn servers() -> Vec<Choice> {
    let is_here = |choice: &Choice| match installation(choice.0, &build(*choice)) {
        Ok(_) => true,
        Err(error) => {
            eprintln!("SKIPPED for {}@{}: {error:#}", choice.0, choice.1);
            false
        }
    };
    CHOICES.into_iter().filter(is_here).collect()
}

/// The cache of the tests that do not look at it, which lives on.
fn shared_cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache")
}

fn descendants(of: u32) -> Vec<u32> {
    let path = format!("/proc/{of}/task/{of}/children");
    let text = fs::read_to_string(path).unwrap_or_default();
    text.split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

fn is_alive(process: u32) -> bool {
    // A process that its parent never waits for stays as a zombie.
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

#[test]
fn a_stopped_server_leaves_nothing_and_the_second_start_is_from_the_cache() {
    for choice in servers() {
        let (place, cache) = (open_folder(), tempfile::tempdir().unwrap());
        for is_kept in [false, true] {
            let mut holder = Holder::start(choice, place.path(), cache.path(), "", None);
            let held = holder.next().unwrap();
            assert!(UnixStream::connect(&held.socket).is_ok(), "{held:?}");
            assert_eq!(fs::metadata(held.socket.parent().unwrap()).unwrap().mode() & 0o777, 0o700);
            let listens = fs::read_to_string(format!("/proc/{}/net/tcp", held.process)).unwrap();
            let inodes = sockets_of(held.process);
            assert!(
                !listens.lines().any(|line| line
                    .split_whitespace()
                    .nth(9)
                    .is_some_and(|i| inodes.contains(&i.to_owned()))),
                "{choice:?} has a TCP socket"
            );
            eprintln!("{choice:?}: started in {:?}", held.took);
            // A file that was put among the kept data stands in those of the server.
            assert_eq!(find(place.path(), MARK), is_kept, "{choice:?}");
            holder.release();
            assert!(!is_alive(held.process));
            assert_eq!(processes_with(&place.path().display().to_string()), [0; 0]);
            assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0, "{choice:?} left something");
            let kept = fs::read_dir(cache.path().join("dyno/servers")).unwrap();
            let kept: Vec<PathBuf> = kept.map(|entry| entry.unwrap().path()).collect();
            let name = kept[0].file_name().unwrap().to_str().unwrap();
            assert!(kept.len() == 1 && name.starts_with(choice.0), "{kept:?}");
            fs::write(kept[0].join("data").join(MARK), "").unwrap();
        }
    }
}

/// The name of a file that no engine has.
const MARK: &str = "mark_of_a_test";

/// True if a file of this name is anywhere in a folder.
fn find(folder: &Path, name: &str) -> bool {
    fs::read_dir(folder).into_iter().flatten().flatten().any(|entry| {
        entry.file_name() == name
            || (entry.file_type().is_ok_and(|kind| kind.is_dir()) && find(&entry.path(), name))
    })
}

/// The inodes of a process's sockets.
fn sockets_of(process: u32) -> Vec<String> {
    let entries = fs::read_dir(format!("/proc/{process}/fd")).unwrap().flatten();
    let links = entries.filter_map(|entry| fs::read_link(entry.path()).ok());
    links
        .filter_map(|link| Some(link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
        .collect()
}

#[test]
fn a_server_does_not_outlive_a_killed_dyno() {
    for choice in servers() {
        let (place, cache) = (open_folder(), shared_cache());
        let mut holder = Holder::start(choice, place.path(), &cache, "", None);
        let held = holder.next().unwrap();
        let family: Vec<u32> = descendants(held.process).into_iter().chain([held.process]).collect();
        holder.kill();
        wait_for("the server to be gone", 60, || !family.iter().any(|&pid| is_alive(pid)));
        wait_for("the socket to be gone", 60, || !held.socket.exists());
        let data = place.path().display().to_string();
        wait_for("its data and its guard to be gone", 60, || {
            processes_with(&data).is_empty() && !held.socket.parent().unwrap().exists()
        });
        assert_eq!(
            fs::read_dir(place.path()).unwrap().count(),
            1,
            "the dead run's folder awaits the next run"
        );
        drop(Scratch::create(place.path()).unwrap());
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }
}

#[test]
fn shared_memory_of_a_server_killed_with_its_dyno_is_removed_by_the_next() {
    for choice in servers().into_iter().filter(|choice| choice.0 == "postgres") {
        let (place, cache) = (open_folder(), tempfile::tempdir().unwrap());
        let mut holder = Holder::start(choice, place.path(), cache.path(), "", None);
        let held = holder.next().unwrap();
        let memory = SharedMemory::of(held.process);
        // No process is left that could clean up: the guard, the server and its children, the dyno.
        // The guard goes first and then the main process: each would do something about the death of the others.
        let guards = descendants(holder.child.id()).into_iter();
        let children = descendants(held.process);
        for process in guards.chain([held.process]).chain(children) {
            let _ = kill(Pid::from_raw(process.cast_signed()), Signal::SIGKILL);
        }
        holder.kill();
        assert!(memory.is_there());
        let run = ["run", "speedtest", "--scale", "0.02", "--only", "15", "--trials", "1", "--quiet"];
        let mut command = Command::new(env!("CARGO_BIN_EXE_dyno"));
        command.args(run).current_dir(place.path()).env("TMPDIR", place.path());
        let output = command.env("XDG_CACHE_HOME", cache.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(!memory.is_there(), "{memory:?}");
        assert_eq!(fs::read_dir(cache.path().join("dyno/segments")).unwrap().count(), 0);
    }
}

#[test]
fn a_cache_is_rid_of_what_a_killed_dyno_left_in_it() {
    for choice in servers() {
        let (place, cache) = (open_folder(), tempfile::tempdir().unwrap());
        Holder::start(choice, place.path(), cache.path(), "", None).release();
        let left = cache.path().join("dyno/servers/dyno-scratch-dead");
        fs::create_dir(&left).unwrap();
        File::create(left.join("lock")).unwrap();
        // This one finds what it needs and makes nothing.
        Holder::start(choice, place.path(), cache.path(), "", None).release();
        assert!(!left.exists());
    }
}

#[test]
fn a_failed_start_shows_the_servers_own_log() {
    for choice in servers() {
        let (place, cache) = (open_folder(), shared_cache());
        let mut holder = Holder::start(choice, place.path(), &cache, "no_such_setting=1", None);
        let error = holder.next().unwrap_err();
        assert!(error.contains("cannot start a private server of"), "{error}");
        assert!(error.contains("its log ends:") && error.contains("no_such_setting"), "{error}");
        holder.release();
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }
}

#[test]
fn a_path_too_long_for_a_socket_gets_a_short_one_that_goes_as_well() {
    for choice in servers() {
        let (place, cache) = (open_folder(), shared_cache());
        let deep = place.path().join("a-long-name-for-a-folder/".repeat(4));
        fs::create_dir_all(&deep).unwrap();
        let start = || {
            let mut holder = Holder::start(choice, &deep, &cache, "", None);
            let held = holder.next().unwrap();
            assert!(!held.socket.starts_with(&deep), "{held:?}");
            assert!(UnixStream::connect(&held.socket).is_ok(), "{held:?}");
            (holder, held.socket.parent().unwrap().to_owned())
        };
        let (holder, folder) = start();
        assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
        holder.release();
        assert!(!folder.exists(), "a stopped server left {}", folder.display());
        let (holder, folder) = start();
        holder.kill();
        wait_for("the short folder to be gone", 60, || !folder.exists());
    }
}

#[test]
fn two_at_once_share_a_cache() {
    for choice in servers() {
        let (place, cache) = (open_folder(), tempfile::tempdir().unwrap());
        let start = || Holder::start(choice, place.path(), cache.path(), "", None);
        let mut holders = [start(), start()];
        let held = holders.each_mut().map(|holder| holder.next().unwrap());
        assert_ne!(held[0].socket, held[1].socket);
        holders.into_iter().for_each(Holder::release);
        let kept = fs::read_dir(cache.path().join("dyno/servers")).unwrap();
        assert_eq!(kept.count(), 1, "{choice:?}");
    }
}

#[test]
fn a_cache_that_cannot_be_written_is_done_without() {
    for choice in servers() {
        let place = open_folder();
        let cache = place.path().join("cache");
        File::create(&cache).unwrap().write_all(b"a file").unwrap();
        let folder = place.path().join("databases");
        fs::create_dir(&folder).unwrap();
        let mut holder = Holder::start(choice, &folder, &cache, "", None);
        holder.next().unwrap();
        holder.release();
    }
}

#[test]
fn root_runs_servers_under_another_account() {
    if !Uid::effective().is_root() {
        return eprintln!("SKIPPED: this is not root");
    }
    for choice in servers() {
        let (place, cache) = (open_folder(), shared_cache());
        let mut holder = Holder::start(choice, place.path(), &cache, "", None);
        let held = holder.next().unwrap();
        assert_ne!(fs::metadata(format!("/proc/{}", held.process)).unwrap().uid(), 0);
        holder.release();
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o700)).unwrap();
        let mut holder = Holder::start(choice, place.path(), &cache, "", None);
        let error = holder.next().unwrap_err();
        let barrier = format!("may not enter {},", place.path().display());
        assert!(error.contains(&barrier) && error.contains("--dir"), "{error}");
        holder.release();
    }
}

#[test]
fn anybody_runs_servers_under_their_own_account() {
    if !Uid::effective().is_root() {
        return eprintln!("SKIPPED: this is not root, so the other tests are this one");
    }
    let program = std::env::current_exe().unwrap();
    let reached = Command::new("/bin/sh")
        .args(["-c", "test -x \"$1\"", "sh"])
        .arg(&program)
        .uid(NOBODY)
        .gid(NOBODY)
        .status()
        .unwrap();
    if !reached.success() {
        return eprintln!("SKIPPED: `nobody` may not enter {}", program.display());
    }
    for choice in servers() {
        let (place, cache) = (open_folder(), open_folder());
        for folder in [&place, &cache] {
            chown(folder.path(), Some(NOBODY), Some(NOBODY)).unwrap();
            fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
        }
        let mut holder = Holder::start(choice, place.path(), cache.path(), "", Some(NOBODY));
        let held = holder.next().unwrap();
        assert_eq!(fs::metadata(format!("/proc/{}", held.process)).unwrap().uid(), NOBODY);
        holder.release();
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }
}

#[test]
fn a_pool_keeps_its_servers_and_replaces_dead_ones() {
    for choice in servers() {
        let place = open_folder();
        let scratch = Scratch::create(place.path()).unwrap();
        let trial = scratch.trial().unwrap();
        let run = trial.path().parent().unwrap().to_owned();
        let installation = installation(choice.0, &build(choice)).unwrap();
        let mut pool = ServerPool::new(run, placement::choose(None, None).unwrap());
        let first = pool.server(&installation, &[]).unwrap().process();
        let server = pool.server(&installation, &[]).unwrap();
        assert_eq!(server.process(), first, "a server was started twice");
        assert!(server.is_alive());
        kill(Pid::from_raw(first.cast_signed()), Signal::SIGKILL).unwrap();
        assert!(server.death().unwrap().contains("killed by SIGKILL"));
        assert_ne!(pool.server(&installation, &[]).unwrap().process(), first);
    }
}

/// The state of a process, as the kernel's letter for it.
pub fn state(process: u32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    stat.rsplit_once(')')?.1.trim_start().chars().next()
}

#[test]
fn a_server_is_paused_at_once_and_a_dead_one_gets_no_signal() {
    for choice in servers() {
        let place = open_folder();
        let installation = installation(choice.0, &build(choice)).unwrap();
        let placement = placement::choose(None, None).unwrap();
        let mut server = PrivateServer::start(&installation, &[], place.path(), &placement).unwrap();
        let process = server.process();
        let pauses = [(); 3].map(|()| {
            let begin = Instant::now();
            server.pause().unwrap();
            let took = begin.elapsed();
            assert_eq!(state(process), Some('T'));
            server.go_on();
            wait_for("the server to go on", 10, || state(process) != Some('T'));
            took
        });
        // Half a second is what a look for its death waits.
        assert!(pauses.iter().min().unwrap().as_millis() < 450, "{choice:?}: {pauses:?}");
        kill(Pid::from_raw(process.cast_signed()), Signal::SIGKILL).unwrap();
        wait_for("the server to be gone", 10, || !server.is_alive());
        let said = server.pause().unwrap_err().to_string();
        assert!(said.contains("killed by SIGKILL"), "{said}");
        // Its number is free by now: these must reach no process.
        server.go_on();
        server.signal(Signal::SIGTERM);
    }
}

/// The program in the place of Maven waits for a signal, as Maven does for a slow network.
#[test]
fn a_signal_ends_an_installation_and_leaves_nothing() {
    let place = Place::new();
    let (programs, home) = (place.path("programs"), place.path("home"));
    fs::create_dir(&programs).unwrap();
    let maven = place.write("programs/mvn", "#!/bin/sh\ntouch asked\nexec sleep 977\n");
    fs::set_permissions(&maven, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let mut command = place.command();
    command.args(["engines", "install", "postgres@18"]).env("PATH", path).env("XDG_DATA_HOME", &home);
    let dyno = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("Maven", 30, || place.path("asked").exists() && !processes_with("sleep\0977").is_empty());
    kill(Pid::from_raw(dyno.id().cast_signed()), Signal::SIGTERM).unwrap();
    Result::from(dyno.wait_with_output().unwrap()).exits(143).without_panic();
    assert!(processes_with("sleep\0977").is_empty(), "the program still runs");
    let folders = fs::read_dir(home.join("dyno")).unwrap().flatten();
    let left: Vec<PathBuf> = folders
        .flat_map(|folder| fs::read_dir(folder.path()).unwrap().flatten())
        .map(|entry| entry.path())
        .collect();
    assert!(left.is_empty(), "left behind: {left:?}");
}

#[test]
#[ignore = "fetches from the network by Maven"]
fn a_newer_postgresql_is_installed_without_root() {
    let engines = open_folder();
    let servers = Registry::load(&Home::find().unwrap()).unwrap().servers();
    let installable = Installable::parse("postgres@18", &servers).unwrap();
    let installation = installable.install(engines.path(), &Interrupts::default()).unwrap();
    assert!(installation.version.starts_with("18."), "{installation:?}");
    let names: Vec<_> = fs::read_dir(engines.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["postgres@18"]);
    assert_eq!(
        installable.install(engines.path(), &Interrupts::default()).unwrap(),
        installation,
        "it was not left as it is"
    );
    let place = open_folder();
    let placement = placement::choose(None, None).unwrap();
    let server = PrivateServer::start(&installation, &[], place.path(), &placement).unwrap();
    assert_eq!(server.version(), installation.version);
}
