//! Input from strangers: folders that every user may write to, suites and run files from elsewhere, and a terminal that
//! goes away.

mod asked;

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::sys::stat::Mode;
use nix::unistd::{Pid, Uid, mkfifo};

use crate::common::{Place, Result, processes_with, read_json, wait_for};

const TINY: &str = "run speedtest --scale 0.01 --only 1 --with sqlite:memory --trials 1 --no-warm-up --quiet";
const NOBODY: u32 = 65534;

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/run.json")
}

#[test]
fn mounts_that_are_not_dynos_stay_and_fifos_are_not_waited_for() {
    if !Uid::effective().is_root() {
        return eprintln!("not run: mounts and other users need root");
    }
    let place = Place::new();
    let data = place.path("data").display().to_string();
    let precious = place.path("precious").display().to_string();
    // Another user's link and FIFO, and a mount in a folder that looks like a dead run's.
    let script = format!(
        "set -e
        mkdir -p {precious}/disk {data}/dyno-scratch-mine/disk {data}/dyno-scratch-fifo
        touch {precious}/lock {data}/dyno-scratch-mine/lock
        mount -t tmpfs precious {precious}/disk
        mount -t tmpfs mine {data}/dyno-scratch-mine/disk
        touch {precious}/disk/file {data}/dyno-scratch-mine/disk/file
        ln -s {precious} {data}/dyno-scratch-link
        mkfifo {data}/dyno-scratch-fifo/lock
        chown -h 65534 {data}/dyno-scratch-link {data}/dyno-scratch-fifo {data}/dyno-scratch-fifo/lock
        chmod 1777 {data}
        timeout 100 {dyno} {TINY}
        test -e {precious}/disk/file
        test -e {data}/dyno-scratch-mine/disk/file
        test -p {data}/dyno-scratch-fifo/lock",
        dyno = env!("CARGO_BIN_EXE_dyno"),
    );
    let mut command = Command::new("unshare");
    command.args(["-m", "--propagation", "private", "sh", "-c", &script]);
    let output = command.current_dir(place.path("")).env("TMPDIR", place.path("data")).output().unwrap();
    let result: Result = output.into();
    if result.stderr.contains("unshare failed") {
        return eprintln!("not run: the system allows no mounts of one's own");
    }
    result.exits(0).prints("sqlite:memory").without_panic();
}

#[test]
fn copies_of_the_users_data_are_the_users_alone() {
    let place = Place::new();
    // Enough keys for them to be written still while this looks.
    let mut dyno = place.start("run kv --n 20M --with sqlite/c --only insert-int --trials 1 --quiet");
    let found = || fs::read_dir(place.path("data")).unwrap().flatten().map(|entry| entry.path()).next();
    wait_for("the inputs", 60, || found().is_some_and(|folder| folder.join("inputs").exists()));
    let mode = fs::metadata(found().unwrap()).unwrap().permissions().mode();
    kill(Pid::from_raw(dyno.id() as i32), Signal::SIGTERM).unwrap();
    dyno.wait().unwrap();
    assert_eq!(mode & 0o777, 0o700);
    place.assert_clean();
}

#[test]
fn signals_that_were_ignored_at_the_start_stay_ignored() {
    let place = Place::new();
    for (signal, name) in [(Signal::SIGHUP, "HUP"), (Signal::SIGINT, "INT")] {
        let arguments =
            format!("{TINY} -o {name}.json").replace("0.01", "0.2").replace("--trials 1", "--trials 4");
        let line = format!("trap '' {name}; exec {} {arguments}", env!("CARGO_BIN_EXE_dyno"));
        let mut command = Command::new("sh");
        command.args(["-c", &line]).current_dir(place.path("")).env("TMPDIR", place.path("data"));
        let dyno = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let file = place.path(&format!("{name}.json"));
        wait_for("the run to begin", 60, || file.exists());
        kill(Pid::from_raw(dyno.id() as i32), signal).unwrap();
        let result: Result = dyno.wait_with_output().unwrap().into();
        result.exits(0);
        let run = dyno_record::load(&file).unwrap();
        assert_eq!(run.trials.iter().filter(|trial| trial.contender == 0).count(), 4);
    }
}

/// A library that leaves a file when it is loaded.
fn spy(place: &Place) -> Option<String> {
    let source = place.write(
        "spy.c",
        "#include <fcntl.h>\n__attribute__((constructor)) static void spy(void) { open(\"loaded\", O_CREAT | O_WRONLY, 0600); }\n",
    );
    let library = place.path("spy.so").display().to_string();
    let made = Command::new("cc").args(["-shared", "-fPIC", "-o", &library, &source]).status();
    made.is_ok_and(|status| status.success()).then_some(library)
}

const SUITE: &str = "name = \"theirs\"\ntitle = \"T\"\nstory = \"\"\ncontenders = [\"CONTENDER\"]\n\n[[test]]\nid = \"1\"\n\
                     title = \"T\"\nshows = \"\"\nmodel = \"statements\"\nstatements = \"\"\"\nSTATEMENT\n\"\"\"\n";

#[test]
fn a_strangers_library_is_loaded_only_if_the_user_trusts_it() {
    let place = Place::new();
    let Some(library) = spy(&place) else { return eprintln!("not run: there is no C compiler") };
    let contender = format!("sqlite@{library}:memory");
    let suite = SUITE.replace("CONTENDER", &contender).replace("STATEMENT", "SELECT 1;");
    place.write("theirs.toml", &suite);
    place.write("theirs.json", &with_contender(&contender, None));
    for command in ["run ./theirs.toml", "rerun theirs.json"] {
        let result =
            place.dyno(&format!("{command} --quiet -o out.json")).exits(2).says("--trust").without_panic();
        assert_eq!(result.says(&format!("loads the library {library}")).stdout, "");
        assert!(!place.path("loaded").exists(), "{command} loaded it");
    }
    for command in ["list ./theirs.toml", "list theirs"] {
        place.dyno(command).without_panic();
        assert!(!place.path("loaded").exists(), "{command} loaded it");
    }
    // It is no SQLite, so the run fails once it is loaded; what is typed needs no --trust.
    place.dyno("run ./theirs.toml --quiet --trust --trials 1").without_panic();
    assert!(place.path("loaded").exists() || place.path("data/loaded").exists(), "--trust loads nothing");
    fs::remove_file(place.path("loaded")).unwrap();
    let typed = place.dyno(&format!("{TINY} --with {contender}").replace("--with sqlite:memory ", ""));
    assert!(!typed.stderr.contains("--trust"), "{}", typed.stderr);
}

#[test]
fn a_strangers_statement_that_reaches_outside_runs_only_if_the_user_trusts_it() {
    let place = Place::new();
    let statement = "{{ 'ATT' ~ 'ACH' }} '{PLACE}/theirs.db' AS theirs;\nCREATE TABLE theirs.t(a);"
        .replace("{PLACE}", &place.path("").display().to_string());
    place.write("theirs.toml", &SUITE.replace("CONTENDER", "sqlite:memory").replace("STATEMENT", &statement));
    let command = "run ./theirs.toml --trials 1 --no-warm-up --quiet -o out.json";
    place.dyno(command).exits(2).says("test 1: ATTACH").says("--trust");
    place.dyno(&format!("{command} --with sqlite:memory")).exits(2).says("test 1: ATTACH");
    assert!(!place.path("theirs.db").exists() && !place.path("out.json").exists());
    place.assert_clean();
    place.dyno(&format!("{command} --trust")).exits(0);
    assert!(place.path("theirs.db").exists());
    fs::remove_file(place.path("theirs.db")).unwrap();
    place.dyno("rerun out.json --quiet").exits(2).says("out.json").says("test 1: ATTACH");
    assert!(!place.path("theirs.db").exists());
    // A run of one of dyno's own suites is repeated without a word.
    place.dyno(&format!("{TINY} -o own.json")).exits(0);
    place.dyno("rerun own.json --quiet").exits(0);
}

/// The golden run file, as if a stranger had put another contender in the place of its first.
fn with_contender(label: &str, url: Option<&str>) -> String {
    let mut run = read_json(&golden());
    let old = run["contenders"][0]["label"].as_str().unwrap().to_owned();
    run["contenders"][0]["label"] = label.into();
    if let Some(url) = url {
        run["contenders"][0]["url"] = url.into();
    }
    if run["baseline"] == old.as_str() {
        run["baseline"] = label.into();
    }
    run.to_string()
}

#[test]
fn texts_that_a_spreadsheet_would_work_out_are_defused() {
    let place = Place::new();
    let mut run = read_json(&golden());
    run["tests"][0]["title"] = "=HYPERLINK(1)".into();
    run["tests"][1]["title"] = "@SUM(A1)".into();
    place.write("theirs.json", &run.to_string());
    let shown = place.dyno("show theirs.json --format csv").stdout;
    place.dyno("export theirs.json -o theirs.csv").exits(0);
    for text in [shown, fs::read_to_string(place.path("theirs.csv")).unwrap()] {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let cells: Vec<String> = reader
            .records()
            .flat_map(|row| row.unwrap().iter().map(str::to_owned).collect::<Vec<_>>())
            .collect();
        assert!(
            cells.iter().any(|cell| cell == "'=HYPERLINK(1)") && cells.iter().any(|cell| cell == "'@SUM(A1)")
        );
        assert!(!cells.iter().any(|cell| cell.starts_with(['=', '@', '+'])), "{text}");
    }
    place.dyno("compare theirs.json theirs.json --format csv").prints("'=HYPERLINK(1)");
}

#[test]
fn a_run_without_samples_and_one_that_was_cut_off_are_what_they_are() {
    let place = Place::new();
    let mut run = read_json(&golden());
    run["trials"] = serde_json::json!([]);
    run["answers"] = serde_json::json!([]);
    place.write("empty.json", &run.to_string());
    place.dyno("export empty.json -o empty.csv").exits(0).says("0 samples");
    assert!(fs::read_to_string(place.path("empty.csv")).unwrap().starts_with("run,started,suite,"));
    let whole = run.to_string();
    for (name, text) in [("nothing.json", ""), ("cut.json", &whole[..whole.len() / 2])] {
        place.write(name, text);
        place.dyno(&format!("show {name}")).exits(2).says(name).says("it was cut off").without_panic();
    }
    place.write("other.json", "no JSON at all\n");
    place.dyno("show other.json").exits(2).says("it is not JSON");
}

#[test]
fn another_users_fifo_as_the_lock_is_left_alone() {
    if !Uid::effective().is_root() {
        return eprintln!("not run: another user's files need root");
    }
    let place = Place::new();
    let theirs = place.path("data/dyno-scratch-theirs");
    fs::create_dir(&theirs).unwrap();
    mkfifo(&theirs.join("lock"), Mode::S_IRWXU).unwrap();
    chown(&theirs, Some(NOBODY), Some(NOBODY)).unwrap();
    place.dyno(TINY).exits(0);
    assert!(theirs.join("lock").exists());
}

#[test]
fn an_encrypted_file_system_that_a_killed_run_left_is_unmounted() {
    let place = Place::new();
    let data = fs::canonicalize(place.path("data")).unwrap().display().to_string();
    let run = "run speedtest --with sqlite,file_system=gocryptfs --trials 99 --only 1-4 --quiet";
    let mut dyno = place.start(run);
    let noted = || {
        let folders = fs::read_dir(&data).unwrap().flatten();
        folders.map(|folder| folder.path().join("mounts")).find(|notes| notes.exists())
    };
    wait_for("the mount or the end", 60, || noted().is_some() || dyno.try_wait().unwrap().is_some());
    if noted().is_none() {
        let result: Result = dyno.wait_with_output().unwrap().into();
        return eprintln!("not run: {}", result.exits(4).stderr);
    }
    // First its program, so that it cannot unmount what it shows.
    for program in processes_with(&format!("{data}/")).into_iter().filter(|&id| id != dyno.id()) {
        let line = fs::read_to_string(format!("/proc/{program}/cmdline")).unwrap_or_default();
        if line.starts_with("gocryptfs") {
            kill(Pid::from_raw(program as i32), Signal::SIGKILL).unwrap();
        }
    }
    dyno.kill().unwrap();
    dyno.wait().unwrap();
    let is_mounted = || fs::read_to_string("/proc/mounts").unwrap().contains(&data);
    assert!(is_mounted(), "nothing was left to unmount");
    place.dyno(TINY).exits(0);
    assert!(!is_mounted(), "it is still mounted");
    place.assert_clean();
}
