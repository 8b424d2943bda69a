//! The places of results: nothing but a regular file is ever replaced, and what cannot take a result is refused
//! before anything is measured.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use dyno_record::Run;
use nix::libc::O_NONBLOCK;
use nix::sys::signal::{Signal, kill};
use nix::sys::stat::{Mode, SFlag, makedev, mknod};
use nix::unistd::{Pid, Uid, mkfifo};

use crate::common::{Place, Result, read_json, repository, wait_for};

const TINY: &str = "run speedtest --scale 0.01 --only 1 --with sqlite:memory --trials 1 --no-warm-up --quiet";

fn golden() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/run.json").display().to_string()
}

/// The number of trials of the first contender in a run.
fn finished(run: &Run) -> usize {
    run.trials.iter().filter(|trial| trial.contender == 0 && trial.failure.is_none()).count()
}

/// The ways to name a file that a result goes to, each with a name in place of `OUT`.
fn commands() -> [String; 5] {
    let golden = golden();
    [
        format!("{TINY} -o OUT"),
        format!("{TINY} -o run.jsonl --report OUT"),
        "rerun run.jsonl --quiet -o OUT".to_owned(),
        format!("report {golden} -o OUT"),
        format!("export {golden} -o OUT"),
    ]
}

#[test]
fn a_device_is_written_into_and_stays_a_device() {
    let place = Place::new();
    let null = match Uid::effective().is_root() {
        true => {
            let node = place.path("null");
            mknod(&node, SFlag::S_IFCHR, Mode::S_IRUSR | Mode::S_IWUSR, makedev(1, 3)).unwrap();
            node
        }
        false => "/dev/null".into(),
    };
    for command in commands() {
        place.dyno(&command.replace("OUT", &null.display().to_string())).exits(0).without_panic();
        assert!(fs::metadata(&null).unwrap().file_type().is_char_device(), "{command} replaced it");
    }
}

#[test]
fn a_link_stays_and_its_target_keeps_its_mode() {
    let place = Place::new();
    place.write("target.csv", "old");
    fs::set_permissions(place.path("target.csv"), fs::Permissions::from_mode(0o600)).unwrap();
    for link in ["link.csv", "link.html"] {
        symlink("target.csv", place.path(link)).unwrap();
    }
    let mut before = "old".to_owned();
    for command in commands() {
        let link = if command.contains("report") { "link.html" } else { "link.csv" };
        place.dyno(&command.replace("OUT", link)).exits(0);
        let text = fs::read_to_string(place.path("target.csv")).unwrap();
        assert!(text != before && text.len() > 100, "{command} wrote nothing");
        assert!(fs::symlink_metadata(place.path(link)).unwrap().is_symlink(), "{command}");
        assert_eq!(fs::metadata(place.path("target.csv")).unwrap().permissions().mode() & 0o777, 0o600);
        before = text;
    }
}

#[test]
fn a_fifo_takes_a_run_line_by_line() {
    let place = Place::new();
    let fifo = place.path("fifo");
    mkfifo(&fifo, Mode::S_IRWXU).unwrap();
    // Open before dyno looks whether a program reads it.
    let mut reader = OpenOptions::new().read(true).custom_flags(O_NONBLOCK).open(&fifo).unwrap();
    place.dyno(&format!("{TINY} -o fifo")).exits(0).prints("sqlite:memory");
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    assert!(text.starts_with("{\"run\":") && text.lines().count() > 1, "{text}");
    assert_eq!(finished(&dyno_record::parse(&text, &fifo).unwrap()), 1);
    assert!(fs::symlink_metadata(&fifo).unwrap().file_type().is_fifo());
}

#[test]
fn a_pipe_takes_what_a_file_would() {
    let place = Place::new();
    let golden = golden();
    let shell = |line: &str| -> Result {
        let line = line.replace("dyno ", concat!(env!("CARGO_BIN_EXE_dyno"), " "));
        let mut command = Command::new("bash");
        command.args(["-c", &line]).current_dir(place.path("")).env("TMPDIR", place.path("data"));
        command.stdin(Stdio::null()).output().unwrap().into()
    };
    // The table stays out of the run.
    let run = shell(&format!("dyno {TINY} -o /dev/stdout")).exits(0);
    assert_eq!(finished(&dyno_record::parse(&run.stdout, Path::new("stdout")).unwrap()), 1);
    let run = run.says("sqlite:memory");
    place.write("kept.jsonl", &run.stdout);
    shell("dyno show <(cat kept.jsonl)").exits(0).prints("sqlite:memory");
    shell("dyno show /dev/stdin <kept.jsonl").exits(0).prints("sqlite:memory");
    assert!(shell(&format!("dyno report {golden} -o /dev/stdout")).exits(0).stdout.starts_with("<!doctype"));
    let page = format!("dyno {TINY} -o /dev/stdout --report page.html >/dev/null");
    shell(&page).exits(0);
    assert!(fs::read_to_string(place.path("page.html")).unwrap().starts_with("<!doctype"));
    // A file that the shell opened takes it at its own position.
    shell(&format!("(echo first; dyno export {golden} -o /dev/fd/1) >rows.csv")).exits(0);
    let rows = fs::read_to_string(place.path("rows.csv")).unwrap();
    assert!(rows.starts_with("first\n") && rows.lines().count() > 3, "{rows}");
    shell(&format!("dyno export {golden} -o >(cat >substituted.csv); wait $!; sleep 0.2")).exits(0);
}

#[test]
fn what_cannot_take_a_result_is_refused_before_measuring() {
    let place = Place::new();
    fs::create_dir(place.path("folder")).unwrap();
    place.write("file", "text");
    mkfifo(&place.path("fifo"), Mode::S_IRWXU).unwrap();
    place.dyno(&format!("{TINY} -o run.jsonl")).exits(0);
    let refused = [("folder", "is a folder"), ("fifo", "no program reads"), ("file/below", "file/below")];
    for command in commands() {
        for (name, why) in refused {
            let result = place.dyno(&command.replace("OUT", name)).exits(2).says(why).without_panic();
            assert_eq!(result.stdout, "", "{command} onto {name} measured first");
        }
    }
    let several = "run speedtest --only 1 --scale 0.01 --with sqlite:memory --trials 1 --quiet";
    place.dyno(&format!("{} -o /dev/null", several.replace("--scale 0.01", "--n 1,2"))).exits(2);
    assert!(fs::symlink_metadata(place.path("fifo")).unwrap().file_type().is_fifo());
    place.assert_clean();
}

/// The regular files in a folder with their content.
fn contents(folder: &Path) -> BTreeMap<OsString, Vec<u8>> {
    let files = fs::read_dir(folder).unwrap().flatten().filter(|entry| entry.file_type().unwrap().is_file());
    files.map(|entry| (entry.file_name(), fs::read(entry.path()).unwrap())).collect()
}

#[test]
fn no_result_replaces_a_file_that_it_comes_from_or_another_result() {
    let place = Place::new();
    place.dyno(&TINY.replace("sqlite:memory", "sqlite:memory,sqlite:nosync -o r.jsonl")).exits(0);
    place.dyno("report r.jsonl").exits(0);
    fs::copy(golden(), place.path("e.csv")).unwrap();
    fs::hard_link(place.path("e.csv"), place.path("hard.csv")).unwrap();
    symlink("r.jsonl", place.path("link.html")).unwrap();
    symlink("new.html", place.path("new-link.html")).unwrap();
    fs::copy(repository().join("suites/speedtest.toml"), place.path("own.toml")).unwrap();
    let before = contents(&place.path(""));
    let own = TINY.replace("speedtest", "./own.toml");
    let sizes = TINY.replace("--scale 0.01", "--scale 0.01 --n 1,2");
    let input = [
        "report r.jsonl -o r.jsonl".to_owned(),
        "report r.html".to_owned(),
        "report r.jsonl r.html -o ./r.html".to_owned(),
        "report r.jsonl -o link.html".to_owned(),
        "export e.csv -o e.csv".to_owned(),
        "export r.jsonl hard.csv -o e.csv".to_owned(),
        "rerun r.jsonl --quiet -o r.jsonl".to_owned(),
        "rerun r.jsonl --quiet -o new.jsonl --report link.html".to_owned(),
        "causes r.jsonl --quiet -o r.jsonl".to_owned(),
        "site r.html -o .".to_owned(),
        format!("{own} -o own.toml"),
        format!("{TINY} --key-file e.csv -o hard.csv"),
    ];
    let both = [
        format!("{TINY} -o new.html --report new.html"),
        format!("{TINY} -o new.html --report data/../new-link.html"),
        format!("{sizes} -o s.html --report s.n2.html"),
        "prove --with sqlite:nosync --quiet -o new.html --report new.html".to_owned(),
        "prove --with sqlite:nosync --quiet -o kept --keep ./kept".to_owned(),
    ];
    let refused = input.iter().map(|command| (command, "the output is the input"));
    for (command, why) in refused.chain(both.iter().map(|command| (command, "both name one file"))) {
        let result = place.dyno(command).exits(2).says(why).without_panic();
        assert_eq!(result.stdout, "", "{command} did something first");
        assert_eq!(contents(&place.path("")), before, "{command}");
    }
    // A device is no file, and takes both.
    place.dyno(&format!("{TINY} -o /dev/null --report /dev/null")).exits(0);
    place.assert_clean();
}

#[test]
fn four_runs_in_one_second_are_four_files() {
    let place = Place::new();
    thread::scope(|scope| {
        let runs: Vec<_> = (0..4).map(|_| scope.spawn(|| place.dyno(TINY).exits(0))).collect();
        runs.into_iter().for_each(|run| drop(run.join().unwrap()));
    });
    let names: Vec<_> = fs::read_dir(place.path("results")).unwrap().flatten().collect();
    assert_eq!(names.len(), 4, "{names:?}");
    for name in names {
        assert_eq!(finished(&dyno_record::load(&name.path()).unwrap()), 1);
    }
}

#[test]
fn a_fifo_among_the_results_stops_nothing() {
    let place = Place::new();
    place.dyno(TINY).exits(0);
    mkfifo(&place.path("results/9999-01-01T00-00-00-fifo.jsonl"), Mode::S_IRWXU).unwrap();
    place.dyno("show").exits(0).prints("sqlite:memory");
    place.dyno("history").exits(0).prints("speedtest").says("not a regular file");
    place.dyno("report -o page.html").exits(0);
    place.dyno("export -o rows.csv").exits(0);
}

#[test]
fn a_fifo_in_place_of_what_is_kept_of_the_machine_stops_nothing() {
    let place = Place::new();
    for name in ["proofs.jsonl", "calibration.json"] {
        mkfifo(&place.path(name), Mode::S_IRWXU).unwrap();
    }
    place
        .dyno(&format!("{TINY} -o run.jsonl"))
        .exits(0)
        .without_panic()
        .says("proofs.jsonl: it is not a regular file");
    place.dyno("show run.jsonl").exits(0).without_panic();
}

#[test]
fn a_fifo_in_place_of_a_folder_is_refused() {
    let place = Place::new();
    mkfifo(&place.path("fifo"), Mode::S_IRWXU).unwrap();
    place.dyno(&format!("{TINY} --dir fifo")).exits(2).says("fifo").without_panic();
    place.dyno("conformance sqlite --dir fifo").exits(2).says("fifo").without_panic();
}

#[test]
fn a_signal_ends_what_waits_for_a_suite() {
    let place = Place::new();
    mkfifo(&place.path("fifo.toml"), Mode::S_IRWXU).unwrap();
    for arguments in ["list ./fifo.toml", "run ./fifo.toml"] {
        let mut child = place.start(arguments);
        let stat = format!("/proc/{}/stat", child.id());
        wait_for("it to wait for the suite", 60, || fs::read_to_string(&stat).unwrap().contains(") S "));
        kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGTERM).unwrap();
        wait_for("it to end", 60, || child.try_wait().unwrap().is_some());
    }
}

#[test]
fn a_file_that_people_read_in_a_terminal_steers_none() {
    let place = Place::new();
    let mut run = read_json(Path::new(&golden()));
    run["tests"][0]["title"] = "=\u{1b}]0;title\u{7}\u{202e}".into();
    place.write("hostile.json", &run.to_string());
    for file in ["rows.csv", "page.md"] {
        let command = if file == "page.md" { "report" } else { "export" };
        place.dyno(&format!("{command} hostile.json -o {file}")).exits(0).without_panic();
        let text = fs::read_to_string(place.path(file)).unwrap();
        assert!(text.contains("]0;title") && !text.contains(dyno_show::steers), "{file}: {text:?}");
    }
}
