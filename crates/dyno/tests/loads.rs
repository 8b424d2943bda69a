//! Mixes whose rate changes over time, or that give a class clients to itself, on real engines.

use serde_json::Value;

use crate::clients::samples;
use crate::common::{Place, Result, read_json};

/// A suite whose mix has these keys and classes.
pub fn suite(keys: &str, classes: &str) -> String {
    format!(
        r#"name = "own"
title = "A mix"
story = ""
figure = "rate"
contenders = ["sqlite:wal"]
parameters.clients = {{ default = 4, about = "how many" }}
parameters.rate = {{ default = 0, min = 0, over_time = true, about = "how many a second" }}
[[test]]
id = "make"
title = "Make"
shows = "A table."
model = "statements"
prepares = true
statements = """
CREATE TABLE t(id INTEGER PRIMARY KEY, n INTEGER NOT NULL);
INSERT INTO t VALUES(1,0),(2,0),(3,0);
"""
[[test]]
id = "mix"
title = "Mix"
shows = "Classes."
model = "mix"
needs = ["make"]
clients = "clients"
rate = "rate"
{keys}
check = "SELECT count(*) FROM t WHERE n < 0"
expect = [[0]]
values.id = {{ from = 1, to = 3 }}
{classes}
"#
    )
}

pub const READ: &str = "[[test.class]]\nname = \"read\"\nstatements = \"SELECT n FROM t WHERE id = :id\"\n";
const WRITE: &str =
    "[[test.class]]\nname = \"write\"\nstatements = \"UPDATE t SET n = n + 1 WHERE id = :id\"\n";
const RUN: &str = "--trials 1 --no-warm-up --quiet -o run.jsonl";

/// Runs dyno with arguments that may have spaces in them.
fn run(place: &Place, arguments: &[&str]) -> Result {
    let mut command = place.command();
    command.arg("run").args(arguments).args(RUN.split_whitespace());
    command.output().unwrap().into()
}

/// The number of operations of a class that were done in each second, by contender.
fn by_second(run_file: &Value, class: usize) -> Vec<(String, Vec<u64>)> {
    let done = |tick: &Value| tick["classes"][class]["done"].as_u64().unwrap();
    let found = samples(run_file, "mix").into_iter();
    found
        .map(|(label, sample)| (label, sample["ticks"].as_array().unwrap().iter().map(done).collect()))
        .collect()
}

/// The samples of the mix but those of the null runner, which meets no error.
fn with_engines(run_file: &Value) -> impl Iterator<Item = (String, Value)> {
    samples(run_file, "mix").into_iter().filter(|(label, _)| label != "null")
}

#[test]
fn one_writer_writes_beside_readers() {
    let place = Place::in_memory();
    // A fixed number of operations per client, so that each class's count is known.
    let classes = format!("{READ}{WRITE}clients = 1\n");
    place.write("own.toml", &suite("count = 200", &classes));
    let with = "--with sqlite:wal,postgres,sqlite/sqlite3:wal,sqlite/mattn:wal";
    place.dyno(&format!("run ./own.toml {with} {RUN}")).exits(0).without_panic();
    let run_file = read_json(&place.path("run.jsonl"));
    let found = samples(&run_file, "mix");
    // The null runner does it too.
    assert_eq!(found.len(), 5);
    for (label, sample) in found {
        let done = |class: usize| sample["classes"][class]["done"].as_u64().unwrap();
        assert_eq!((done(0), done(1)), (600, 200), "{label}");
    }
    // Refused with the line: no client is left for another class, or operations arrive at any free client.
    place
        .dyno(&format!("run ./own.toml --clients 1 {RUN}"))
        .exits(2)
        .says("none is left for read: take --clients 2");
    place.write("own.toml", &suite("duration = 1", &classes));
    let refused = place.dyno(&format!("run ./own.toml --rate 50 {RUN}")).exits(2);
    refused.says("own.toml:").says("`clients` of write does not go with a `rate`");
    place.assert_clean();
}

#[test]
fn a_rate_and_weights_follow_their_course() {
    let place = Place::in_memory();
    let classes = format!("{READ}weight = \"0s 1, 2s 1, 2s 0\"\n{WRITE}weight = \"0s 0, 2s 0, 2s 1\"\n");
    place.write("own.toml", &suite("duration = 3", &classes));
    let rate = "0s 100, 1s 100, 1s 400";
    run(&place, &["./own.toml", "--rate", rate, "--with", "sqlite:wal,postgres"]).exits(0);
    let run_file = read_json(&place.path("run.jsonl"));
    assert_eq!(run_file["tests"][1]["clients"]["course"], rate);
    assert!((run_file["tests"][1]["clients"]["rate"].as_f64().unwrap() - 300.0).abs() < 0.01);
    for (label, sample) in samples(&run_file, "mix") {
        // Within five standard deviations of a Poisson process, however busy the machine is.
        assert!(sample["due"].as_u64().unwrap().abs_diff(900) < 150, "{label}: {sample}");
        let reads = sample["classes"][0]["done"].as_u64().unwrap();
        assert!((1..620).contains(&reads), "{label}: {reads}");
    }
    for (label, writes) in by_second(&run_file, 1) {
        assert!(writes[0] + writes[1] == 0 && writes[2] > 0, "{label}: {writes:?}");
    }
    // Without a rate no operation has a moment.
    let refused = place.dyno(&format!("run ./own.toml {RUN}")).exits(2);
    refused.says("own.toml:").says("changes over time, which needs a `rate`");
    run(&place, &["bank", "--rate", "0s 100, 5x 2"]).exits(2).says("'5x' is no time");
    place.assert_clean();
}

/// Engines and drivers of each language.
const ALL: &str = "--with sqlite:wal,postgres,mariadb,sqlite/sqlite3:wal,sqlite/mattn:wal,postgres/pgx,postgres/psycopg,\
     postgres/asyncpg";

/// A suite whose mix puts one row with these values for each operation, and checks them.
fn rows(values: &str, columns: &str, check: &str) -> String {
    let names: Vec<&str> = columns.split(", ").map(|column| column.split(' ').next().unwrap()).collect();
    let parameters: Vec<String> = names.iter().map(|name| format!(":{name}")).collect();
    format!(
        r#"name = "rows"
title = "Rows"
story = ""
figure = "rate"
contenders = ["sqlite:wal"]
[[test]]
id = "mix"
title = "Mix"
shows = "Values."
model = "mix"
setup = "CREATE TABLE t(k INTEGER NOT NULL, {columns})"
clients = 2
count = 100
check = "{check}"
expect = [[200, 0]]
[test.values]
k = {{ next = "put", from = 1 }}
{values}
[[test.class]]
name = "put"
statements = "INSERT INTO t VALUES(:k, {})"
"#,
        parameters.join(", ")
    )
}

#[test]
fn values_are_texts_dates_fractions_and_words() {
    let place = Place::in_memory();
    place.write("towns.csv", "town,people\nUlm,120000\n\"Bad Urach\",12000\n");
    let values = r#"name = { from = 1, to = 1000, as = "user-{}", distribution = { zipf = 1.2 } }
code = { from = 1, to = 99, as = "{06}", distribution = { gauss = 5 } }
day = { from = 2024-02-28, to = 2024-03-01, distribution = { exponential = 2 } }
price = { from = 0.5, to = 2.5, decimals = 2, distribution = "pareto" }
word = { words = ["a", "long word", "été"], distribution = { hot-spot = { numbers = 0.4, draws = 0.5, moves = 10 } } }
town = { words = { file = "towns.csv", column = "town" } }"#;
    let columns =
        "name VARCHAR(20), code VARCHAR(6), day DATE, price NUMERIC(6,2), word VARCHAR(20), town VARCHAR(20)";
    let bad = "name NOT LIKE 'user-%' OR length(name) > 9 OR length(code) <> 6 OR day < '2024-02-28' OR day > '2024-03-01' \
               OR price < 0.5 OR price > 2.5 OR word NOT IN ('a', 'long word', 'été') OR town NOT IN ('Ulm', 'Bad Urach')";
    let check = format!(
        "SELECT count(*), (SELECT count(*) FROM t WHERE {bad}) + (SELECT CASE WHEN count(DISTINCT day) = 3 AND \
         count(DISTINCT word) = 3 AND count(DISTINCT town) = 2 THEN 0 ELSE 1 END FROM t) FROM t"
    );
    place.write("rows.toml", &rows(values, columns, &check));
    place.dyno(&format!("run ./rows.toml {ALL} {RUN}")).exits(0).without_panic();
    // The run file has the words.
    std::fs::remove_file(place.path("towns.csv")).unwrap();
    place.dyno("rerun run.jsonl --quiet -o again.jsonl").exits(0).without_panic();
    place
        .dyno(&format!("run ./rows.toml {RUN}"))
        .exits(2)
        .says("rows.toml:23: test mix: `words` of town: cannot read");
    for (value, said) in [
        (
            "{ from = 1, to = 9, distribution = \"zpif\" }",
            "no distribution is called 'zpif'; did you mean zipf?",
        ),
        (
            "{ from = 1, to = 9, distribution = { gauss = -1 } }",
            "the number of the distribution gauss is from",
        ),
        ("{ from = 1, to = 9, as = \"user\" }", "with one {} or {08} in it"),
        ("{ words = [] }", "there are 1 to"),
        ("{ words = \"/etc/passwd\" }", "is no file next to the suite"),
        ("{ from = 2024-01-01, to = 9 }", "is not 2024-01-01"),
    ] {
        place.write("bad.toml", &rows(&format!("name = {value}"), "name VARCHAR(20)", "SELECT 1"));
        place.dyno(&format!("run ./bad.toml {RUN}")).exits(2).without_panic().says("bad.toml:18").says(said);
    }
    place.assert_clean();
}

/// A mix of one class, that inserts into a table with a unique key.
fn inserts(keys: &str, statements: &str, expect: &str) -> String {
    let text = rows(
        "n = { from = 1, to = 9 }\nlists.row = { count = 5, values.k = { next = \"put\", from = 1 } }",
        "n INTEGER NOT NULL, UNIQUE(k)",
        "SELECT count(*), 0 FROM t",
    );
    let text = text.replace("expect = [[200, 0]]", &format!("expect = [[{expect}, 0]]"));
    let text = text
        .replace("[test.values]\nk = { next = \"put\", from = 1 }\n", "")
        .replace("lists.row", "\n[test.lists]\nrow");
    let at = text.find("statements = ").unwrap();
    let text = format!("{}{keys}\nstatements = \"\"\"\n{statements}\n\"\"\"\n", &text[..at]);
    text.replace("n = { from", "[test.values]\nn = { from")
}

#[test]
fn one_insert_has_a_row_for_each_item() {
    let place = Place::in_memory();
    place.write("rows.toml", &inserts("", "INSERT INTO t(k, n) VALUES (:row.k, :n) for each row;", "1000"));
    place.dyno(&format!("run ./rows.toml {ALL} {RUN}")).exits(0).without_panic();
    place.write("bad.toml", &inserts("", "INSERT INTO t(k, n) VALUES (:row.k, :n) for each raw;", "1"));
    place.dyno(&format!("run ./bad.toml {RUN}")).exits(2).says("no list 'raw'; did you mean row?");
    place.assert_clean();
}

#[test]
fn errors_that_the_suite_ignores_are_counted_and_undo_the_operation() {
    let place = Place::in_memory();
    // Nine keys for two hundred inserts, each after one that is undone with it.
    let statements = "INSERT INTO t(k, n) VALUES (1000 + 1000 * :n, 1);\nINSERT INTO t(k, n) VALUES (:n, 2);";
    let ignore = "transaction = \"write\"\nignore = [\"2067\", \"23505\", \"1062\"]";
    place.write("rows.toml", &inserts(ignore, statements, "18"));
    let shown = place.dyno(&format!("run ./rows.toml {ALL} {RUN}")).exits(0).without_panic();
    let shown = shown.prints("191 of 200 operations ended with an error that the suite ignores");
    assert!(!shown.stdout.contains("as planned"), "{}", shown.stdout);
    let run_file = read_json(&place.path("run.jsonl"));
    for (label, sample) in with_engines(&run_file) {
        let class = &sample["classes"][0];
        let count = |key: &str| class[key].as_u64().unwrap_or_default();
        let counts = ["done", "undone", "ignored", "acknowledged"].map(count);
        assert_eq!(counts, [200, 191, 191, 9], "{label}");
    }
    // Another code still ends the trial.
    place.write("rows.toml", &inserts("transaction = \"write\"\nignore = [\"23503\"]", statements, "18"));
    place.dyno(&format!("run ./rows.toml --with sqlite:wal {RUN}")).exits(3).prints("UNIQUE");
    place.assert_clean();
}

#[test]
fn a_client_pauses_within_its_transaction_and_waits_as_long_as_its_patience() {
    let place = Place::in_memory();
    let statements = "UPDATE t SET n = n + 1;\npause 20ms;\nUPDATE t SET n = n - 1;";
    let text = inserts("transaction = \"write\"", statements, "0").replace("\ncount = 100", "\ncount = 5");
    place.write("rows.toml", &text);
    place.dyno(&format!("run ./rows.toml {ALL} {RUN}")).exits(0).without_panic();
    let run_file = read_json(&place.path("run.jsonl"));
    for (label, sample) in samples(&run_file, "mix") {
        // Each client does five, each of 20 ms at least.
        let section = sample["section"]["nanoseconds"].as_u64().unwrap();
        assert!(section >= 100_000_000, "{label}: {section}");
    }
    // Two write to a file that one at a time may write to, and wait less than the other pauses.
    let impatient = text.replace("\ncount = 5", "\ncount = 5\npatience = 0.001").replace("20ms", "300ms");
    place.write("rows.toml", &impatient);
    place
        .dyno(&format!("run ./rows.toml --with sqlite:wal,sqlite/mattn:wal,sqlite/sqlite3:wal {RUN}"))
        .exits(0);
    for (label, sample) in with_engines(&read_json(&place.path("run.jsonl"))) {
        assert!(sample["classes"][0]["failed"].as_u64().unwrap_or_default() > 0, "{label}");
    }
    place.write("rows.toml", &text.replace("pause 20ms", "pause 20"));
    place.dyno(&format!("run ./rows.toml {RUN}")).exits(2).says("'20' is no time").says("rows.toml:");
    place.assert_clean();
}

#[test]
fn how_long_operations_took_is_a_log_that_other_tools_read() {
    let place = Place::in_memory();
    place.write("own.toml", &suite("duration = 2", &format!("{READ}{WRITE}")));
    place.dyno(&format!("run ./own.toml --with sqlite:wal {RUN}")).exits(0);
    place.dyno("export run.jsonl -o run.hlog").exits(0).says("4 intervals are in");
    let log = std::fs::read_to_string(place.path("run.hlog")).unwrap();
    let lines: Vec<&str> = log.lines().filter(|line| line.starts_with("Tag=")).collect();
    let begins = |line: &&str| line.split(',').take(3).collect::<Vec<_>>().join(",");
    let expected = ["0.000", "1.000"]
        .map(|start| ["read", "write"].map(|class| format!("Tag=sqlite:wal/mix/{class},{start},1.000")));
    assert_eq!(lines.iter().map(begins).collect::<Vec<_>>(), expected.concat());
    // The histograms are those of the run file.
    let (_, sample) = with_engines(&read_json(&place.path("run.jsonl"))).next().unwrap();
    let kept = sample["ticks"][1]["classes"][0]["response"].as_str().unwrap();
    let histogram = |text: &str| dyno_protocol::Response(text.into()).histogram().unwrap().unwrap();
    assert_eq!(histogram(lines[2].rsplit(',').next().unwrap()), histogram(kept));
    place.assert_clean();
}
