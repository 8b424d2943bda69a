//! `dyno prove`: what is known of SQLite's settings is what it finds, and nothing is left of it when it is killed.
//!
//! Where the machine allows no disks of dyno's own, as many containers do, these tests say so and do nothing.

mod clients;
mod evidence;
mod java;
mod kept;
mod places;
mod subjects;

use std::fs;
use std::process::{Command, Output};
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::common::{Place, catches, processes_with, wait_for};

pub use subjects::program;

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
