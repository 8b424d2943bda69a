//! Programs, imports and servers that are proved.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use super::{count, is_allowed, proved, subject};
use crate::common::{Place, is_thorough};

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
