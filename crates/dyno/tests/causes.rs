//! `dyno causes`: a planted cause is found, and what is no cause is not.

use std::thread::available_parallelism;

use serde_json::Value;

use crate::common::{Place, read_json};

/// A contender whose section lasts 16 times as long while `suspect` holds, and otherwise 4 times.
fn plant(place: &Place, name: &str, suspect: &str) {
    place.plant_spinning(name, &format!("16 if {suspect} else 4"));
}

/// The causes of the difference of a planted contender from one in which nothing is planted.
fn causes(suspect: &str) -> (Place, Value) {
    let place = Place::with_runner("true");
    plant(&place, "steady", "False");
    plant(&place, "planted", suspect);
    let with = "--with sqlite/planted,sqlite/steady --only 2 --trials 1 --no-warm-up --seed 3";
    place.dyno(&format!("run speedtest --scale 0.01 {with} --quiet -o run.jsonl")).exits(0);
    let causes =
        "causes run.jsonl --of sqlite/planted,sqlite/steady --trials 8 --trust --quiet -o found.jsonl";
    let found = place.dyno(&format!("{causes} --format json")).exits(0).without_panic().json();
    assert_eq!(
        (found["contender"].as_str(), found["baseline"].as_str()),
        (Some("sqlite/planted"), Some("sqlite/steady"))
    );
    (place, found)
}

/// The ends of the interval of a suspect's share in the only test.
fn share(found: &Value, suspect: &str) -> (f64, f64) {
    let differences = found["differences"].as_array().unwrap();
    assert_eq!(differences.len(), 1, "{found}");
    let shares = differences[0]["shares"].as_array().unwrap();
    let share = shares.iter().find(|share| share["suspect"] == suspect);
    let interval = &share.unwrap_or_else(|| panic!("{suspect}: {found}"))["interval"];
    (interval["low"].as_f64().unwrap(), interval["high"].as_f64().unwrap())
}

/// True if databases of tests are in memory already, where the disk is no suspect.
fn has_no_disk(found: &Value) -> bool {
    let left = found["not_tried"].as_array();
    let is_left_out = left.is_some_and(|left| left.iter().any(|left| left["suspect"] == "disk"));
    if is_left_out {
        eprintln!("not run: the temporary folder is in memory");
    }
    is_left_out
}

#[test]
fn a_planted_cost_of_the_disk_is_found_and_shown_again() {
    let (place, found) = causes("not directory.startswith('/dev/shm/')");
    if has_no_disk(&found) {
        return;
    }
    // The planted share is 100 % of the disk and 0 % of the cache: a factor of four apart.
    assert!(share(&found, "disk").0 > share(&found, "cache").1, "{found}");
    assert!(share(&found, "disk").0 > 0.5, "{found}");
    // Trials without a suspect are in the file, and not in the table.
    let run = read_json(&place.path("found.jsonl"));
    assert_eq!(run["experiment"]["contender"], "sqlite/planted");
    let shown = place.dyno("show found.jsonl").exits(0).without_panic();
    shown.prints("Flushes and other work of the disk explain").prints("sqlite/planted");
    let again = place.dyno("show found.jsonl --format json").exits(0).json();
    assert_eq!(again["verdict"]["causes"], found);
    assert!(!place.dyno("show found.jsonl --format csv").exits(0).stdout.contains("[disk]"));
    place.assert_clean();
}

#[test]
fn a_planted_cost_of_a_small_cache_is_found() {
    let (place, found) = causes("base.execute('PRAGMA cache_size').fetchone()[0] > -8000");
    if has_no_disk(&found) {
        return;
    }
    assert!(share(&found, "cache").0 > share(&found, "disk").1, "{found}");
    assert!(share(&found, "cache").0 > 0.5, "{found}");
    place.assert_clean();
}

#[test]
fn a_planted_need_of_processors_is_found() {
    if available_parallelism().map_or(1, usize::from) < 2 {
        return eprintln!("not run: there is one processor");
    }
    let (place, found) = causes("len(os.sched_getaffinity(0)) < 2");
    assert!(share(&found, "processors").0 > share(&found, "cache").1, "{found}");
    assert!(share(&found, "processors").0 > 0.5, "{found}");
    // A rerun repeats the experiment.
    place
        .dyno("rerun found.jsonl --trust --quiet -o again.jsonl")
        .exits(0)
        .prints("The number of processors explains");
    place.assert_clean();
}

#[test]
fn what_the_loop_itself_costs_is_explained_by_no_suspect() {
    let place = Place::with_runner("true");
    place.plant_spinning("steady", "1");
    // As long in each trial, so that nothing that is neutralised can make it shorter.
    place.plant_spinning("planted", "1 + 20000000 / max(1, time.monotonic_ns() - began)");
    let with = "--with sqlite/planted,sqlite/steady --only 2 --trials 1 --no-warm-up --seed 3";
    place.dyno(&format!("run speedtest --scale 0.01 {with} --quiet -o run.jsonl")).exits(0);
    let causes =
        "causes run.jsonl --of sqlite/planted,sqlite/steady --trials 8 --trust --quiet --format json";
    let found = place.dyno(causes).exits(0).without_panic().json();
    if has_no_disk(&found) {
        return;
    }
    for suspect in ["disk", "cache"] {
        assert!(share(&found, suspect).1 < 0.5, "{suspect}: {found}");
    }
    place.assert_clean();
}

#[test]
fn free_flushes_explain_most_of_what_a_synchronous_database_takes_longer() {
    let place = Place::new();
    let with = "--with sqlite,sqlite:nosync --only 1 --trials 1 --no-warm-up --quiet";
    place.dyno(&format!("run speedtest --scale 0.01 {with} -o run.jsonl")).exits(0);
    let causes = "causes run.jsonl --of sqlite,sqlite:nosync --trials 8 --quiet --format json";
    let found = place.dyno(causes).exits(0).without_panic().json();
    if has_no_disk(&found) {
        return;
    }
    assert!(share(&found, "disk").0 > 0.5, "{found}");
    place.assert_clean();
}

#[test]
fn a_delay_on_the_way_to_a_server_is_found() {
    let place = Place::new();
    let with = "--with postgres:nosync,sqlite:memory --only 1 --trials 1 --no-warm-up --delay 2ms --quiet";
    place.dyno(&format!("run speedtest --scale 0.02 {with} -o run.jsonl")).exits(0);
    let causes = "causes run.jsonl --of postgres:nosync,sqlite:memory --trials 6 --quiet -o found.jsonl";
    let found = place.dyno(&format!("{causes} --format json")).exits(0).without_panic().json();
    assert!(share(&found, "network").0 > 0.5, "{found}");
    place
        .dyno("show found.jsonl")
        .exits(0)
        .prints("The way between clients and servers explains")
        .prints("dyno did not delay round trips by 2.00 ms");
    place.assert_clean();
}

#[test]
fn equals_leave_nothing_to_explain_and_suspects_that_do_not_apply_are_listed() {
    let place = Place::in_memory();
    let with =
        "--with sqlite:memory,sqlite:memory,cache_size=-3000,lmdb --only 2 --trials 2 --no-warm-up --quiet";
    let ran = place.dyno(&format!("run speedtest --scale 0.02 {} -o run.jsonl", with.replace(",lmdb", "")));
    ran.exits(0);
    let of = "--of sqlite:memory,sqlite:memory,cache_size=-3000";
    let causes = format!("causes run.jsonl {of} --trials 2 --quiet -o found.jsonl");
    let shown = place.dyno(&causes).exits(0).without_panic();
    shown
        .prints("No difference is shown between sqlite:memory and sqlite:memory,cache_size=-3000 in test 2")
        .prints("The disk was not tried: the data are in memory already");
    place.dyno("verify found.jsonl").exits(0);
    // A page and Markdown have the same sentences, from the command as from `dyno show`.
    let none = "No difference is shown between sqlite:memory and sqlite:memory,cache_size";
    let page = place.dyno("show found.jsonl --format html").exits(0).without_panic();
    page.prints("<h2 id=\"causes\">").prints(none);
    place
        .dyno("show found.jsonl --format markdown")
        .exits(0)
        .prints("## Causes")
        .prints("No difference is shown");
    let again =
        |format: &str| place.dyno(&format!("causes found.jsonl {of} --trials 2 --quiet --format {format}"));
    again("markdown").exits(0).without_panic().prints("- No difference is shown between sqlite:memory and");
    again("html").exits(0).without_panic().prints("<h2 id=\"causes\">");
    place.assert_clean();
}

#[test]
fn servers_work_in_memory_with_larger_caches_and_on_further_cpus() {
    let place = Place::new();
    let with = "--with postgres,postgres:nosync --only 1 --trials 1 --no-warm-up --quiet";
    place.dyno(&format!("run speedtest --scale 0.01 {with} -o run.jsonl")).exits(0);
    let found =
        place.dyno("causes run.jsonl --trials 2 --quiet --format json").exits(0).without_panic().json();
    let tried: Vec<&Value> = found["tried"].as_array().unwrap().iter().collect();
    let cache = tried.iter().find(|how| how["suspect"] == "cache").unwrap();
    assert_eq!(cache["bytes"][0], 512 << 20);
    place.assert_clean();
}

#[test]
fn a_pair_that_the_run_does_not_have_is_refused() {
    let place = Place::in_memory();
    let with = "--with sqlite:memory,sqlite:nosync,sqlite:wal --only 2 --trials 1 --no-warm-up --quiet";
    place.dyno(&format!("run speedtest --scale 0.01 {with} -o run.jsonl")).exits(0);
    for (of, says) in [
        ("", "name two contenders of the run, as --of A,B: it has sqlite:memory, sqlite:nosync, sqlite:wal"),
        ("--of sqlite:memory", "--of takes two contenders"),
        ("--of sqlite:memory,postgres", "--of takes two contenders"),
        ("--of sqlite:wal,sqlite:wal", "named twice"),
    ] {
        place.dyno(&format!("causes run.jsonl {of} --quiet")).exits(2).without_panic().says(says);
    }
    place.dyno("causes nowhere.jsonl").exits(2).without_panic();
    place.assert_clean();
}
