//! Programs are known by their content: builds of one version, one build under two names, a file that is replaced, and
//! a run file that was changed.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::Stdio;
use std::thread;

use dyno_record::{Break, Seals};
use sha2::{Digest, Sha256};

use crate::common::runner::program;
use crate::common::{Place, wait_for};

/// The library of the bundled SQLite.
fn library() -> PathBuf {
    program("libdyno_sqlite3.so")
}

/// A library with some bytes after its end, which the loader does not read.
fn another() -> Vec<u8> {
    let mut bytes = fs::read(library()).unwrap();
    bytes.extend_from_slice(b"another build");
    bytes
}

fn short(bytes: &[u8]) -> String {
    Sha256::digest(bytes)[..6].iter().map(|byte| format!("{byte:02x}")).collect()
}

const QUICK: &str = "speedtest --scale 0.01 --only 2 --no-warm-up --quiet";

#[test]
fn builds_of_one_version_are_distinguished_by_their_files() {
    let place = Place::in_memory();
    fs::copy(library(), place.path("a.so")).unwrap();
    fs::copy(library(), place.path("same.so")).unwrap();
    fs::write(place.path("b.so"), another()).unwrap();
    let (a, b) = (short(&fs::read(library()).unwrap()), short(&another()));
    let with = "--with sqlite@a.so:memory,sqlite@same.so:memory,sqlite@b.so:memory --trials 1";
    let shown = place.dyno(&format!("run {QUICK} {with} -o run.jsonl")).exits(0).stdout.replace("\n  ", " ");
    assert!(shown.contains(&format!("({a})")) && shown.contains(&format!("({b})")), "{shown}");
    assert!(shown.contains("Different builds say that they are sqlite 3."), "{shown}");
    let same = format!("sqlite@a.so:memory and sqlite@same.so:memory are the same file ({a})");
    assert!(shown.contains(&same), "{shown}");
    let run = dyno_record::load(&place.path("run.jsonl")).unwrap();
    let dyno = fs::read(env!("CARGO_BIN_EXE_dyno")).unwrap();
    let content = run.program.unwrap().content.unwrap();
    assert_eq!((content.short(), content.bytes), (&*short(&dyno), dyno.len() as u64));
    let runner = fs::read(program("dyno-runner-sqlite")).unwrap();
    for contender in run.contenders.iter().filter(|contender| contender.named) {
        assert_eq!(contender.executed.runner.as_ref().unwrap().short(), short(&runner));
    }
    // The same path, and another content.
    fs::write(place.path("a.so"), another()).unwrap();
    place.dyno(&format!("run {QUICK} {with} -o later.jsonl")).exits(0);
    let changes = place.dyno("compare run.jsonl later.jsonl").stdout.replace("\n  ", " ");
    assert!(changes.contains(&format!("the engine's file: {a} before, {b} now")), "{changes}");
    place
        .dyno("rerun run.jsonl --trust --quiet -o again.jsonl")
        .says("the engine's file changed since that run");
}

#[test]
fn a_library_that_is_replaced_within_a_run_fails_the_later_trials() {
    let place = Place::in_memory();
    fs::copy(library(), place.path("a.so")).unwrap();
    let (file, library) = (place.path("run.jsonl"), place.path("a.so"));
    let replace = thread::spawn({
        let (file, new) = (file.clone(), place.path("new.so"));
        move || {
            wait_for("a block", 60, || dyno_record::load(&file).is_ok_and(|run| run.trials.len() > 1));
            fs::write(&new, another()).unwrap();
            fs::rename(new, library).unwrap();
        }
    });
    let run = format!("run {QUICK} --with sqlite@a.so:memory --trials 2000 -o run.jsonl");
    place.dyno(&run).exits(3);
    replace.join().unwrap();
    let run = dyno_record::load(&file).unwrap();
    assert!(run.trials.iter().any(|trial| trial.failure.is_none()));
    let failed: Vec<_> = run.trials.iter().filter(|trial| trial.failure.is_some()).collect();
    assert!(failed.iter().all(|trial| trial.samples.is_empty()));
    // The first of them may have been at work when the file was replaced.
    let last = &failed.last().unwrap().failure.as_ref().unwrap().message;
    assert!(last.contains("the engine's file changed within the run: its SHA-256 began with"), "{last}");
}

#[test]
fn a_run_file_that_was_changed_says_so_wherever_it_is_read() {
    let place = Place::in_memory();
    fs::create_dir(place.path("results")).unwrap();
    let run = format!("run {QUICK} --with sqlite:memory --trials 2 -o results/run.jsonl");
    place.dyno(&run).exits(0);
    place.dyno("report results/run.jsonl -o page.html").exits(0);
    // A pipe can be read only once.
    let mut piped = place.command();
    piped.args(["report", "/dev/stdin", "-o", "piped.html"]).stdin(Stdio::piped());
    let mut piped = piped.spawn().unwrap();
    let text = fs::read(place.path("results/run.jsonl")).unwrap();
    piped.stdin.take().unwrap().write_all(&text).unwrap();
    assert!(piped.wait().unwrap().success());
    let whole = place.dyno("show results/run.jsonl").exits(0).stdout;
    assert!(!whole.contains("The run file"), "{whole}");
    // A page proves itself by the run in it.
    assert_eq!(place.dyno("show page.html").exits(0).stdout, whole);
    let text = fs::read_to_string(place.path("results/run.jsonl")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let (place_of, line) =
        lines.iter().enumerate().find(|(_, line)| line.starts_with(r#"{"trial":{"block":2"#)).unwrap();
    let quicker = line.replacen(r#""nanoseconds":"#, r#""nanoseconds":1"#, 1);
    assert_ne!(*line, quicker);
    fs::write(place.path("results/changed.jsonl"), text.replace(line, &quicker)).unwrap();
    let said = format!("is not as dyno wrote it: line {} was changed", place_of + 1);
    let joined = |arguments: &str| place.dyno(arguments).exits(0).stdout.replace("\n  ", " ");
    for arguments in [
        "show results/changed.jsonl",
        "show results/changed.jsonl --format markdown",
        "show results/changed.jsonl --format json",
        "show results/changed.jsonl --format csv",
        "compare results/run.jsonl results/changed.jsonl --format csv",
        "compare results/run.jsonl results/changed.jsonl",
        "history",
    ] {
        let shown = joined(arguments);
        assert!(shown.contains(&said), "{arguments}: {shown}");
    }
    place.dyno("report results/changed.jsonl -o changed.html").exits(0);
    assert!(fs::read_to_string(place.path("changed.html")).unwrap().contains(&said));
    place.dyno("show changed.html").exits(0).prints("is not as dyno wrote it");
    for file in ["samples.csv", "samples.hlog"] {
        let exported = place.dyno(&format!("export results/changed.jsonl -o {file}")).exits(0);
        assert!(exported.stderr.contains(&said), "{}", exported.stderr);
        assert!(fs::read_to_string(place.path(file)).unwrap().contains(&said), "{file}");
    }
    // Of two sizes, the file of one was changed.
    let larger = run.replace("run.jsonl", "larger.jsonl").replace("--scale 0.01", "--scale 0.02");
    place.dyno(&larger).exits(0);
    for format in ["table", "markdown", "csv", "json"] {
        let shown = joined(&format!("scaling results/changed.jsonl results/larger.jsonl --format {format}"));
        assert!(shown.contains(&said), "{format}: {shown}");
    }
    let without: String =
        lines.iter().filter(|other| *other != line).map(|line| format!("{line}\n")).collect();
    fs::write(place.path("shorter.jsonl"), without).unwrap();
    let seals = dyno_record::load(&place.path("shorter.jsonl")).unwrap().seals;
    assert_eq!(seals, Seals::Broken { line: place_of + 1, how: Break::Removed });
    place.write("page.html", "<!doctype html><p>nothing</p>");
    place.dyno("show page.html").exits(2).says("no run is packed in this page");
}
