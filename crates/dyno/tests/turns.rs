//! Contenders that take turns: real engines side by side, and runners that break off in the middle of a slice.

use std::fs;

use dyno_record::{Run, TrialRecord};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::common::{Place, processes_with, wait_for};

/// The output of a runner of the engine `fake` as it begins test 1.
const BEGIN: &str = r#"echo '{"event":"hello","protocol":3,"runner":"r","engine_version":"1","driver_version":"1","settings":[{"name":"still","value":"yes"}]}'
echo '{"event":"progress","test":"1"}'"#;

/// A place with a runner that does what it should in a single trial, and `misbehaves` in its second turn.
fn with_runner(misbehaves: &str) -> Place {
    let place = Place::with_runner(&format!(
        r#"read -r job
{BEGIN}
case "$job" in
*'"turns":true'*)
    echo '{{"event":"waiting","done":0,"of":1000,"nanoseconds":0}}'
    read -r turn
    echo '{{"event":"waiting","done":1,"of":1000,"nanoseconds":1}}'
    read -r turn
    {misbehaves}
esac
echo '{{"event":"sample","test":"1","section":{{"nanoseconds":1000000000}},"operations":1000}}'
echo '{{"event":"bye"}}'"#
    ));
    let change = |file: &str, line: &str, more: &str| {
        let path = place.path("home").join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(line), "{text}");
        fs::write(path, text.replace(line, &format!("{line}\n{more}"))).unwrap();
    };
    change("runners/fake/runner.toml", r#"models = ["statements"]"#, "takes_turns = true");
    change(
        "engines/fake.toml",
        r#"builds = ["bundled"]"#,
        "quiet = [\"still=yes\"]\nvolatile = [\"still=yes\"]",
    );
    place
}

fn run(place: &Place) -> Run {
    dyno_record::load(&place.path("run.jsonl")).unwrap()
}

/// The trials of a contender, those of the warm-up left out.
fn trials(run: &Run, contender: usize) -> Vec<&TrialRecord> {
    run.trials.iter().filter(|trial| trial.block > 0 && trial.contender == contender).collect()
}

#[test]
fn contenders_that_can_take_turns_and_the_others_do_not() {
    let place = Place::new();
    let contenders = "--with sqlite:nosync --with sqlite:memory --with sqlite --with sqlite:nosync,turns=no";
    place.dyno(&format!("run speedtest --only 2,4-6 --trials 2 {contenders} --quiet -o run.jsonl")).exits(0);
    let run = run(&place);
    let apart: Vec<Option<&str>> =
        run.contenders.iter().map(|contender| contender.apart.as_deref()).collect();
    assert_eq!((apart[0], apart[1], apart[2], apart[4]), (None, None, None, None), "{apart:?}");
    assert!(apart[3].unwrap().contains("turns=no"), "{apart:?}");
    let writing: Vec<bool> = run.contenders.iter().map(|one| one.apart_writing.is_some()).collect();
    assert_eq!(writing, [false, false, true, false, false]);
    assert!(run.contenders[2].apart_writing.as_ref().unwrap().contains("waits for the disk"));
    assert!(run.schedule.turns);
    for trial in &run.trials {
        assert!(trial.failure.is_none(), "{:?}", trial.failure);
        let takes_turns = trial.block > 0 && apart[trial.contender].is_none();
        for sample in &trial.samples {
            // One that syncs its commits takes turns in the tests that only read.
            let only_reads = ["4", "6"].contains(&&*sample.sample.test);
            let is_sliced = takes_turns && (only_reads || !writing[trial.contender]);
            assert_eq!((sample.slices.is_some(), sample.beat_ns.is_some()), (is_sliced, is_sliced));
        }
        assert_eq!(trial.beat_ns.is_none(), takes_turns);
    }
    // Each gives the same answers, does the same work and takes as long as the sum of its slices, which is not nothing.
    for contender in [0, 1, 2] {
        let of = |block: u32| {
            let trial = run.trials.iter().find(|trial| (trial.block, trial.contender) == (block, contender));
            let samples = trial.unwrap().samples.iter();
            samples.map(|one| (one.answer, one.sample.operations, one.sample.rows)).collect::<Vec<_>>()
        };
        assert_eq!(of(0), of(1));
        assert_eq!(of(0), of(2));
    }
    // Tests of many statements were cut: these take some milliseconds in all on any machine of today.
    for (contender, test) in [(0, "4"), (0, "6"), (2, "4")] {
        let sliced = trials(&run, contender)[0].samples.iter().find(|one| one.sample.test == test).unwrap();
        assert!(sliced.slices > Some(1) && sliced.sample.section.nanoseconds > 0, "{sliced:?}");
    }
    let shown = place.dyno("show run.jsonl").exits(0).prints("geometric mean");
    let shown = shown.prints("Took turns within each block: sqlite:nosync, sqlite:memory.");
    let shown = shown.prints("Took turns in tests that only read: sqlite.");
    assert!(!shown.stdout.contains("Took no turns"), "{}", shown.stdout);
    place
        .dyno("show run.jsonl --notes")
        .exits(0)
        .prints("Took no turns in tests that write: sqlite, because with its settings it waits");
    place.assert_clean();
}

#[test]
fn who_is_ranked_with_one_apart_takes_no_turns() {
    let place = Place::new();
    let contenders = "--with sqlite:nosync --with sqlite:nosync,page_size=8192 --with sqlite,synchronous=NORMAL --with sqlite:memory";
    place.dyno(&format!("run speedtest --only 15 --trials 1 {contenders} --quiet -o run.jsonl")).exits(0);
    let run = run(&place);
    let apart: Vec<&str> =
        run.contenders.iter().map(|one| one.apart.as_deref().unwrap_or_default()).collect();
    for rival in &apart[..2] {
        assert!(rival.contains("sqlite,synchronous=NORMAL may be ranked with it"), "{apart:?}");
    }
    assert!(apart[2].contains("waits for the disk"), "{apart:?}");
    assert!(apart[3].contains("no other contender that takes turns"), "{apart:?}");
}

#[test]
fn two_that_sync_take_turns_where_tests_only_read() {
    let place = Place::new();
    let run_it =
        "run speedtest --only 1,3,6 --trials 1 --with sqlite --with sqlite:nosync --quiet -o run.jsonl";
    place.dyno(run_it).exits(0);
    let run = run(&place);
    let writing = run.contenders.iter().map(|one| one.apart_writing.as_deref().unwrap_or_default());
    let writing: Vec<&str> = writing.collect();
    assert!(writing[0].contains("waits for the disk"), "{writing:?}");
    assert!(writing[1].contains("no other contender takes turns in tests that write"), "{writing:?}");
    for contender in [0, 1] {
        let samples = trials(&run, contender)[0].samples.iter();
        let sliced = samples.filter(|sample| sample.slices.is_some()).map(|sample| &*sample.sample.test);
        assert_eq!(sliced.collect::<Vec<_>>(), ["3", "6"]);
    }
    place.assert_clean();
}

#[test]
fn drivers_of_every_language_take_turns() {
    let place = Place::new();
    let drivers = ["c", "mattn", "gosqlite", "modernc", "sqlite3", "apsw"];
    let contenders = drivers.map(|driver| format!("--with sqlite/{driver}:nosync")).join(" ");
    // An answer that differs from the others' ends it with 3.
    place.dyno(&format!("run speedtest --only 2-6 --trials 1 {contenders} --quiet -o run.jsonl")).exits(0);
    let run = run(&place);
    for (contender, driver) in drivers.iter().enumerate() {
        assert_eq!(run.contenders[contender].apart, None, "{driver}");
        let trials = trials(&run, contender);
        assert!(trials.iter().all(|trial| trial.failure.is_none()), "{driver}: {trials:?}");
        let longest = trials[0].samples.iter().find(|one| one.sample.test == "4").unwrap();
        assert!(longest.slices > Some(1), "{driver}: {longest:?}");
    }
    place.assert_clean();
}

#[test]
fn without_turns_every_trial_is_by_itself() {
    let place = Place::new();
    let contenders = "--with sqlite:nosync --with sqlite:memory";
    for option in ["--no-turns", "--no-warm-up"] {
        place
            .dyno(&format!("run speedtest --only 15 --trials 1 {contenders} {option} --quiet -o run.jsonl"))
            .exits(0);
        let run = run(&place);
        assert!(run.trials.iter().flat_map(|trial| &trial.samples).all(|sample| sample.slices.is_none()));
    }
}

#[test]
fn who_breaks_off_in_its_turn_costs_the_others_nothing() {
    for (misbehaves, message) in [
        ("kill -SEGV $$", "SIGSEGV"),
        ("sleep 976", "silent for 5 s"),
        ("echo nonsense", "no event of the protocol"),
        (r#"echo '{"event":"waiting","done":1,"of":1000,"nanoseconds":1}'"#, "out of order"),
    ] {
        let place = with_runner(misbehaves);
        let contenders = "--with fake,still=yes --with sqlite:nosync --with sqlite:memory";
        let more = "--trials 2 --timeout 5s --quiet -o run.jsonl";
        place
            .dyno(&format!("run speedtest --only 1 {contenders} {more}"))
            .exits(3)
            .prints(message)
            .without_panic();
        let run = run(&place);
        assert_eq!(run.contenders[0].apart, None);
        let failures: Vec<_> = trials(&run, 0).iter().map(|trial| trial.failure.clone().unwrap()).collect();
        assert_eq!(failures.len(), 2);
        assert!(failures.iter().all(|failure| failure.test.as_deref() == Some("1")), "{failures:?}");
        for contender in [1, 2] {
            let trials = trials(&run, contender);
            assert_eq!(trials.len(), 2);
            assert!(trials.iter().all(|trial| trial.failure.is_none() && trial.samples[0].slices.is_some()));
        }
        place.assert_clean();
        wait_for("what it started to be gone", 60, || processes_with("sleep\0976").is_empty());
    }
}

#[test]
fn an_interrupt_ends_all_who_take_turns() {
    let place = Place::new();
    let child = place.start(
        "run speedtest --trials 100000 --with sqlite:memory --with sqlite:nosync --quiet -o run.jsonl",
    );
    let file = place.path("run.jsonl");
    let blocks = || dyno_record::load(&file).map_or(0, |run| run.trials.len() / 3);
    wait_for("the warm-up and a block in turns", 120, || blocks() >= 2);
    kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap();
    let output = child.wait_with_output().unwrap();
    crate::common::Result::from(output).exits(130).without_panic().prints("then you stopped it");
    let run = run(&place);
    assert!(run.trials.iter().all(|trial| trial.failure.is_none()));
    assert!(trials(&run, 0)[0].samples.iter().all(|sample| sample.slices.is_some()));
    place.assert_clean();
    assert!(processes_with(&place.path("data").display().to_string()).is_empty());
}
