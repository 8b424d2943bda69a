//! Scripts that do wrong on purpose: each question finds the one that falls short of it.

use std::time::Duration;

use nix::sys::signal::Signal;

use super::tries::{Event, Program, Try};

/// Judges a script that gets SIGINT after 300 ms, and returns its falls.
fn found(seed: u64, script: &'static str) -> Vec<String> {
    let event = Event::Dyno(Signal::SIGINT, 300);
    let what = Try { seed, program: Program::Script(script), event, to_end: Duration::from_secs(3) };
    what.judge(&[]).unwrap_or_else(|| panic!("{script} was over before its signal"))
}

#[test]
fn every_question_finds_the_script_that_falls_short_of_it() {
    let scripts = [
        ("trap 'exit 130' INT; sleep 60 >/dev/null 2>&1 & wait", "processes are left"),
        ("trap '' INT; sleep 30", "after the first signal"),
        ("trap \"echo thread main panicked at; exit 1\" INT; sleep 1 & wait; wait", "panicked"),
        ("trap 'exit 101' INT; while :; do sleep 0.05; done", "exit code 101"),
        ("trap 'exit 130' INT; echo $PGPASSWORD; while :; do sleep 0.05; done", "a secret was printed"),
        (
            "trap 'exit 130' INT; echo $DYNO_KEY >run.jsonl; while :; do sleep 0.05; done",
            "a secret is in the run file",
        ),
        (
            "trap 'exit 130' INT; while :; do sh -c 'sleep 0.5; :' $DYNO_KEY; done",
            "a secret is in a command line",
        ),
        ("trap 'exit 130' INT; mkdir $TMPDIR/scratch; while :; do sleep 0.05; done", "left behind"),
    ];
    for (seed, (script, fall)) in scripts.into_iter().enumerate() {
        let falls = found(900_000_000 + seed as u64, script);
        assert!(falls.iter().any(|what| what.contains(fall)), "{script}: {falls:?}");
    }
    let honest = "trap 'exit 130' INT; while :; do sleep 0.05; done";
    assert_eq!(found(900_000_100, honest), [""; 0]);
}
