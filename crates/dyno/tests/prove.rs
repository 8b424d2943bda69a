//! `dyno prove`: what is known of SQLite's settings is what it finds, and nothing is left of it when it is killed.
//!
//! Where the machine allows no disks of dyno's own, as many containers do, these tests say so and do nothing.

mod evidence;
mod java;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::common::{Place, catches, is_thorough, processes_with, wait_for};

/// The reason that no disk can be recorded here; found without dyno's help, so that dyno cannot excuse itself.
fn forbidden() -> Option<String> {
    for device in ["/dev/fuse", "/dev/loop-control"] {
        if let Err(error) = fs::File::options().read(true).write(true).open(device) {
            return Some(format!("{device}: {error}"));
        }
    }
    let output = Command::new("unshare").args(["-m", "mount", "-t", "tmpfs", "none", "/mnt"]).output();
    match output {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(String::from_utf8_lossy(&output.stderr).into_owned()),
        Err(error) => Some(error.to_string()),
    }
}

/// True if the test may go on.
pub fn is_allowed() -> bool {
    let why = forbidden();
    if let Some(why) = &why {
        eprintln!("not run: no disk can be recorded here: {why}");
    }
    why.is_none()
}

/// The output of the script that shows a kept loss again.
fn repeated(place: &Place, subject: &str) -> Output {
    Command::new(place.path(&format!("kept/{subject}/repeat.sh")))
        .env("DYNO", env!("CARGO_BIN_EXE_dyno"))
        .env("TMPDIR", place.path("data"))
        .output()
        .unwrap()
}

/// The findings, by contender.
pub fn proved(place: &Place, arguments: &str) -> Value {
    place.dyno(&format!("prove {arguments} --format json --quiet")).exits(0).json()
}

pub fn subject<'a>(report: &'a Value, label: &str) -> &'a Value {
    let subjects = report["subjects"].as_array().unwrap();
    subjects.iter().find(|subject| subject["label"] == label).unwrap()
}

/// A tally's number.
pub fn count(subject: &Value, tally: &str, what: &str) -> u64 {
    subject["proof"][tally][what].as_u64().unwrap()
}

#[test]
fn sqlite_loses_by_its_settings_what_its_manual_says() {
    if !is_allowed() {
        return;
    }
    let place = Place::new();
    let contenders =
        "sqlite,sqlite:extra,sqlite,journal_mode=PERSIST,sqlite:wal,sqlite:wal-normal,sqlite:nosync";
    let report = proved(&place, &format!("--with {contenders} --commits 20 --cuts 60 --kills 4 --seed 7"));
    for (label, flushes, most_lost) in [
        ("sqlite", 4, 1),
        ("sqlite:extra", 6, 0),
        ("sqlite,journal_mode=PERSIST", 6, 0),
        ("sqlite:wal", 2, 0),
        // All since the last checkpoint, which comes after commits 1, 3, 6, 10 and 15, and as the database is closed.
        ("sqlite:wal-normal", 0, 5),
        ("sqlite:nosync", 0, 20),
    ] {
        let subject = subject(&report, label);
        // A commit that makes the file longer may need one more.
        let seen = subject["proof"]["observed"]["flushes"].as_f64().unwrap();
        // One that overwrites a log after a checkpoint needs one less: ext4 flushes only for the data.
        let least = if label == "sqlite:wal" { 1.0 } else { f64::from(flushes) };
        assert!((least..f64::from(flushes) + 0.7).contains(&seen), "{label}: {seen}");
        assert_eq!(subject["proof"]["observed"]["commits"], 20, "{label}");
        // The calls that asked for the flushes, seen apart: that of a folder is one, and ext4 flushes more for it.
        let calls = subject["proof"]["calls"]["calls"].as_f64().unwrap();
        assert!(calls <= seen && (calls > 0.0) == (flushes > 0), "{label}: {calls} calls, {seen} flushes");
        let tried = count(subject, "strict", "tried");
        assert!(tried >= 10, "{label}: {tried}");
        assert_eq!(count(subject, "strict", "most_lost"), most_lost, "{label}");
        assert_eq!(count(subject, "strict", "lost"), if most_lost > 0 { tried } else { 0 }, "{label}");
        assert_eq!(count(subject, "strict", "lost_all") == tried, most_lost == 20, "{label}");
        // Devices that fail are tried only where cuts lose nothing.
        let failed = subject["proof"]["errors"].as_array().unwrap();
        let many = if most_lost == 0 { 7..=9 } else { 0..=0 };
        assert!(many.contains(&failed.len()), "{label}: {} failures", failed.len());
        for failed in failed {
            assert_eq!(failed["harm"], serde_json::json!({"lost": [], "broken": []}), "{label}: {failed}");
            let restarted = &failed["restarted"];
            assert_eq!(
                restarted.is_object(),
                failed["device"].as_str().unwrap().contains("once"),
                "{failed}"
            );
            // So few commits may fit on a disk that is nearly full, and a single failure may hit a checkpoint, after
            // which the log still holds all commits.
            let stopped = failed["said"].is_string() && failed["acknowledged"].as_u64() < Some(20);
            assert!(stopped || !failed["device"].as_str().unwrap().contains("for good"), "{label}: {failed}");
        }
        if most_lost == 0 {
            assert_eq!(count(subject, "cuts", "survived"), count(subject, "cuts", "tried"), "{label}");
        }
        assert_eq!(count(subject, "kills", "survived"), 4, "{label}");
        assert_eq!(subject["proof"]["notices_loss"], true, "{label}");
        assert_eq!(subject["kept"], label != "sqlite", "{label}");
        assert_eq!(subject["breaches"].as_array().unwrap().is_empty(), label != "sqlite", "{label}");
    }
    for label in ["sqlite:extra", "sqlite:wal", "sqlite:wal-normal"] {
        assert_eq!(count(subject(&report, label), "cuts", "broken"), 0, "{label}");
    }
    assert_eq!(report["controls"]["loses"]["lost"], report["controls"]["loses"]["tried"]);
    assert_eq!(report["controls"]["keeps"]["survived"], report["controls"]["keeps"]["tried"]);
}

/// The record has facts: another program words and judges them again, and gives the same.
#[test]
fn what_was_observed_is_kept_and_shown_again() {
    let place = Place::new();
    let options =
        "--cuts 6 --kills 2 --commits 12 --no-errors --seed 7 --quiet -o proof.json --report proof.html";
    let first = place.dyno(&format!("prove --with sqlite:wal,sqlite:nosync {options}")).without_panic();
    assert!(matches!(first.code, Some(0 | 3)), "{}", first.stderr);
    let again = place.dyno("show proof.json");
    assert_eq!((again.code, &again.stdout), (first.code, &first.stdout));
    place.dyno("report proof.json -o again.html").exits(0);
    let page = fs::read_to_string(place.path("proof.html")).unwrap();
    assert_eq!(fs::read_to_string(place.path("again.html")).unwrap(), page);
    assert!(page.contains("<th scope=\"row\">sqlite:nosync</th>"), "{page}");
    let lines = place.dyno("show proof.json --format csv").stdout;
    let mut reader = csv::Reader::from_reader(lines.as_bytes());
    let labels: Vec<String> = reader.records().map(|line| line.unwrap()[0].to_owned()).collect();
    assert_eq!(labels, ["sqlite:wal", "sqlite:nosync"]);
    place.dyno("show proof.json --format markdown").exits(2).says("dyno report");
    place.dyno("report proof.json -o proof.md").exits(2).says("name a file that ends in .html");
    let record = fs::read_to_string(place.path("proof.json")).unwrap();
    place.write("proof.json", &record.replace("dyno-durability/1", "dyno-durability/9"));
    place.dyno("show proof.json").exits(2).says("version 9");
    place.assert_clean();
}

/// Tables of runs say that a power cut may undo SQLite's last commit by default, and go on to say that it survives
/// others.
#[test]
fn a_hole_that_is_known_is_named_beside_the_promise_that_it_broke() {
    if !is_allowed() {
        return;
    }
    let place = Place::new();
    let options = "--cuts 6 --kills 0 --commits 12 --no-errors --seed 7 --quiet";
    let proved = place.dyno(&format!("prove --with sqlite {options}")).without_panic();
    let proved = proved.prints("sqlite: broke its promise: acknowledged commits gone after cuts, ");
    proved.prints("sqlite: no cut took more than the last commit, which is known of these settings");
    place.assert_clean();
}

#[test]
fn what_keeps_nothing_is_not_proved_and_what_keeps_it_in_a_file_is() {
    if !is_allowed() {
        return;
    }
    let place = Place::new();
    let memory = place.dyno("prove --with sqlite:memory --cuts 2 --kills 0 --quiet").exits(3);
    memory.prints("after a clean end its first commit is not there");
    // Without an environment it has no transactions, and takes no more than one operation at a time.
    let report = proved(&place, "--with bdb:persistent --commits 6 --cuts 4 --kills 1 --seed 7");
    let subject = subject(&report, "bdb:persistent");
    assert_eq!(subject["proof"]["observed"]["commits"], 6, "{subject}");
    assert_eq!(count(subject, "strict", "lost"), count(subject, "strict", "tried"), "{subject}");
    place.assert_clean();
}

#[test]
fn what_was_proved_is_said_by_later_runs_of_the_same() {
    if !is_allowed() {
        return;
    }
    let place = Place::new();
    proved(&place, "--with sqlite:wal,sqlite:extra --commits 12 --cuts 12 --kills 2 --seed 7");
    let run = |contenders: &str| {
        let command = format!("run speedtest --only 5 --with {contenders} --trials 1 --no-warm-up --quiet");
        place.dyno(&format!("{command} --format json")).json()
    };
    let safety = |verdict: &Value, label: &str| {
        let contenders = verdict["contenders"].as_array().unwrap();
        contenders.iter().find(|one| one["label"] == label).unwrap()["safety"].clone()
    };
    let same = "sqlite,journal_mode=WAL,synchronous=FULL";
    let verdict = run(&format!("sqlite:wal,sqlite:extra,{same},sqlite:wal,cache_size=100,sqlite:wal-normal"));
    let storage = &place.run_file()["storage"]["file_system"];
    fs::remove_dir_all(place.path("results")).unwrap();
    if storage != "ext4" {
        eprintln!("not run to its end: proofs are about ext4, and this folder is on {storage}");
        return;
    }
    // The same settings are the same by any name; one more setting is another thing.
    for label in ["sqlite:wal", "sqlite:extra", same] {
        let safety = safety(&verdict, label);
        assert_eq!(safety["standing"], "survived", "{label}: {safety}");
        let cuts = &safety["survival"]["cuts"];
        assert_eq!(cuts["survived"], cuts["tried"], "{label}: {safety}");
    }
    for label in ["sqlite:wal,cache_size=100", "sqlite:wal-normal"] {
        assert_eq!(safety(&verdict, label)["standing"], "read-back", "{label}");
    }
    assert_eq!(verdict["verdict"]["durability"].as_array().unwrap().len(), 3, "{verdict}");
    let listed = place.dyno("list sqlite").exits(0);
    assert!(listed.stdout.contains(" cuts and 2 of 2 kills"), "{}", listed.stdout);
    // A loss that was once found stays found, whatever was found before or after.
    let kept = fs::read_to_string(place.path("proofs.jsonl")).unwrap();
    let wal = kept.lines().next().unwrap();
    let mut fallen: Value = serde_json::from_str(wal).unwrap();
    assert_eq!(fallen["label"], "sqlite:wal", "{wal}");
    let cuts = &mut fallen["survival"]["cuts"];
    cuts["survived"] = (cuts["tried"].as_u64().unwrap() - 3).into();
    cuts["lost"] = 3.into();
    // Another version of dyno does not forget it.
    fallen["survival"]["dyno"] = "0.0.1".into();
    place.write("proofs.jsonl", &format!("{kept}{fallen}\n{wal}\n"));
    let fallen = safety(&run("sqlite:wal,sqlite:extra"), "sqlite:wal");
    assert_eq!((&fallen["standing"], &fallen["level"]), (&"disproved".into(), &"process-crash".into()));
    let file = fs::read_dir(place.path("results")).unwrap().next().unwrap().unwrap().path();
    let shown = place.dyno(&format!("show {}", file.display())).exits(0).stdout;
    assert!(
        shown.contains("† sqlite:wal: dyno prove disproved what its settings promise, power-loss"),
        "{shown}"
    );
    assert!(shown.contains("Proved: sqlite:extra: 6."), "{shown}");
}

/// A program that appends a line to a file for each commit.
pub fn program(place: &Place, name: &str, text: &str) -> String {
    place.write(name, text);
    fs::set_permissions(place.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    place.path(name).display().to_string()
}

#[test]
fn a_program_of_ones_own_is_proved_by_two_commands() {
    if !is_allowed() {
        return;
    }
    let place = Place::new();
    let look = program(&place, "look", "#!/bin/sh\nsed 's/^/have /' \"$1/commits\"\n");
    let commit = |sync: &str| {
        let script = format!(
            "#!/bin/sh\nfor n in 1 2 3 4 5 6; do echo $n >>\"$1/commits\" || exit 1; {sync} || exit 1; echo ack $n; done\n"
        );
        program(&place, "commit", &script)
    };
    let prove = |commit: String| {
        let options = "prove --cuts 20 --kills 3 --seed 1 --format json --quiet";
        let mut command = place.command();
        let output = command
            .args(options.split(' '))
            .args(["--command", &format!("{commit} {{dir}}"), "--check", &format!("{look} {{dir}}")])
            .output()
            .unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        (report["subjects"][0].clone(), output.status.code())
    };
    let (careful, code) = prove(commit("sync \"$1/commits\""));
    assert_eq!(code, Some(0), "{careful}");
    assert_eq!(count(&careful, "cuts", "survived"), count(&careful, "cuts", "tried"), "{careful}");
    assert!(count(&careful, "cuts", "tried") > 5, "{careful}");
    assert_eq!(count(&careful, "kills", "survived"), 3, "{careful}");
    let (careless, code) = prove(commit("true"));
    assert_eq!(code, Some(1), "{careless}");
    assert_eq!(count(&careless, "strict", "lost"), count(&careless, "strict", "tried"), "{careless}");
    assert_eq!(careless["proof"]["observed"]["unflushed"], 6, "{careless}");
}

#[test]
fn where_there_is_no_room_to_work_the_folder_is_named() {
    let place = Place::new();
    let missing = place.path("missing");
    let mut command = place.command();
    command.args(["prove", "--with", "sqlite", "--quiet"]).env("TMPDIR", &missing);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains(&missing.display().to_string()), "{said}");
    assert!(said.contains("TMPDIR") && !said.contains("--dir"), "{said}");
}

#[test]
fn a_prover_that_is_killed_leaves_nothing() {
    if !is_allowed() {
        return;
    }
    let place = Place::new();
    let data = place.path("data");
    // A file system that is no longer visible keeps its loop device.
    let devices = |name: &str| {
        let devices = fs::read_dir("/sys/block").unwrap().flatten();
        let files =
            devices.filter_map(|device| fs::read_to_string(device.path().join("loop/backing_file")).ok());
        files.filter(|file| file.contains(name)).count()
    };
    for after in [30, 100, 250, 600, 1200] {
        let mut dyno = place.start("prove --with sqlite --commits 500 --cuts 500 --quiet");
        thread::sleep(Duration::from_millis(after));
        dyno.kill().unwrap();
        dyno.wait().unwrap();
        let folder = fs::read_dir(&data).unwrap().flatten().next();
        let name =
            folder.map_or("none was made".to_owned(), |folder| folder.file_name().into_string().unwrap());
        wait_for("its processes to end", 60, || processes_with(&data.display().to_string()).is_empty());
        wait_for("its disks to be gone", 60, || devices(&name) == 0);
        assert!(!fs::read_to_string("/proc/mounts").unwrap().contains(&name));
    }
    // The next one sweeps what is left of the folders.
    place.dyno("prove --with sqlite:extra --commits 2 --cuts 2 --kills 0 --quiet").exits(0);
    // dyno removes a folder whose maker was killed before it had a lock only when it is a minute old.
    let folders = fs::read_dir(&data).unwrap().flatten().map(|entry| entry.path());
    let left: Vec<_> = folders.filter(|folder| folder.join("lock").exists()).collect();
    assert!(left.is_empty(), "left behind: {left:?}");
}

#[test]
fn an_import_is_all_or_nothing_whatever_happens() {
    if !is_allowed() {
        return;
    }
    let place = Place::new();
    let report = proved(&place, "--import sqlite,postgres --cuts 24 --kills 2 --seed 7 --no-errors");
    for label in
        ["import new sqlite", "import existing sqlite", "import postgres at once", "import postgres by three"]
    {
        let subject = subject(&report, label);
        assert_eq!(count(subject, "cuts", "survived"), count(subject, "cuts", "tried"), "{label}: {subject}");
        assert_eq!(count(subject, "kills", "survived"), 2, "{label}: {subject}");
        assert_eq!(subject["proof"]["notices_loss"], true, "{label}: {subject}");
    }
    // The control: without a sync it is gone, and not half there.
    let unsynced = subject(&report, "import unsynced sqlite");
    // Each run has one such cut.
    let runs = unsynced["proof"]["runs"].as_u64().unwrap();
    assert_eq!(count(unsynced, "strict", "tried"), runs, "{unsynced}");
    assert_eq!(count(unsynced, "strict", "lost_all"), runs, "{unsynced}");
    assert_eq!(count(unsynced, "cuts", "broken"), 0, "{unsynced}");
    place.assert_clean();
}

#[test]
fn several_clients_lose_nothing_and_their_sums_add_up() {
    if !is_allowed() {
        return;
    }
    let place = Place::new();
    let report =
        kept_by_clients(&place, "sqlite:wal,busy_timeout=20000,sqlite:nosync,busy_timeout=20000", 24);
    let careless = subject(&report, "sqlite:nosync,busy_timeout=20000");
    assert_eq!(count(careless, "strict", "lost"), count(careless, "strict", "tried"), "{careless}");
    place.dyno("prove --with bdb/c+hash --clients 2 --cuts 1 --kills 0 --quiet").exits(3);
    place.assert_clean();
}

#[test]
fn several_clients_of_a_server_lose_nothing_and_their_sums_add_up() {
    if is_allowed() {
        let place = Place::new();
        kept_by_clients(&place, "postgres", if is_thorough() { 24 } else { 16 });
        place.assert_clean();
    }
}

/// Proves that several clients of the first of some contenders lose none of this many commits.
fn kept_by_clients(place: &Place, contenders: &str, commits: u64) -> Value {
    let options = format!("--clients 4 --commits {commits} --cuts 8 --kills 2 --seed 7 --no-errors");
    let report = proved(place, &format!("--with {contenders} {options}"));
    let first = &report["subjects"][0];
    assert_eq!(first["proof"]["observed"]["commits"], commits, "{first}");
    assert_eq!(count(first, "cuts", "survived"), count(first, "cuts", "tried"), "{first}");
    assert_eq!(count(first, "kills", "survived"), 2, "{first}");
    report
}

#[test]
fn threads_of_one_process_lose_nothing_that_was_acknowledged_to_each() {
    if !is_allowed() {
        return;
    }
    let place = Place::new();
    let contenders = "lmdb,redb,fjall,pebble,fjall:persistent,sqlite:wal,busy_timeout=20000";
    let options = "--clients 3 --threads --commits 14 --cuts 10 --kills 2 --seed 7 --no-errors --keep kept";
    let report = proved(&place, &format!("--with {contenders} {options}"));
    for label in ["lmdb", "redb", "fjall", "pebble", "sqlite:wal,busy_timeout=20000"] {
        let subject = subject(&report, label);
        assert_eq!(subject["proof"]["observed"]["commits"], 14, "{label}: {subject}");
        assert_eq!(subject["proof"]["observed"]["bundled"], 0, "{label}: {subject}");
        assert_eq!(count(subject, "cuts", "survived"), count(subject, "cuts", "tried"), "{label}: {subject}");
        assert_eq!(count(subject, "kills", "survived"), 2, "{label}: {subject}");
        assert_eq!(subject["proof"]["notices_loss"], true, "{label}: {subject}");
    }
    let careless = subject(&report, "fjall:persistent");
    assert_eq!(count(careless, "strict", "lost"), count(careless, "strict", "tried"), "{careless}");
    assert_eq!(count(careless, "cuts", "broken"), 0, "{careless}");
    let repeat = repeated(&place, "fjall-persistent");
    assert!(repeat.status.success(), "{repeat:?}");
    place.assert_clean();
}

#[test]
fn what_shows_a_loss_is_kept_and_shows_it_again() {
    if !is_allowed() {
        return;
    }
    let place = Place::new();
    let report =
        proved(&place, "--with sqlite,sqlite:extra --commits 6 --cuts 8 --kills 0 --seed 7 --keep kept");
    let lost = &subject(&report, "sqlite")["proof"];
    assert_eq!(lost["kept_in"], "kept/sqlite", "{lost}");
    assert_eq!(fs::read_dir(place.path("kept")).unwrap().count(), 1, "only losses are kept");
    let sequence = fs::read_to_string(place.path("kept/sqlite/sequence.txt")).unwrap();
    assert!(sequence.contains(" flush\n") && sequence.contains("The power fails."), "{sequence}");
    let output = repeated(&place, "sqlite");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && said.contains(" is gone"), "{output:?}");
    // Where nothing is missing it says so.
    let about = fs::read_to_string(place.path("kept/sqlite/about.json")).unwrap();
    let mut about: Value = serde_json::from_str(&about).unwrap();
    about["acknowledged"] = serde_json::json!([]);
    place.write("kept/sqlite/about.json", &about.to_string());
    assert_eq!(repeated(&place, "sqlite").status.code(), Some(3));
    // A key that dyno made would be gone with this dyno, and no one could look again.
    place.dyno("prove --with sqlite@mc:encrypted --cuts 2 --keep kept --quiet").exits(2).says("DYNO_KEY");
    place.assert_clean();
}

#[test]
fn an_interrupt_and_a_full_disk_leave_nothing() {
    if !is_allowed() {
        return;
    }
    let place = Place::new();
    for after in [0, 50, 400, 1500] {
        let mut dyno = place.start("prove --with sqlite:wal,postgres --commits 500 --cuts 500 --quiet");
        wait_for("it to catch the signal", 60, || catches(dyno.id(), Signal::SIGINT));
        thread::sleep(Duration::from_millis(after));
        kill(Pid::from_raw(dyno.id().cast_signed()), Signal::SIGINT).unwrap();
        assert_eq!(dyno.wait().unwrap().code(), Some(130), "after {after} ms");
        place.assert_clean();
    }
    wait_for("its processes to end", 60, || {
        processes_with(&place.path("data").display().to_string()).is_empty()
    });
    // The disk is seen by this shell alone, and so must be what is left on it.
    let script = "mount -t tmpfs -o size=64k none \"$1\"; head -c 64k /dev/zero >\"$1/full\"
                  \"$2\" prove --with sqlite:wal --cuts 2 --kills 0 --quiet 2>&1; echo code $?; ls -A \"$1\"";
    let mut shell = Command::new("unshare");
    shell.args(["-m", "sh", "-c", script, "sh"]).arg(place.path("data")).arg(env!("CARGO_BIN_EXE_dyno"));
    shell.env("TMPDIR", place.path("data")).env("DYNO_PROOFS", place.path("proofs.jsonl"));
    let said = String::from_utf8_lossy(&shell.output().unwrap().stdout).into_owned();
    assert!(said.ends_with("code 3\nfull\n") || said.ends_with("code 4\nfull\n"), "{said}");
    assert!(said.contains("No space left") || said.contains("disk is full"), "{said}");
}

#[test]
fn postgres_keeps_what_it_acknowledged_unless_it_is_asynchronous() {
    if !is_allowed() {
        return;
    }
    let place = Place::new();
    let effort = if is_thorough() { "--commits 12 --cuts 12" } else { "--commits 8 --cuts 6 --no-errors" };
    let report = proved(&place, &format!("--with postgres,postgres:async {effort} --kills 2 --seed 7"));
    let synced = subject(&report, "postgres");
    assert_eq!(count(synced, "cuts", "survived"), count(synced, "cuts", "tried"), "{synced}");
    assert_eq!(count(synced, "kills", "survived"), 2, "{synced}");
    assert!(synced["proof"]["observed"]["flushes"].as_f64().unwrap() >= 1.0, "{synced}");
    let asynchronous = subject(&report, "postgres:async");
    assert!(count(asynchronous, "strict", "lost") > 0, "{asynchronous}");
    assert_eq!(count(asynchronous, "cuts", "broken"), 0, "{asynchronous}");
    place.assert_clean();
}

#[test]
fn of_files_that_posix_alone_protects_the_same_settings_lose_the_same() {
    if !is_allowed() {
        return;
    }
    let place = Place::new();
    let contenders = "sqlite,sqlite:extra,sqlite:wal,lmdb,postgres";
    let report = proved(
        &place,
        &format!("--device posix --with {contenders} --commits 12 --cuts 24 --seed 7 --keep kept"),
    );
    // With a rollback journal, the folder is not synced after the journal is unlinked.
    for (label, syncs, most_lost) in
        [("sqlite", 4, 1), ("sqlite:extra", 5, 0), ("sqlite:wal", 1, 0), ("lmdb", 2, 0), ("postgres", 1, 0)]
    {
        let subject = subject(&report, label);
        let seen = subject["proof"]["observed"]["flushes"].as_f64().unwrap();
        assert!((f64::from(syncs)..f64::from(syncs) + 0.5).contains(&seen), "{label}: {seen}");
        assert_eq!(count(subject, "strict", "most_lost"), most_lost, "{label}: {subject}");
        assert_eq!(count(subject, "cuts", "broken"), 0, "{label}: {subject}");
        assert!(count(subject, "cuts", "tried") > 12, "{label}: {subject}");
        assert_eq!(subject["is_kept"], false, "it says nothing of a file system that there is");
    }
    let repeat = repeated(&place, "sqlite");
    assert!(repeat.status.success(), "{repeat:?}");
    place.assert_clean();
}

#[test]
fn where_no_disk_can_be_made_what_still_works_is_used_and_said() {
    if !is_allowed() {
        return;
    }
    let place = Place::new();
    // A shell that sees nothing to make file systems with.
    let script = "mount --bind /dev/null /dev/fuse && exec \"$0\" prove --with sqlite:wal,sqlite:wal-normal \
                  --commits 8 --kills 2 --seed 7 --quiet \"$@\"";
    let prove = |arguments: &[&str]| {
        let mut shell = Command::new("unshare");
        shell.args(["-m", "sh", "-c", script, env!("CARGO_BIN_EXE_dyno")]).args(arguments);
        shell.env("TMPDIR", place.path("data")).env("DYNO_PROOFS", place.path("proofs.jsonl"));
        shell.output().unwrap()
    };
    let output = prove(&["--format", "json"]);
    assert_eq!(output.status.code(), Some(3), "no power was cut: {output:?}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(report["no_cuts"].is_string(), "{report}");
    for (label, calls) in [("sqlite:wal", 1.0), ("sqlite:wal-normal", 0.0)] {
        let subject = subject(&report, label);
        assert_eq!(subject["proof"]["calls"]["calls"], calls, "{subject}");
        assert_eq!(count(subject, "kills", "survived"), 2, "{subject}");
        assert_eq!(count(subject, "cuts", "tried"), 0, "{subject}");
    }
    let kept = fs::read_to_string(place.path("proofs.jsonl")).unwrap();
    assert!(kept.contains("\"calls\":1.0") && !kept.contains("\"flushes\""), "{kept}");
    // A proof that wants no cuts misses nothing.
    let output = prove(&["--cuts", "0"]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.starts_with("No power was cut"), "{output:?}");
    assert_eq!(prove(&["--device", "posix"]).status.code(), Some(4));
    place.assert_clean();
}

#[test]
fn other_file_systems_show_the_same_where_their_makers_are_installed() {
    if !is_allowed() {
        return;
    }
    for system in ["xfs", "btrfs"] {
        if Command::new(format!("mkfs.{system}")).arg("-V").output().is_err() {
            eprintln!("not run: there is no mkfs.{system}");
            continue;
        }
        let place = Place::new();
        let options = format!("--file-system {system} --cuts 16 --kills 0 --commits 12 --seed 7 --no-errors");
        let report = proved(&place, &format!("--with sqlite,sqlite:wal {options}"));
        assert_eq!(count(subject(&report, "sqlite"), "strict", "most_lost"), 1, "{report}");
        assert_eq!(
            count(subject(&report, "sqlite:wal"), "cuts", "survived"),
            count(subject(&report, "sqlite:wal"), "cuts", "tried"),
            "{report}"
        );
        let kept = fs::read_to_string(place.path("proofs.jsonl")).unwrap();
        assert!(kept.contains(&format!("\"file_system\":\"{system}\"")), "{kept}");
        place.assert_clean();
    }
}
