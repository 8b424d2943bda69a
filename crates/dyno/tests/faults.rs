//! Failures: interrupts, crashes, nonsense, full disks. Finished trials stay, nothing is left
//! behind, and the exit code shows the failure.

use std::fs;
use std::process::Command;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use crate::common::{Place, processes_with, read_json, repository, run_file, wait_for};

const HELLO: &str =
    r#"{"event":"hello","protocol":3,"runner":"r","engine_version":"1","driver_version":"1","settings":[]}"#;

/// Runs the fifteen tests with a runner that misbehaves and one that does not.
fn beside_sqlite(script: &str, extra: &str) -> (Place, crate::common::Result) {
    let place = Place::with_runner(script);
    let arguments =
        format!("run speedtest --scale 0.02 --trials 2 --with fake,sqlite --only 1-2 --quiet {extra}");
    let result = place.dyno(&arguments).exits(3).without_panic();
    // Its failure costs the other nothing.
    let run = place.run_file();
    let trials = run["trials"].as_array().unwrap();
    let finished = trials.iter().filter(|t| t["contender"] == 1 && t["failure"].is_null()).count();
    assert_eq!(finished, 3, "sqlite's warm-up and two trials");
    place.assert_clean();
    (place, result)
}

#[test]
fn a_runner_that_crashes_ends_its_trial_only() {
    let (_, result) =
        beside_sqlite(&format!("cat > /dev/null; echo '{HELLO}'; echo trouble >&2; kill -SEGV $$"), "");
    result.prints("SIGSEGV").prints("trouble").prints("Failed: 2 of 2 trials of fake");
}

#[test]
fn a_runner_that_hangs_is_killed() {
    let (place, result) =
        beside_sqlite(&format!("cat > /dev/null; echo '{HELLO}'; sleep 977"), "--timeout 1s");
    result.prints("silent for 1 s").prints("--timeout");
    let home = place.path("home").display().to_string();
    wait_for("the runner to be gone", 60, || processes_with(&home).is_empty());
    wait_for("what it started to be gone", 60, || processes_with("sleep\0977").is_empty());
}

#[test]
fn a_runner_that_prints_nonsense_is_reported() {
    let (_, result) =
        beside_sqlite(&format!("cat > /dev/null; echo '{HELLO}'; echo 'opening database...'; sleep 977"), "");
    result.prints("no event of the protocol").prints("opening database...");
}

#[test]
fn a_runner_that_is_not_there_is_reported() {
    let (_, result) = beside_sqlite("exit 0", "");
    result.prints("in the middle of its work");
    let place = Place::with_runner("true");
    fs::remove_file(place.path("home/runners/fake/run.sh")).unwrap();
    place
        .dyno("run speedtest --scale 0.02 --trials 1 --only 15 --with fake")
        .exits(2)
        .says("the contender fake cannot be run: its runner is not built; build it with `nothing`; it needs a shell");
}

#[test]
fn a_setting_that_does_not_take_is_refused() {
    let place = Place::new();
    // A database in memory cannot have a write-ahead log.
    let contender = "sqlite:memory,journal_mode=wal";
    place
        .dyno(&format!("run speedtest --scale 0.02 --trials 1 --only 15 --with {contender} --quiet"))
        .exits(2)
        .says("journal_mode=wal was asked for, but memory is in force");
    assert!(!place.path("results").exists(), "nothing was run");
    place
        .dyno(
            "run speedtest --scale 0.02 --trials 1 --only 15 --with sqlite,jornal_mode=wal --quiet -o x.json",
        )
        .exits(2)
        .says("SQLite has no setting 'jornal_mode'")
        .says("did you mean journal_mode?");
}

#[test]
fn a_wrong_answer_takes_no_part_in_ranking() {
    let place = Place::new();
    let suite = r#"
name = "differ"
title = "Answers that differ"
story = "The second contender has another page size, and the test asks for it."
contenders = ["sqlite", "sqlite,page_size=8192", "sqlite:wal"]
[[test]]
id = "1"
title = "Asks for the page size"
shows = "nothing"
model = "statements"
statements = "PRAGMA page_size;"
[[test]]
id = "2"
title = "Counts"
shows = "nothing"
model = "statements"
statements = "SELECT 1;"
expect = [[2]]
"#;
    place.write("differ.toml", suite);
    let result = place.dyno("run ./differ.toml --trials 1 --quiet").exits(3);
    let result = result.prints("disputed").prints("✗");
    // If the suite states the answer, all can be wrong; then there is nothing to take a mean of.
    let result = result.prints("Wrong: sqlite in test 2").prints("Wrong: sqlite:wal in test 2");
    assert!(!result.stdout.contains("geometric mean"), "{}", result.stdout);
}

#[test]
fn an_interrupt_keeps_what_is_finished() {
    for (signal, code) in [(Signal::SIGINT, 130), (Signal::SIGTERM, 143)] {
        let place = Place::new();
        let mut child =
            place.start("run speedtest --scale 0.1 --trials 100000 --with sqlite:memory -o run.json");
        let file = place.path("run.json");
        let trials = || dyno_record::load(&file).map_or(0, |run| run.trials.len());
        wait_for("two blocks", 60, || trials() >= 4);
        kill(Pid::from_raw(child.id() as i32), signal).unwrap();
        let output = child.wait_with_output().unwrap();
        let result = crate::common::Result::from(output).exits(code).without_panic();
        result.prints("you stopped it").prints("DROP TABLE").says("The run is kept in");
        let run = read_json(&file);
        assert_eq!(run["ended"], "interrupted");
        assert!(run["trials"].as_array().unwrap().iter().all(|trial| trial["failure"].is_null()));
        place.assert_clean();
        let data = place.path("data").display().to_string();
        assert!(processes_with(&data).is_empty());
        child = place.start("show run.json");
        assert!(child.wait().unwrap().success());
    }
}

#[test]
fn an_interrupt_leaves_nothing_of_what_asks_or_checks_runners() {
    for (arguments, signal, code) in [
        ("list fake", Signal::SIGINT, 130),
        ("list fake", Signal::SIGTERM, 143),
        ("list --format json", Signal::SIGINT, 130),
        ("conformance fake", Signal::SIGTERM, 143),
        ("conformance fake", Signal::SIGINT, 130),
    ] {
        // It would be silent until it is given up.
        let place = Place::with_runner("cat > /dev/null; sleep 979");
        let child = place.start(arguments);
        let runner = place.path("home/runners/fake/run.sh").display().to_string();
        wait_for("the runner", 60, || !processes_with(&runner).is_empty());
        kill(Pid::from_raw(child.id() as i32), signal).unwrap();
        let result: crate::common::Result = child.wait_with_output().unwrap().into();
        let result = result.exits(code).without_panic();
        assert_eq!(result.stdout, "", "{arguments}");
        place.assert_clean();
        wait_for("the runner to be gone", 60, || processes_with(&runner).is_empty());
    }
}

#[test]
fn a_run_that_is_stopped_in_its_first_block_did_not_fail() {
    let place = Place::new();
    place.dyno("run speedtest --scale 0.02 --trials 1 --only 15 --quiet -o results/1.jsonl").exits(0);
    let child = place.start("run speedtest --scale 4 --with sqlite,sqlite:wal -o results/2.jsonl");
    let file = place.path("results/2.jsonl");
    wait_for("the run's file", 60, || file.exists());
    kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap();
    let result: crate::common::Result = child.wait_with_output().unwrap().into();
    let result = result.exits(130).prints("0 trials of each contender").prints("then you stopped it");
    assert!(!result.stdout.contains("failed") && result.stdout.contains("–"), "{}", result.stdout);
    for word in ["-0 ns", "narrow enough"] {
        assert!(!format!("{}{}", result.stdout, result.stderr).contains(word), "{}", result.stdout);
    }
    // A run with nothing to show is not the newest run.
    place.dyno("show").exits(0).prints("1 trial of each contender");
    let csv = place.dyno("show results/2.jsonl --format csv").exits(3).stdout;
    assert!(csv.contains(",untried,") && !csv.contains(",missing,"), "{csv}");
}

#[test]
fn what_is_missing_is_refused_before_anything_runs() {
    let place = Place::new();
    let run = "run speedtest --scale 0.02 --only 15 --trials 1 --with";
    place
        .dyno(&format!("{run} sqlite,postgres@17"))
        .exits(2)
        .says("the contender postgres@17 cannot be run: ");
    let library = place.write("nothing.so", "no library");
    let missing = format!("{run} sqlite --with sqlite@{library}");
    place.dyno(&missing).exits(2).says("nothing.so cannot be run: ").without_panic();
    assert!(!place.path("results").exists());
    place.assert_clean();
}

#[test]
fn a_budget_that_is_too_short_is_reported_after_the_first_block() {
    let place = Place::new();
    place
        .dyno("run speedtest --with sqlite --budget 300ms")
        .exits(0)
        .says("7 trials of each contender would take about")
        .says("has room for them");
}

#[test]
fn a_killed_run_leaves_no_process_and_the_next_sweeps_up() {
    let place = Place::new();
    let mut child = place.start("run speedtest --trials 100000 --with sqlite -o run.json");
    let children = format!("/proc/{0}/task/{0}/children", child.id());
    wait_for("a runner", 60, || fs::read_to_string(&children).is_ok_and(|pids| !pids.trim().is_empty()));
    let runner: i32 =
        fs::read_to_string(&children).unwrap().split_whitespace().next().unwrap().parse().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    wait_for("the runner to die with dyno", 60, || kill(Pid::from_raw(runner), None).is_err());
    assert_eq!(fs::read_dir(place.path("data")).unwrap().count(), 1, "a killed process cannot clean up");
    place.dyno("run speedtest --scale 0.02 --trials 1 --only 15 --quiet -o next.json").exits(0);
    place.assert_clean();
}

#[test]
fn a_full_disk_fails_a_trial_and_keeps_the_run() {
    let place = Place::new();
    let disk = place.path("disk");
    fs::create_dir(&disk).unwrap();
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=3m", "tmpfs"]).arg(&disk).status();
    if !mounted.is_ok_and(|status| status.success()) {
        eprintln!("NOT RUN: a small file system cannot be mounted here; it needs root and mount(8)");
        return;
    }
    let arguments =
        format!("run speedtest --trials 2 --with sqlite,sqlite:memory --quiet --dir {}", disk.display());
    let result = place.dyno(&arguments);
    let left = fs::read_dir(&disk).unwrap().count();
    assert!(Command::new("umount").arg(&disk).status().unwrap().success());
    let result = result.without_panic();
    // Either the inputs or the database do not fit; both must be reported.
    assert!(matches!(result.code, Some(2..=4)), "{}", result.stderr);
    let output = format!("{}{}", result.stdout, result.stderr).to_lowercase();
    assert!(output.contains("full") || output.contains("no space"), "{output}");
    assert_eq!(left, 0, "something was left on the disk");
}

#[test]
fn results_that_cannot_be_written_are_found_out_before_measuring() {
    let place = Place::new();
    place.write("file", "");
    let result = place.dyno("run speedtest --scale 0.02 -o file/run.json").exits(2);
    result.says("file/run.json: Not a directory").without_panic();
    place.assert_clean();
}

#[test]
fn a_run_file_that_is_damaged_is_reported() {
    let place = Place::new();
    place.dyno("run speedtest --scale 0.02 --trials 1 --only 15 --quiet -o run.json").exits(0);
    let good = read_json(&place.path("run.json"));
    let mut bad = good.clone();
    bad["trials"][0]["contender"] = json!(99);
    place.write("bad.json", &run_file(&bad));
    place.dyno("show bad.json").exits(2).says("contender 99").without_panic();
    let text = run_file(&good);
    place.write("cut.json", &text[..text.len() / 2]);
    place.dyno("show cut.json").exits(2).says("cut.json").without_panic();
    let mut later = good;
    later["schema"] = json!("dyno-durability/1");
    place.write("proved.json", &later.to_string());
    place.dyno("compare proved.json proved.json").exits(2).says("it holds what dyno prove observed");
    later["schema"] = json!("dyno-run/99");
    place.write("later.json", &run_file(&later));
    place.dyno("show later.json").exits(2).says("dyno-run/99");
    assert!(repository().join("suites").is_dir());
}
