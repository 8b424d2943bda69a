//! Where results go beside the terminal: pages, sample files, the history of a folder.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{Place, read_json};

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/run.json")
}

#[test]
fn a_run_writes_its_page() {
    let place = Place::new();
    place
        .dyno("run speedtest --with sqlite:memory --only 2 --trials 1 --report pages/run.html")
        .exits(0)
        .says("The page is in pages/run.html");
    let page = fs::read_to_string(place.path("pages/run.html")).unwrap();
    assert!(page.starts_with("<!doctype html>"));
    assert!(page.contains("25000 INSERTs in a transaction"));
    // Without a name it is the newest run, and its page stands beside it.
    place.dyno("report").exits(0).says(".html");
    let pages = fs::read_dir(place.path("results")).unwrap().map(|entry| entry.unwrap().path());
    assert_eq!(pages.filter(|path| path.extension().is_some_and(|extension| extension == "html")).count(), 1);
}

#[test]
fn bad_input_gets_a_message() {
    let place = Place::new();
    place.dyno("report missing.json").exits(2).says("missing.json").without_panic();
    place.dyno("report").exits(2).says("name a run file").without_panic();
    place.dyno("history").exits(2).says("results").without_panic();
    place
        .dyno(&format!("export {} -o samples.xlsx", golden().display()))
        .exits(2)
        .says(".csv")
        .without_panic();
    let mut other = read_json(&golden());
    other["suite"]["name"] = "another".into();
    let other = place.write("other.json", &other.to_string());
    place
        .dyno(&format!("report {other} {} -o page.html", golden().display()))
        .exits(2)
        .says("one run is of the suite another")
        .without_panic();
    assert!(!place.path("page.html").exists());
}

#[test]
fn every_sample_is_exported() {
    let place = Place::new();
    place.dyno(&format!("export {} -o samples.csv", golden().display())).exits(0);
    let run = read_json(&golden());
    let wanted: Vec<u64> = run["trials"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|trial| trial["samples"].as_array().unwrap())
        .map(|sample| sample["nanoseconds"].as_u64().unwrap())
        .collect();
    let mut reader = csv::Reader::from_path(place.path("samples.csv")).unwrap();
    let place_of_time = reader.headers().unwrap().iter().position(|name| name == "nanoseconds").unwrap();
    let found: Vec<u64> = reader.records().map(|row| row.unwrap()[place_of_time].parse().unwrap()).collect();
    assert_eq!(found, wanted);
}

#[test]
fn history_flags_the_run_from_which_on_a_contender_is_slower() {
    let place = Place::new();
    fs::create_dir(place.path("results")).unwrap();
    for run in 0..12_u64 {
        let mut record = read_json(&golden());
        record["started"] = format!("2026-11-{:02}T10:00:00Z", run + 1).into();
        if run >= 6 {
            record["machine"]["kernel"]["release"] = "9.9.9".into();
        }
        for trial in record["trials"].as_array_mut().unwrap() {
            let slower = trial["contender"] == 0 && run >= 6;
            for sample in trial["samples"].as_array_mut().unwrap() {
                let time = sample["nanoseconds"].as_u64().unwrap();
                let time = time + time * (run * 7 % 5) / 1000;
                sample["nanoseconds"] = if slower { time * 5 / 4 } else { time }.into();
                sample["wait_ns"] = 0.into();
            }
        }
        place.write(&format!("results/{run:02}.json"), &record.to_string());
    }
    place.write("results/broken.json", "{");
    let test = read_json(&golden())["tests"][1]["id"].as_str().unwrap().to_owned();
    let result = place.dyno(&format!("history --test {test}")).exits(0).says("broken.json");
    let flagged: Vec<&str> = result.stdout.lines().filter(|line| line.contains('←')).collect();
    // One flag, and the words that explain it.
    assert_eq!(flagged.len(), 2, "{}", result.stdout);
    assert!(
        flagged[0].trim_start().starts_with("7 ") && flagged[0].contains("slower: 1.25×"),
        "{}",
        flagged[0]
    );
    result.prints("changed with run 7: kernel:").prints("now");
    place.dyno("history --test nowhere").exits(2).says("none of the runs has a test 'nowhere'");
    place.dyno("history another").exits(2).says("no run of the suite 'another'");
}
