//! Clients that share threads, on real servers.

use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::clients::{lasted_as_asked, samples};
use crate::common::{Place, Result, processes_with, read_json, wait_for};
use crate::loads::suite;
use crate::mix_faults::outcomes;
use crate::processes::descends;

const SMALL: &str = "--set accounts=50 --set warm_up=0.1 --duration 0.3s --trials 1 --no-warm-up --quiet";

/// Servers with the number of threads for six clients.
const SHARED: [(&str, u64); 6] = [
    ("postgres,client_threads=1", 1),
    ("postgres,client_threads=4", 4),
    ("postgres,client_threads=clients", 6),
    ("mariadb,client_threads=1", 1),
    ("mariadb,client_threads=4", 4),
    ("mariadb,client_threads=clients", 6),
];

/// Six clients of each do a test of `bank` with these options, and lose nothing.
fn share_and_lose_nothing(test: &str, load: &str) {
    let place = Place::in_memory();
    let labels = SHARED.map(|(label, _)| label).join(",");
    let run =
        format!("run bank {SMALL} --only {test} --clients 6 {load} --with {labels},sqlite:wal -o run.jsonl");
    let result = place.dyno(&run).exits(0).without_panic();
    assert!(!result.stdout.contains("wrong") && !result.stdout.contains("failed"), "{}", result.stdout);
    let found = samples(&read_json(&place.path("run.jsonl")), test);
    for (label, threads) in SHARED.into_iter().chain([("sqlite:wal", 6)]) {
        let (_, sample) = found.iter().find(|(found, _)| found == label).unwrap();
        assert!(lasted_as_asked(sample) && sample["operations"].as_u64().unwrap() > 0, "{label}: {sample}");
        assert_eq!(sample["threads"], threads, "{label}");
    }
    place.assert_clean();
}

#[test]
fn clients_of_one_thread_move_money_and_lose_none() {
    share_and_lose_nothing("transfer", "");
}

#[test]
fn clients_of_one_thread_think_at_once() {
    share_and_lose_nothing("read", "--think 5ms");
}

#[test]
fn clients_of_one_thread_do_what_arrives() {
    share_and_lose_nothing("transfer", "--rate 300");
}

#[test]
fn what_a_statement_violates_at_its_commit_is_reported_as_the_server_says_it() {
    // The server reports it after the statement's success.
    let place = Place::in_memory();
    let once = "[[test.class]]\nname = \"once\"\nstatements = \"UPDATE t SET once = 1 WHERE id = :id\"\n";
    let suite = suite("count = 10", once).replace(
        "n INTEGER NOT NULL)",
        "n INTEGER NOT NULL, once INTEGER DEFAULT NULL UNIQUE DEFERRABLE INITIALLY DEFERRED)",
    );
    place.write("own.toml", &suite.replace("INTO t VALUES", "INTO t(id, n) VALUES"));
    let ways = "postgres,client_threads=1,postgres,client_threads=clients,postgres/psycopg,postgres/pgx";
    place
        .dyno(&format!("run ./own.toml --trials 1 --no-warm-up --quiet --with {ways} -o run.jsonl"))
        .exits(3);
    let run = read_json(&place.path("run.jsonl"));
    for contender in 0..4 {
        let (_, failures) = outcomes(&run, contender);
        assert!(failures[0].contains("duplicate key value violates unique constraint"), "{failures:?}");
    }
    place.assert_clean();
}

/// True if a process is a runner that dyno, by its number, has started and that has a thread for its clients.
fn has_clients(pid: u32, dyno: u32) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count);
    threads == 2 && descends(pid, dyno)
}

#[test]
fn a_server_that_dies_under_clients_of_one_thread_is_reported_and_started_again() {
    for (engine, runner, server) in
        [("postgres", "dyno-runner-postgres", "postgres"), ("mariadb", "dyno-runner-mysql", "mariadbd")]
    {
        let place = Place::new();
        let child = place.start(&format!(
            "run bank --duration 2s --set accounts=50 --only read --trials 2 --clients 5 --quiet \
             --with {engine},client_threads=1 -o run.jsonl"
        ));
        let (data, file) = (place.path("data").display().to_string(), place.path("run.jsonl"));
        // Probes of isolation are over then.
        wait_for("the first block", 120, || dyno_record::load(&file).is_ok_and(|run| run.trials.len() > 1));
        wait_for("clients at work", 60, || {
            processes_with(runner).into_iter().any(|pid| has_clients(pid, child.id()))
        });
        std::thread::sleep(Duration::from_millis(500));
        let is_server = |pid: &u32| {
            std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim() == server)
        };
        // A server's main process is the first of its processes.
        let main = processes_with(&data).into_iter().filter(is_server).min().unwrap();
        kill(Pid::from_raw(main as i32), Signal::SIGKILL).unwrap();
        let result = Result::from(child.wait_with_output().unwrap()).exits(3).without_panic();
        let (done, failures) = outcomes(&read_json(&file), 0);
        assert_eq!((done, failures.len()), (2, 1), "{failures:?} {}", result.stderr);
        let why = &failures[0];
        assert!(why.contains("client ") && why.contains("killed by SIGKILL"), "{engine}: {why}");
        place.assert_clean();
    }
}

#[test]
fn threads_that_cannot_be_shared_are_refused_before_anything_starts() {
    let place = Place::new();
    let refused = |with: &str, words: &str| {
        place.dyno(&format!("run bank {SMALL} --with {with}")).exits(2).without_panic().says(words);
    };
    refused(
        "sqlite:wal,client_threads=2",
        "a thread waits until an answer is there; leave client_threads out",
    );
    refused("postgres/pgx,client_threads=2", "leave client_threads out");
    refused(
        "postgres,client_threads=0",
        "client_threads is a number of threads from 1, or clients for one each, not '0'",
    );
}
