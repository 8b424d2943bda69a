//! The ladder of ways to import a file, as a person climbs it, on real SQLite.

use std::fs;

use serde_json::Value;

use crate::common::Place;

/// Records with fields that mean something to SQL: lines as Windows ends them, and none at the end.
const RECORDS: &str = "5\t5A\t101\t14033\t7\t1\t07:04:00\r\nO'Hare\t\t-3\t0\t1\t2\t25:10:00\r\n\
                       \"x\"\tÜ, b; --\t2147483647\t-2147483648\t1\t3\tNULL";

#[test]
fn every_rung_leaves_the_same_table() {
    let place = Place::new();
    let result = place
        .dyno("run import --rows 3K --trials 1 --no-warm-up --quiet -o run.json")
        .exits(0)
        .without_panic();
    let result = result.prints("worst").prints("index last").prints("file beside").prints("published");
    let result =
        result.prints("920k/s").prints("Stack Overflow").prints("~ dyno timed only the first operations");
    let widest = result.stdout.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(widest <= 100, "{widest} columns:\n{}", result.stdout);

    let shown = place.dyno("show run.json --format json").exits(0).json();
    let cells = shown["verdict"]["tests"][0]["cells"].as_array().unwrap();
    assert!(cells.iter().all(|cell| cell["standing"]["standing"] == "counts"), "{cells:?}");
    let rungs = shown["verdict"]["ladders"][0]["rungs"].as_array().unwrap();
    assert!(rungs.len() >= 24, "{} rungs", rungs.len());
    assert!(rungs.iter().all(|rung| rung["rate"].as_f64().unwrap() > 0.0), "{rungs:?}");
    let rung = |name: &str| rungs.iter().find(|rung| rung["name"] == name).unwrap();
    assert_eq!((&rung("worst")["over"], &rung("control")["level"]), (&Value::Null, &Value::Null));
    assert_eq!(rung("worst")["extrapolated"], true);
    let levels = ["worst", "sync off", "both", "in memory", "log ahead", "file beside"];
    let levels = levels.map(|name| rung(name)["level"].as_str().unwrap());
    assert_eq!(levels, ["power-loss", "process-crash", "none", "none", "power-loss", "power-loss"]);
    assert_eq!(rung("sync off")["safety"], "lower");
    assert_eq!(rung("no copies, synced")["safety"], "same");
    // A gain is stated over the rung that is named, and not always over the one before.
    assert_eq!(rungs[rung("journal in memory")["over"].as_u64().unwrap() as usize]["name"], "prepared");
    assert!((rung("prepared")["published_gain"].as_f64().unwrap() - 53.0 / 23.0).abs() < 1e-9);

    let run = crate::common::read_json(&place.path("run.json"));
    assert_eq!(run["tests"][0]["expect"][0][0], 3000);
    // A contender that commits each record separately is timed for the first only, and has the others all the same.
    let trials = run["trials"].as_array().unwrap();
    let cut = trials.iter().filter(|trial| trial["samples"][0]["extrapolated_to"] == 3000).count();
    assert_eq!(cut, 1);
    place.dyno("show run.json --format markdown").exits(0).prints("| 3 | transaction | power-loss †");
    place.assert_clean();
}

#[test]
fn a_file_of_ones_own_takes_the_place_of_the_one_that_is_made() {
    let place = Place::new();
    place.write("own.tsv", RECORDS);
    let ways = "sqlite,null,sqlite/c+text,sqlite/c+prepared,sqlite/c+typed,sqlite/c+multirow,sqlite/c+beside,\
                sqlite/c+text,per_commit=2,sqlite/c+typed,index=first,sqlite:wal,index=last,primary_key=none";
    let run = format!("run import --file own.tsv --trials 1 --quiet --with {ways} -o run.json");
    // Those that are no rung stand in a table below.
    let result = place.dyno(&run).exits(0).without_panic();
    result.prints("own.tsv, 3 records").prints("Import 3 records").prints("sqlite/c+text,per_commit=2");
    let run = crate::common::read_json(&place.path("run.json"));
    assert_eq!(run["suite"]["parameters"]["rows"], 3);
    let file = &run["suite"]["file"];
    // Three line feeds in place of what ended the lines.
    assert_eq!((&file["records"], file["bytes"].as_u64()), (&3.into(), Some(RECORDS.len() as u64 - 1)));
    let again = "rerun run.json --quiet -o again.json";
    place.dyno(again).exits(0).prints("own.tsv, 3 records");
    place.write("own.tsv", &RECORDS.replace("14033", "14034"));
    place.dyno(again).exits(2).without_panic().says("own.tsv has changed since: it had 3 records");
    fs::remove_file(place.path("own.tsv")).unwrap();
    place.dyno(again).exits(2).without_panic().says("cannot read").says("own.tsv");
    place.assert_clean();
}

#[test]
fn a_file_of_another_shape_is_reported_with_its_line() {
    let place = Place::new();
    let says = |text: &[u8], words: &str| {
        fs::write(place.path("own.tsv"), text).unwrap();
        place.dyno("run import --file own.tsv").exits(2).without_panic().says(words);
    };
    let good = "5\t5A\t101\t14033\t7\t1\t07:04:00\n";
    let with = |line: &str| format!("{good}{line}\n").into_bytes();
    says(&with("5\t5A\t101"), "own.tsv:2: the record has 3 fields and not 7: Route_ID, Branch_Code");
    says(&with("5,5A,101,14033,7,1,07:04:00"), "own.tsv:2: the record has 1 fields");
    says(
        &with("5\t5A\t101\tstop\t7\t1\t07:04:00"),
        "own.tsv:2: Stop is 'stop', and that column takes whole numbers",
    );
    says(&with("5\t5A\t101\t007\t7\t1\t07:04:00"), "own.tsv:2: Stop is '007'");
    says(&with("5\t5A\t101\t2147483648\t7\t1\t07:04:00"), "own.tsv:2: Stop is '2147483648'");
    says(b"route\tbranch\tversion\tstop\tvehicle\tday\ttime\n", "own.tsv:1: Version is 'version'");
    says(&with("5\t5\\A\t101\t14033\t7\t1\t07:04:00"), "own.tsv:2: the line holds a backslash");
    says(&with("5\t5\0A\t101\t14033\t7\t1\t07:04:00"), "own.tsv:2: the line holds a NUL byte");
    says(&[good.as_bytes(), b"5\t\xff\n"].concat(), "own.tsv:2: byte 3 of the line is not UTF-8");
    says(&with(""), "own.tsv:2: the record has 1 fields");
    says(b"", "own.tsv is empty");
    place.dyno("run import --file none.tsv").exits(2).says("cannot read").says("none.tsv");
    place.dyno("run import --file .").exits(2).without_panic().says("cannot read");
    place.dyno("run speedtest --file own.tsv").exits(2).says("the suite speedtest imports none");
    place.assert_clean();
}

#[test]
fn what_is_about_imports_is_refused_elsewhere() {
    let place = Place::new();
    let refused = |with: &str, words: &str| {
        place.dyno(&format!("run speedtest --with {with}")).exits(2).without_panic().says(words);
    };
    refused("sqlite,index=first", "are about tables into which files are imported");
    refused("sqlite,primary_key=none", "are about tables into which files are imported");
    refused("sqlite,index=later", "index is none, first or last, not 'later'");
    refused("sqlite,primary_key=id", "primary_key is yes or none, not 'id'");
    refused("sqlite/c+typed", "implements none of the models statements");
    place
        .dyno("run import --with sqlite/c+beside:memory --rows 10 --trials 1 -q")
        .exits(3)
        .prints("only a database in a file");
    place.assert_clean();
}

#[test]
fn a_ladder_with_a_mistake_is_reported() {
    let place = Place::new();
    let suite = fs::read_to_string(crate::common::repository().join("suites/import.toml")).unwrap();
    let says = |from: &str, to: &str, words: &str| {
        assert!(suite.contains(from), "no {from:?}");
        place.write("import.toml", &suite.replace(from, to));
        place.dyno("run ./import.toml --rows 10").exits(2).without_panic().says(words);
    };
    says(
        "over = \"sync off\"",
        "over = \"sync of\"",
        "'both' is compared with 'sync of', which is not one of those before",
    );
    says("name = \"typed\"", "name = \"prepared\"", "two rungs are named 'prepared'");
    says("like = \"timetable\"", "like = \"novel\"", "unknown variant `novel`");
    says("    { name = \"Day\", kind = \"integer\" },\n", "", "it has 6 `fields` and not 7");
    says("name = \"Day\"", "name = \"a day\"", "'a day' is no name of a column");
    says("delimiter = \"\\t\"", "delimiter = \"\\n\"", "`delimiter` is one character");
    says("one_by_one = 200", "one_by_one = 0", "one operation at least");
    says("duckdb/python+csv", "duckdb/python+telepathy", "the driver python has no variant 'telepathy'");
}
