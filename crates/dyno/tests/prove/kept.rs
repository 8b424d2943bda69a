//! What a proof keeps, and what later commands say of it.

use std::fs;

use serde_json::Value;

use super::{is_allowed, proved, repeated, subject};
use crate::common::Place;

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
