//! The other outputs of results: pages, sample files, the history of a folder.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

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
    // Without a name it is the newest run, and its page stands next to it.
    place.dyno("report").exits(0).says(".html");
    let pages = fs::read_dir(place.path("results")).unwrap().map(|entry| entry.unwrap().path());
    assert_eq!(pages.filter(|path| path.extension().is_some_and(|extension| extension == "html")).count(), 1);
}

#[test]
fn the_page_of_a_page_packs_the_run_within_it() {
    let place = Place::new();
    place.dyno(&format!("report {} -o first.html", golden().display())).exits(0);
    let first = fs::read_to_string(place.path("first.html")).unwrap();
    // Without a name it would be the page itself.
    place.dyno("report first.html").exits(2).says("the output is the input first.html").without_panic();
    assert_eq!(fs::read_to_string(place.path("first.html")).unwrap(), first);
    place.dyno("report first.html -o second.html").exits(0);
    let second = fs::read_to_string(place.path("second.html")).unwrap();
    let packed = |page: &str| dyno_record::packed_runs(page).unwrap().pop().unwrap();
    assert_eq!(packed(&second).text, fs::read_to_string(golden()).unwrap());
    assert_eq!(packed(&second).name, "first.jsonl");
    let shown = place.dyno("show second.html").exits(0).stdout;
    assert_eq!(shown, place.dyno(&format!("show {}", golden().display())).exits(0).stdout);
}

#[test]
fn a_page_is_written_under_the_ending_of_a_page_only() {
    let place = Place::new();
    let golden = golden().display().to_string();
    let tiny = "run speedtest --scale 0.01 --only 1 --with sqlite:memory --trials 1 --no-warm-up --quiet";
    for name in ["page.pdf", "page"] {
        let refused = [
            format!("report {golden} -o {name}"),
            format!("{tiny} --report {name}"),
            format!("prove --with sqlite:nosync --quiet --report {name}"),
        ];
        for command in refused {
            place.dyno(&command).exits(2).says("ends in none of .html").without_panic();
            assert!(!place.path(name).exists() && !place.path("results").exists(), "{command}");
        }
    }
    place.dyno("prove --with sqlite:nosync --quiet --report page.md").exits(2).says("ends in none of .html");
    for name in ["page.html", "page.htm", "page.HTML"] {
        place.dyno(&format!("report {golden} -o {name}")).exits(0);
        assert!(fs::read_to_string(place.path(name)).unwrap().starts_with("<!doctype html>"), "{name}");
    }
}

/// A kept run as `dyno challenge`, and one as `dyno causes`, would have made it.
fn keep_altered(place: &Place) {
    let mut changed = read_json(&golden());
    changed["circumstances"] =
        json!({"environment_bytes": 100, "fixed_addresses": true, "folder_letters": 3});
    place.write("results/2099-01-01T00-00-00-speedtest.json", &changed.to_string());
    let mut experiment = read_json(&golden());
    experiment["experiment"] = json!({"contender": "sqlite:nosync", "tried": []});
    place.write("results/2099-01-02T00-00-00-speedtest.json", &experiment.to_string());
}

#[test]
fn runs_under_changed_conditions_are_neither_the_newest_nor_history() {
    let place = Place::new();
    fs::create_dir(place.path("results")).unwrap();
    keep_altered(&place);
    for command in ["show", "report", "export -o rows.csv"] {
        place.dyno(command).exits(2).says("but those of `dyno challenge` and `dyno causes`").without_panic();
    }
    place.dyno("history").exits(2).says("their conditions were changed: 2").says("there is no run");
    place.write("results/2026-01-01T00-00-00-speedtest.json", &read_json(&golden()).to_string());
    let shown = place.dyno("show").exits(0).stdout;
    assert_eq!(shown, place.dyno(&format!("show {}", golden().display())).exits(0).stdout);
    place.dyno("report").exits(0).says("2026-01-01T00-00-00-speedtest.html");
    let listed = place.dyno("history").exits(0).says("their conditions were changed: 2").stdout;
    assert!(listed.contains("2026-01-01") && !listed.contains("2099-01"), "{listed}");
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
    let run = read_json(&golden());
    let times = |wanted: &dyn Fn(&Value) -> bool| -> Vec<u64> {
        let trials = run["trials"].as_array().unwrap().iter().filter(|trial| wanted(trial));
        let samples = trials.flat_map(|trial| trial["samples"].as_array().unwrap());
        samples.map(|sample| sample["nanoseconds"].as_u64().unwrap()).collect()
    };
    let exported = |options: &str| -> Vec<u64> {
        place.dyno(&format!("export {} -o samples.csv {options}", golden().display())).exits(0);
        let mut reader = csv::Reader::from_path(place.path("samples.csv")).unwrap();
        let time = reader.headers().unwrap().iter().position(|name| name == "nanoseconds").unwrap();
        reader.records().map(|row| row.unwrap()[time].parse().unwrap()).collect()
    };
    let is_figure = |trial: &Value| {
        trial["block"] != 0
            && run["contenders"][trial["contender"].as_u64().unwrap() as usize]["named"] == true
    };
    let (of_figures, all) = (times(&is_figure), times(&|_| true));
    assert!(!of_figures.is_empty() && of_figures.len() < all.len());
    assert_eq!(exported(""), of_figures);
    assert_eq!(exported("--all"), all);
    // A file without rows has its header.
    place.dyno(&format!("export {} -o classes.csv --latency", golden().display())).exits(0).says("0 classes");
    let header = fs::read_to_string(place.path("classes.csv")).unwrap();
    assert!(
        header.starts_with("run,suite,test,contender,")
            && header.ends_with("p999_ns,most_ns,statement,mean_ns,run_file\n"),
        "{header}"
    );
}

#[test]
fn json_has_labels_and_units_at_every_figure() {
    let place = Place::new();
    let json = place.dyno(&format!("show {} --format json", golden().display())).exits(0).json();
    for test in json["verdict"]["tests"].as_array().unwrap() {
        for cell in test["cells"].as_array().unwrap() {
            let contender = cell["contender"].as_u64().unwrap();
            let known = json["contenders"].as_array().unwrap();
            let known = known.iter().find(|known| known["contender"] == contender).unwrap();
            assert_eq!(cell["label"], known["label"]);
            assert_eq!(cell["figures"]["summary"]["unit"], "ns");
        }
    }
    assert_eq!(json["verdict"]["rankings"][0]["ranks"][0]["label"], "sqlite:wal");
    assert_eq!(json["verdict"]["summaries"][1]["label"], "sqlite:nosync");
}

#[test]
fn counted_events_stand_beside_times_in_every_output() {
    let place = Place::new();
    let mut run = read_json(&golden());
    // The last contender is the harness, whose count is what measuring costs.
    let counts = [10_000_019, 12_500_000, 20_000_038, 1_000_000];
    for trial in run["trials"].as_array_mut().unwrap() {
        let count = counts[trial["contender"].as_u64().unwrap() as usize];
        let sample = trial["samples"][0].as_object_mut().unwrap();
        let nanoseconds = sample.remove("nanoseconds");
        sample
            .insert("section".into(), json!({"nanoseconds": nanoseconds, "counts": {"instructions": count}}));
    }
    let run = place.write("counted.json", &run.to_string());
    let table = place.dyno(&format!("show {run}")).exits(0);
    let table = table.prints("10,000,019").prints("12,500,000").prints("1.25×").prints("2.00×");
    table.prints("instructions: what occurred in the timed section");
    let json = place.dyno(&format!("show {run} --format json")).exits(0).json();
    let counted = &json["verdict"]["tests"][0]["counts"][0];
    assert_eq!((&counted["quantity"], &counted["event"]), (&json!("count"), &json!("instructions")));
    let cell = &counted["cells"][1];
    assert_eq!(cell["label"], "sqlite:nosync");
    assert_eq!(cell["figures"]["summary"]["unit"], "instructions");
    assert_eq!(cell["figures"]["summary"]["median"], 12_500_000.0);
    assert_eq!(cell["difference"]["difference"], "slower");
    assert!(json["verdict"]["tests"][1]["counts"].is_null());
    let csv = place.dyno(&format!("show {run} --format csv")).exits(0).stdout;
    let mut lines = csv.lines();
    let names = ["", "_per_operation", "_ratio", "_low", "_high"];
    let columns: String = names.iter().map(|name| format!(",count_instructions{name}")).collect();
    assert!(lines.next().unwrap().ends_with(&columns), "{csv}");
    assert!(lines.next().unwrap().ends_with(",10000019.0,99010.08910891089,,,"), "{csv}");
    assert!(lines.nth(1).unwrap().contains(",20000038.0,198020.17821782178,2.0,"), "{csv}");
    let page = fs::read_to_string(place.page(&[&place.path("counted.json")])).unwrap();
    assert!(page.contains("Instructions</button>") && page.contains("20,000,038"));
}

#[test]
fn colours_are_where_they_are_asked_for() {
    let place = Place::new();
    let show = format!("show {}", golden().display());
    let plain = place.dyno(&show).exits(0).stdout;
    assert!(!plain.contains('\u{1b}'), "a pipe has no colours");
    let painted = place.dyno(&format!("{show} --color always")).exits(0).stdout;
    assert!(painted.contains("\u{1b}[32m3.29 ms ±2% *\u{1b}[0m"), "{painted}");
    assert!(painted.contains("\u{1b}[1mOf the 2 contenders that survive power loss"), "{painted}");
    // Colours move no column.
    let mut bare = String::new();
    let mut rest = painted.as_str();
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        bare += before;
        rest = after.split_once('m').unwrap().1;
    }
    assert_eq!(bare + rest, plain);
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
