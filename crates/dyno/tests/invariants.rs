//! The invariants of a mix: a message about a broken one names it, and has the value that came.

use crate::common::{Place, Result, read_json};
use crate::loads::{READ, suite};

/// A check as the suites of these tests have it, in whose place invariants stand.
const CHECK: &str = "check = \"SELECT count(*) FROM t WHERE n < 0\"\nexpect = [[0]]\n";

/// A suite with these invariants, each in words and with its query.
fn with_invariants(invariants: &[(&str, &str)]) -> String {
    let text = suite("count = 5", READ);
    let one = |(says, query): &(&str, &str)| {
        format!("[[test.invariant]]\nsays = \"{says}\"\nquery = \"{query}\"\n")
    };
    let invariants: String = invariants.iter().map(one).collect();
    let without = text.replace(CHECK, "");
    assert_ne!(without, text);
    without + &invariants
}

/// The line, from 1, of a suite in which an invariant says this.
fn line_of(suite: &str, says: &str) -> usize {
    1 + suite.lines().position(|line| line == format!("says = \"{says}\"")).unwrap()
}

fn run(place: &Place, with: &str) -> Result {
    place.dyno(&format!("run ./own.toml --trials 1 --no-warm-up --quiet --with {with} -o run.jsonl"))
}

#[test]
fn an_invariant_whose_query_fails_is_named_by_every_driver() {
    let place = Place::in_memory();
    let count = "SELECT count(*) FROM t WHERE";
    let (holds, fails) = (format!("{count} n < 0"), format!("{count} nowhere < 0"));
    let text = with_invariants(&[("no n is negative", &holds), ("it is nowhere", &fails)]);
    place.write("own.toml", &text);
    let with = ["sqlite:wal", "postgres", "sqlite/sqlite3:wal", "sqlite/mattn:wal"];
    run(&place, &with.join(",")).exits(3).without_panic();
    let record = read_json(&place.path("run.jsonl"));
    let trials = record["trials"].as_array().unwrap();
    let line = line_of(&text, "it is nowhere");
    let name = format!("the invariant \"it is nowhere\" (./own.toml:{line}: test mix)");
    let failures = trials.iter().filter_map(|trial| trial["failure"]["message"].as_str());
    let failures: Vec<&str> = failures.collect();
    assert_eq!(failures.len(), with.len(), "{failures:?}");
    for failure in failures {
        assert!(failure.contains(&name) && failure.contains(&fails), "{failure}");
        // The query that holds has no part in it.
        assert!(!failure.contains("no n is negative") && !failure.contains("UNION"), "{failure}");
    }
    place.assert_clean();
}

#[test]
fn an_invariant_that_is_broken_is_reported_with_its_line_and_the_value_that_came() {
    let place = Place::in_memory();
    let all = [
        ("one row", "SELECT 1"),
        ("some rows", "SELECT count(*) FROM t"),
        ("a null", "SELECT NULL"),
        ("a text", "SELECT 'seven'"),
        ("less than nothing", "SELECT -3"),
        ("what holds", "SELECT 0"),
    ];
    let text = with_invariants(&all);
    place.write("own.toml", &text);
    let result = run(&place, "sqlite:wal").exits(3).without_panic();
    let came = [
        ("one row", "1 row broke it"),
        ("some rows", "up to 3 rows broke it"),
        ("a null", "its query returned NULL after 1 of them, which is no number of rows"),
        ("a text", "its query returned 'seven' after 1 of them, which is no number of rows"),
        ("less than nothing", "its query returned -3 after 1 of them, which is no number of rows"),
    ];
    let shown = result.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for (says, how) in came {
        let line = line_of(&text, says);
        let note = format!("\"{says}\" (line {line} of the suite) did not hold after 1 of 1 trials; {how}.");
        assert!(shown.contains(&note), "{note}\n{shown}");
    }
    assert!(!shown.contains("\"what holds\"") && !shown.contains("up to 0 rows"), "{shown}");
    let verdict = place.dyno("show run.jsonl --format json").exits(3).json();
    let line = &verdict["verdict"]["invariants"][0]["lines"][0][1];
    assert_eq!((&line[2]["came"], &line[2]["unknown"]), (&serde_json::Value::Null, &1.into()));
    assert_eq!((&line[3]["came"], &line[4]["came"]), (&"seven".into(), &(-3).into()));
}
