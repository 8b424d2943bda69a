//! Failures in the middle of a mix: a server that refuses clients or dies, a disk that fills. The message says
//! what happened and where, the others go on, and nothing is left behind.

use std::fs;
use std::io::copy;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::common::{Place, Result, SharedMemory, processes_with, read_json, wait_for};
use crate::engines::Running;

/// A bank whose trials take no time.
const SMALL: &str =
    "--set accounts=50 --set warm_up=0.1 --duration 0.3s --trials 2 --only transfer --quiet -o run.jsonl";

/// The number of trials of a contender (by position) that came to their end, and why the others did not.
pub fn outcomes(run: &Value, contender: u64) -> (usize, Vec<String>) {
    let trials = run["trials"].as_array().unwrap();
    let its: Vec<&Value> = trials.iter().filter(|trial| trial["contender"] == contender).collect();
    let failures = its.iter().filter_map(|trial| trial["failure"]["message"].as_str().map(str::to_owned));
    let failures: Vec<String> = failures.collect();
    (its.len() - failures.len(), failures)
}

/// Connections that the way lets through at once: one in addition to the clients, and half of four.
const LET_IN: usize = 3;

/// A way to a server's socket by TCP that refuses who comes when enough are there. Returns its port.
fn narrow_way(socket: PathBuf) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let there = Arc::new(AtomicUsize::new(0));
    thread::spawn(move || {
        for client in listener.incoming() {
            let client: TcpStream = client.unwrap();
            // A client that has just left may not be counted off yet.
            let patience = Instant::now() + Duration::from_millis(300);
            while there.load(Ordering::SeqCst) >= LET_IN && Instant::now() < patience {
                thread::sleep(Duration::from_millis(5));
            }
            if there.load(Ordering::SeqCst) < LET_IN {
                there.fetch_add(1, Ordering::SeqCst);
                let (there, socket) = (there.clone(), socket.clone());
                thread::spawn(move || {
                    let _ = lead(&client, &socket);
                    there.fetch_sub(1, Ordering::SeqCst);
                });
            }
        }
    });
    port
}

/// Carries bytes both ways until one side leaves.
pub fn lead(client: &TcpStream, socket: &Path) -> std::io::Result<()> {
    let server = UnixStream::connect(socket)?;
    let (mut from_client, mut to_client) = (client.try_clone()?, client.try_clone()?);
    let (mut from_server, mut to_server) = (server.try_clone()?, server.try_clone()?);
    let back = thread::spawn(move || {
        let _ = copy(&mut from_server, &mut to_client);
        let _ = to_client.shutdown(Shutdown::Both);
    });
    let _ = copy(&mut from_client, &mut to_server);
    let _ = server.shutdown(Shutdown::Both);
    let _ = back.join();
    Ok(())
}

/// Runs a mix on SQLite and on the server at a URL, which lets too few clients in: dyno's output, and why the server's
/// trials failed.
fn refused(place: &Place, clients: u32, url: &str) -> (Result, Vec<String>) {
    let mix = format!("run bank {SMALL} --clients {clients} --with sqlite:wal --url {url}");
    let result = place.dyno(&mix).exits(3).without_panic();
    let run = read_json(&place.path("run.jsonl"));
    assert_eq!(outcomes(&run, 0), (3, Vec::new()));
    let (done, failures) = outcomes(&run, 1);
    assert_eq!((done, failures.len()), (0, 2), "{failures:?}");
    (result, failures)
}

#[test]
fn a_server_that_refuses_half_of_the_clients_is_reported_and_costs_the_others_nothing() {
    let place = Place::new();
    let server = Running::start("postgres");
    let before = server.databases();
    let (folder, port, user) = server.reach();
    let way = narrow_way(PathBuf::from(format!("{folder}/.s.PGSQL.{port}")));
    let url = format!("postgres://{user}@127.0.0.1:{way}/postgres?sslmode=disable&gssencmode=disable");
    let (result, failures) = refused(&place, 4, &url);
    assert!(
        failures.iter().any(|why| why.contains("of 4") && why.contains("closed the connection")),
        "{failures:?}"
    );
    assert_eq!(server.databases(), before, "{}", result.stderr);
    place.assert_clean();
}

#[test]
fn a_server_that_lets_in_too_few_is_reported_with_its_own_words() {
    let place = Place::new();
    // Its limit is for each account, so dyno cannot know it beforehand.
    let server = Running::start("mariadb");
    server
        .execute("CREATE USER few@localhost WITH MAX_USER_CONNECTIONS 3; GRANT ALL ON *.* TO few@localhost");
    let before = server.databases();
    let (socket, ..) = server.reach();
    let url = format!("mariadb://few@localhost/?socket={socket}");
    let (result, failures) = refused(&place, 6, &url);
    assert!(
        failures.iter().all(|why| {
            why.contains("of 6") && why.contains("max_user_connections") && why.contains("take fewer clients")
        }),
        "{failures:?}"
    );
    assert_eq!(server.databases(), before, "{}", result.stderr);
    place.assert_clean();
}

/// True if a process is a server's main one in whose database a client's transaction is at work.
fn is_at_work(pid: u32) -> bool {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let working = children.split_whitespace().filter(|child| {
        let line = fs::read_to_string(format!("/proc/{child}/cmdline")).unwrap_or_default();
        line.contains("dyno_scratch_") && line.contains("UPDATE")
    });
    working.count() > 1
}

#[test]
fn a_server_that_dies_under_its_clients_is_reported_with_its_log_and_started_again() {
    let place = Place::new();
    let arguments = "run bank --duration 2s --set accounts=50 --only transfer --trials 2 --clients 4 --quiet \
                     --with postgres,client_threads=1,sqlite:wal -o run.jsonl";
    let child = place.start(arguments);
    let data = place.path("data").display().to_string();
    let server = || processes_with(&data).into_iter().find(|pid| is_at_work(*pid));
    // Probes of isolation are over then, and the warm-up too.
    let file = place.path("run.jsonl");
    wait_for("the first block", 120, || dyno_record::load(&file).is_ok_and(|run| run.trials.len() > 1));
    // Looked for once only: a moment later its clients may be between two updates.
    let mut process = None;
    wait_for("clients at work on the server", 60, || {
        process = server();
        process.is_some()
    });
    let process = process.unwrap();
    let memory = SharedMemory::of(process);
    kill(Pid::from_raw(process as i32), Signal::SIGKILL).unwrap();
    Result::from(child.wait_with_output().unwrap()).exits(3).without_panic();
    let run = read_json(&place.path("run.jsonl"));
    let (done, failures) = outcomes(&run, 0);
    assert_eq!((done, failures.len()), (2, 1), "{failures:?}");
    assert!(
        failures[0].contains("client ") && failures[0].contains("the server was killed by SIGKILL"),
        "{failures:?}"
    );
    assert_eq!(outcomes(&run, 1), (3, Vec::new()));
    assert!(!memory.is_there() && processes_with(&data).is_empty());
    place.assert_clean();
}

/// Sends a signal to the processes of a server, by its main one, that serve a database of dyno's.
fn signal_sessions(server: u32, signal: Signal) {
    let children = fs::read_to_string(format!("/proc/{server}/task/{server}/children")).unwrap_or_default();
    for child in children.split_whitespace() {
        let line = fs::read_to_string(format!("/proc/{child}/cmdline")).unwrap_or_default();
        if line.contains("dyno_scratch_") {
            // One that has ended meanwhile has nothing to stop.
            let _ = kill(Pid::from_raw(child.parse().unwrap()), signal);
        }
    }
}

#[test]
fn what_a_server_that_hangs_until_the_end_keeps_waiting_is_in_the_percentiles() {
    let place = Place::new();
    let arguments = "run bank --duration 3s --set accounts=50 --set warm_up=0 --only transfer --trials 2 --clients 4 --quiet \
                     --with postgres,client_threads=1 -o run.jsonl";
    let child = place.start(arguments);
    let data = place.path("data").display().to_string();
    let file = place.path("run.jsonl");
    wait_for("the first block", 120, || dyno_record::load(&file).is_ok_and(|run| run.trials.len() > 1));
    let mut server = None;
    wait_for("clients at work on the server", 60, || {
        server = processes_with(&data).into_iter().find(|pid| is_at_work(*pid));
        server.is_some()
    });
    let server = server.unwrap();
    signal_sessions(server, Signal::SIGSTOP);
    // Longer than the trial lasts.
    thread::sleep(Duration::from_secs(4));
    signal_sessions(server, Signal::SIGCONT);
    let result = Result::from(child.wait_with_output().unwrap()).exits(0).without_panic();
    let run = dyno_record::load(&file).unwrap();
    // The trial in which the server hung is the one with the longest wait.
    let samples = run.trials.iter().flat_map(|trial| &trial.samples).map(|sample| &sample.sample);
    let classes = samples.flat_map(|sample| &sample.classes).filter(|class| class.left() > 0);
    let longest = |class: &&dyno_protocol::Class| class.waited().unwrap().max();
    let class = classes.max_by_key(longest).unwrap();
    assert!((1..=4).contains(&class.left()), "{} operations were under way at the end", class.left());
    let (done, all) = (class.response.histogram().unwrap().unwrap(), class.waited().unwrap());
    assert!(all.max() > done.max(), "{} {}", all.max(), done.max());
    result.prints("≥ at least this: the figure counts operations that were still under way");
    place.assert_clean();
}

#[test]
fn a_test_may_last_longer_than_a_runner_may_be_silent() {
    let place = Place::new();
    let arguments =
        "run bank --only read --with sqlite:wal --rate 50 --duration 5s --timeout 4s --trials 1 --no-warm-up";
    let result =
        place.dyno(&format!("{arguments} --set accounts=50 --set warm_up=0 --quiet -o run.jsonl")).exits(0);
    assert_eq!(outcomes(&read_json(&place.path("run.jsonl")), 0), (1, Vec::new()), "{}", result.stderr);
}

#[test]
fn a_disk_that_fills_in_the_middle_of_a_mix_fails_who_filled_it() {
    let place = Place::new();
    let disk = place.path("disk");
    fs::create_dir(&disk).unwrap();
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=48m", "tmpfs"]).arg(&disk).status();
    if !mounted.is_ok_and(|status| status.success()) {
        eprintln!("NOT RUN: a small file system cannot be mounted here; it needs root and mount(8)");
        return;
    }
    // A log that is never emptied grows by four pages with each transaction.
    let with = "--with sqlite:wal,wal_autocheckpoint=0 --with sqlite:wal";
    let arguments =
        "run bank --duration 3s --set accounts=50 --set warm_up=0.1 --only transfer --trials 2 --clients 2";
    let result = place.dyno(&format!("{arguments} {with} --quiet -o run.jsonl --dir {}", disk.display()));
    let left = fs::read_dir(&disk).unwrap().count();
    assert!(Command::new("umount").arg(&disk).status().unwrap().success());
    result.exits(3).without_panic();
    let run = read_json(&place.path("run.jsonl"));
    let (done, failures) = outcomes(&run, 0);
    assert_eq!((done, failures.len()), (0, 2), "{failures:?}");
    assert!(failures.iter().all(|why| why.contains("client ") && why.contains("full")), "{failures:?}");
    assert_eq!(outcomes(&run, 1), (3, Vec::new()));
    assert_eq!(left, 0, "something was left on the disk");
}
