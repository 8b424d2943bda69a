//! The places of proofs: disks of dyno, POSIX files, other file systems.

use std::fs;
use std::process::Command;

use serde_json::Value;

use super::{count, is_allowed, proved, repeated, subject};
use crate::common::Place;

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
