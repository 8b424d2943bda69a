//! `dyno compare`, and its gate.

use super::SMALL;
use crate::common::{Place, read_json, run_file};

#[test]
fn compare_reports_what_is_slower() {
    let place = Place::new();
    place.dyno(&format!("{SMALL} --trials 6 --only 2-3 --with sqlite:memory -o run.json")).exits(0);
    // Durations as of a quiet machine, so that what is compared is known.
    let timed = |factor: u64| {
        let mut run = read_json(&place.path("run.json"));
        // The null runner's stay: they are the floor below which nothing is claimed.
        for trial in run["trials"].as_array_mut().unwrap().iter_mut().filter(|trial| trial["contender"] == 0)
        {
            let time = factor * (5_000_000 + 1000 * trial["block"].as_u64().unwrap());
            for sample in trial["samples"].as_array_mut().unwrap() {
                sample["section"]["nanoseconds"] = time.into();
                sample["section"]["client"]["wait_ns"] = 0.into();
            }
        }
        run_file(&run)
    };
    place.write("old.json", &timed(1));
    place.write("slow.json", &timed(3));
    let mut same = read_json(&place.path("old.json"));
    same["started"] = "2026-01-02T03:04:05Z".into();
    place.write("same.json", &run_file(&same));
    place.dyno("compare old.json old.json").exits(0).says("hold the same run, so that nothing can differ");
    place.dyno("compare old.json slow.json").exits(0).prints("slower");
    let gate = |arguments: &str, code: i32, last: &str| {
        let result = place.dyno(&format!("compare {arguments}")).exits(code);
        assert_eq!(result.stdout.lines().last(), Some(last), "{arguments}");
        assert_eq!(result.stderr, "", "{arguments}: it could come before the table");
        let csv = place.dyno(&format!("compare {arguments} --format csv")).exits(code);
        assert_eq!(csv.stderr.lines().last(), Some(last), "{arguments}: no line of the CSV");
        result
    };
    // 5 is 5 %, as 5% is.
    for share in ["5%", "5", "0.05"] {
        let slower = gate(
            &format!("old.json slow.json --fail-slower {share}"),
            1,
            "gate: 2 of 2 exceed time by more than 5 %",
        );
        slower
            .prints("sqlite:memory, test 2: +200.000 % time; 5 % is allowed")
            .prints("sqlite:memory: slower in 2 of 2 tests (2, 3), faster in 0 of 2");
    }
    gate("slow.json old.json --fail-slower 5%", 0, "gate: 0 of 2 exceed time by more than 5 %")
        .prints("faster");
    gate("old.json same.json --fail-slower 5%", 0, "gate: 0 of 2 exceed time by more than 5 %").prints("≈");
    let close = "gate: 0 of 2 exceed time by more than 0 %, 2 undecided (more trials or a quieter machine decide them)";
    gate("old.json same.json --fail-slower 0%", 5, close);
    let mut few = read_json(&place.path("slow.json"));
    few["trials"].as_array_mut().unwrap().retain(|trial| trial["block"].as_u64().unwrap() <= 2);
    place.write("few.json", &run_file(&few));
    // Three times as slow in both of two trials, which show nothing yet.
    let unknown = "gate: 0 of 2 exceed time by more than 5 %, 2 undecided (2 trials; take 6)";
    gate("old.json few.json --fail-slower 5%", 5, unknown).prints("too few samples in 2");
    gate("old.json few.json --gate time<=+5%", 5, unknown);
    // Neither run counted instructions: what was not compared does not pass.
    let idle = "gate: 0 of 2 exceed time by more than 5 %, or instructions by more than 1 %; undecided, because \
                there was nothing to compare in instructions";
    gate("old.json same.json --gate time<=+5%,instructions<=1%", 5, idle);
    for format in ["json", "csv", "markdown"] {
        place.dyno(&format!("compare old.json slow.json --format {format}")).exits(0).prints("slower");
    }
}

#[test]
fn a_gate_does_not_pass_what_is_not_measured_any_more() {
    let place = Place::new();
    let run = |rest: &str| place.dyno(&format!("{SMALL} --trials 1 --no-warm-up {rest}")).exits(0);
    run("--only 2,15 --with sqlite:memory,sqlite:memory,cache_size=-3000 -o both.json");
    run("--only 2,15 --with sqlite:memory -o one.json");
    run("--only 15 --with sqlite:memory,sqlite:memory,cache_size=-3000 -o short.json");
    let gate = |runs: &str, code: i32| place.dyno(&format!("compare {runs} --gate time<=+900%")).exits(code);
    gate("both.json one.json", 1)
        .prints("sqlite:memory,cache_size=-3000: only in the old run, so nothing holds it to a limit")
        .prints("gate: 1 of 3 exceed time by more than 900 %");
    gate("both.json short.json", 1).prints("test 2: only in the old run");
    // The old run has no figures of what is new, and one trial decides nothing.
    gate("one.json both.json", 5);
    gate("short.json both.json", 5);
}

#[test]
fn contenders_of_other_names_are_compared() {
    let place = Place::new();
    place.dyno(&format!("{SMALL} --trials 2 --only 15 --with sqlite,sqlite:wal -o run.json")).exits(0);
    place
        .dyno("compare run.json run.json --as sqlite=sqlite:wal")
        .exits(0)
        .prints("sqlite → sqlite:wal")
        .prints("only in the old run, and not compared: sqlite:wal (of the old run)");
    // Its place was taken on purpose, so that no limit holds for it; two trials decide nothing.
    place.dyno("compare run.json run.json --as sqlite=sqlite:wal --gate time<=+900%").exits(5);
    place
        .dyno("compare run.json run.json --as sqlite=lmdb")
        .exits(2)
        .says("'sqlite=lmdb' is not: the old run has sqlite, sqlite:wal, the new run sqlite, sqlite:wal");
}
