//! Clients that are separate processes on one database.

use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::clients::{lasted_as_asked, samples};
use crate::common::{Place, is_thorough, processes_with, read_json, wait_for};

const SMALL: &str = "--set warm_up=0.1 --duration 0.3s --trials 1 --no-warm-up --quiet";

/// A contender of each driver.
const DRIVERS: &str = "sqlite,sqlite:wal,postgres,mariadb,sqlite/sqlite3:wal,sqlite/apsw,postgres/psycopg,\
                       mariadb/pymysql,postgres/asyncpg,sqlite/sqlalchemy:wal,sqlite/mattn:wal,sqlite/gosqlite,sqlite/modernc:wal,postgres/pgx,postgres/pq,\
                       mariadb/go-sql-driver";
/// Some of each language: when steps are due is what all drivers of a language have in common.
const LANGUAGES: &str =
    "sqlite:wal,postgres,mariadb,sqlite/apsw,postgres/psycopg,postgres/asyncpg,sqlite/mattn:wal,postgres/pgx";

#[test]
fn processes_share_a_database_and_lose_nothing() {
    share_and_lose_nothing("", DRIVERS);
}

#[test]
fn processes_whose_steps_are_due_at_a_rate_lose_nothing() {
    share_and_lose_nothing("--rate 300", some());
}

#[test]
fn processes_that_connect_for_each_session_lose_nothing() {
    share_and_lose_nothing("--rate 300 --sessions 3", some());
}

fn some() -> &'static str {
    if is_thorough() { DRIVERS } else { LANGUAGES }
}

fn share_and_lose_nothing(load: &str, with: &str) {
    let place = Place::in_memory();
    let run = format!(
        "run bank {SMALL} --set accounts=50 --clients 3 --processes {load} --with {with} -o run.jsonl"
    );
    let result = place.dyno(&run).exits(0).without_panic().prints("sqlite:wal,processes=yes");
    assert!(!result.stdout.contains("wrong") && !result.stdout.contains("failed"), "{}", result.stdout);
    let record = read_json(&place.path("run.jsonl"));
    assert!(record["contenders"][0]["processes"] == true);
    for (label, sample) in samples(&record, "transfer") {
        assert!(lasted_as_asked(&sample), "{label}: {sample}");
        assert!(sample["operations"].as_u64().unwrap() > 0, "{label}");
        if label.starts_with("postgres") {
            // The kernel parts the time into these two by a clock that ticks too slowly for so few transactions.
            let spent = |part: &str| sample["section"]["server"][part].as_u64().unwrap();
            assert!(spent("user_ns") + spent("system_ns") > 0, "{label} {load}");
        }
    }
    place.assert_clean();
}

#[test]
fn stores_that_let_several_processes_in_are_shared_too() {
    let place = Place::new();
    let run =
        format!("run ycsb {SMALL} --set records=300 --clients 3 --processes --with lmdb,bdb,sqlite:wal");
    let result =
        place.dyno(&run).exits(0).without_panic().prints("no key that was inserted is lost held held held");
    assert!(!result.stdout.contains('✗') && !result.stdout.contains("failed"), "{}", result.stdout);
    place.assert_clean();
}

#[test]
fn processes_and_threads_are_not_ranked_together() {
    let place = Place::new();
    let with = "sqlite:wal,sqlite:wal,processes=yes";
    let run =
        format!("run bank {SMALL} --set accounts=50 --clients 2 --only read --with {with} -o run.jsonl");
    place.dyno(&run).exits(0).without_panic();
    let verdict = place.dyno("show run.jsonl --format json").exits(0).json();
    let rankings = verdict["verdict"]["rankings"].as_array().unwrap();
    let ranked: Vec<_> = rankings
        .iter()
        .map(|ranking| (ranking["processes"] == true, ranking["ranks"][0]["contender"].as_u64().unwrap()))
        .collect();
    assert_eq!(ranked, [(false, 0), (true, 1)]);
    let csv = place.dyno("show run.jsonl --format csv").exits(0).stdout;
    assert!(csv.contains(",closed,threads,") && csv.contains(",closed,processes,"), "{csv}");
    place.assert_clean();
}

/// Runs a contender with three client processes, and sends one of them a signal while they work. Returns what dyno
/// says.
fn signalled(place: &Place, client: usize, signal: Signal, more: &str) -> crate::common::Result {
    let arguments = format!(
        "run bank --set accounts=50 --clients 3 --only read --set warm_up=0 --duration 2s --trials 2 --no-warm-up \
         --with sqlite:wal,processes=yes,sqlite:wal --quiet -o run.jsonl {more}"
    );
    let mut dyno = place.command();
    dyno.args(arguments.split_whitespace()).stdout(std::process::Stdio::piped());
    let dyno = dyno.stderr(std::process::Stdio::piped()).spawn().unwrap();
    let id = dyno.id();
    let clients = || -> Vec<u32> {
        processes_with("dyno-runner-sqlite").into_iter().filter(|pid| descends(*pid, id)).collect()
    };
    let began = Instant::now();
    // Those of the probes before the trials do not live as long.
    let victim = loop {
        let found = clients();
        std::thread::sleep(Duration::from_millis(400));
        if found.len() == 3 && found == clients() {
            break found[client - 1];
        }
        assert!(began.elapsed() < Duration::from_secs(60), "no clients came");
    };
    kill(Pid::from_raw(victim.cast_signed()), signal).unwrap();
    let result: crate::common::Result = dyno.wait_with_output().unwrap().into();
    wait_for("the clients to be gone", 60, || clients().is_empty());
    let run = read_json(&place.path("run.jsonl"));
    let trials = run["trials"].as_array().unwrap();
    let finished = |contender| {
        trials.iter().filter(|trial| trial["contender"] == contender && trial["failure"].is_null()).count()
    };
    assert_eq!((finished(0), finished(1)), (1, 2), "{trials:?}");
    place.assert_clean();
    result.exits(3).without_panic()
}

#[test]
fn a_client_that_is_killed_is_reported_and_costs_the_others_nothing() {
    for client in [1, 2] {
        let said = signalled(&Place::new(), client, Signal::SIGKILL, "");
        said.prints(&format!(
            "client {client} of 3, a separate process, stopped in the middle of its work: it was killed by SIGKILL"
        ));
    }
}

#[test]
fn a_client_that_stands_still_is_reported_and_costs_the_others_nothing() {
    let said = signalled(&Place::new(), 3, Signal::SIGSTOP, "--timeout 3s");
    said.prints("client 3 of 3, a separate process, was silent for 3 s after the 2 s that the test takes");
}

/// Returns true if a process descends from another.
pub fn descends(pid: u32, from: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"));
    match parent.and_then(|parent| parent.trim().parse().ok()) {
        Some(parent) if parent == from => true,
        Some(0) | None => false,
        Some(parent) => descends(parent, from),
    }
}

#[test]
fn databases_that_one_process_locks_are_refused_before_anything_starts() {
    let place = Place::new();
    let refused = |arguments: &str, words: &str| {
        place.dyno(&format!("run {arguments}")).exits(2).without_panic().says(words);
    };
    for (contender, title) in
        [("rocksdb", "RocksDB"), ("redb", "redb"), ("fjall", "fjall"), ("pebble", "Pebble")]
    {
        refused(&format!("ycsb --processes --with {contender}"), &format!("{title} locks its files"));
    }
    refused("bank --processes --with sqlite:memory", "its data are those of one process");
    refused("bank --processes --with sqlite,locking_mode=EXCLUSIVE", "its data are those of one process");
    refused("ycsb --processes --with bdb:private", "with private=on its data are those of one process");
    refused("bank --with sqlite,processes=maybe", "processes is yes or no, not 'maybe'");
    place.assert_clean();
}
