//! The suites of rows and of keys and values, as a person runs them, on real engines at a small scale.

use crate::common::Place;

/// Asserts that every contender gave the right answer in every test that it does.
fn all_right(run: &serde_json::Value, verdict: &serde_json::Value) {
    let contenders = run["contenders"].as_array().unwrap();
    for test in verdict["tests"].as_array().unwrap() {
        for cell in test["cells"].as_array().unwrap() {
            let label = &contenders[cell["contender"].as_u64().unwrap() as usize]["label"];
            assert_eq!(cell["standing"]["standing"], "counts", "{label} in {}", test["id"]);
        }
    }
}

#[test]
fn rows_are_loaded_by_sqlite_and_servers_alike() {
    let place = Place::new();
    let with = "sqlite,sqlite/c+multirow,postgres,postgres/rust+insert,mariadb,mariadb/rust+multirow";
    let run = format!("run intuition --rows 2K --trials 1 --no-warm-up --quiet --with {with} -o run.json");
    let result = place.dyno(&run).exits(0).without_panic();
    let result = result.prints("rows/s").prints("Insert 2000 rows of 3 × 8 bytes").prints("power-loss");
    let widest = result.stdout.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(widest <= 100, "{widest} columns:\n{}", result.stdout);
    let record = crate::common::read_json(&place.path("run.json"));
    // The truth is known beforehand: the count, and a row of the table.
    assert_eq!(record["tests"][0]["expect"][0][0], 2000);
    // Some rows have equal cells: a scan that compares nothing finds them all.
    let differing = record["tests"][2]["expect"][0][0].as_u64().unwrap();
    assert!((1900..2000).contains(&differing), "{differing}");
    let verdict = place.dyno("show run.json --format json").exits(0).json();
    let shown = &verdict["verdict"];
    let lacking = |cell: &&serde_json::Value| cell["standing"]["standing"] == "not-applicable";
    for test in shown["tests"].as_array().unwrap() {
        let cells = test["cells"].as_array().unwrap();
        let inserts = test["id"].as_str().unwrap().starts_with("insert");
        // Variants of servers' runners are ways of bulk loading, and prepared inserts are not.
        assert_eq!(cells.iter().filter(lacking).count(), if inserts { 2 } else { 0 }, "{test}");
        assert!(
            cells.iter().all(|cell| lacking(&cell) || cell["standing"]["standing"] == "counts"),
            "{test}"
        );
    }
    place.dyno("show run.json --tax").exits(0).prints("over sqlite").prints("over postgres");
    place.dyno("show run.json --published").exits(0).prints("PostgreSQL, pgx").prints("other hardware");
    place.assert_clean();
}

#[test]
fn a_store_keeps_what_it_is_given_in_every_configuration() {
    let place = Place::new();
    let with = "sqlite:transient,sqlite:persistent,sqlite:transactional,sqlite:per-commit,\
                sqlite/c+without-rowid:persistent";
    let run = format!(
        "run kv --n 600 --trials 1 --no-warm-up --cache 4MiB --latency --notes --quiet --with {with} -o run.json"
    );
    let result = place.dyno(&run).exits(0).without_panic();
    let result =
        result.prints("p99.9").prints("the null runner shows").prints("cache_size=-4096").prints("~");
    let result = result.prints("cache 4.00 MiB").prints("settle: work that insert-int, insert-blob deferred");
    assert!(!result.stdout.contains("wrong"), "{}", result.stdout);
    let record = crate::common::read_json(&place.path("run.json"));
    let verdict = place.dyno("show run.json --format json").exits(0).json();
    all_right(&record, &verdict["verdict"]);
    owes(&verdict["verdict"]["debts"]);
    let csv = place.dyno("show run.json --format csv").exits(0).stdout;
    let settled = csv.lines().filter(|line| line.contains(",139200,")).count();
    assert_eq!((settled, csv.contains("settled_share")), (5, true), "{csv}");
    let page = place.dyno("show run.json --format markdown").exits(0);
    page.prints("Deferred work (settle)").prints("times the input");
    let trials = record["trials"].as_array().unwrap();
    let samples = trials.iter().flat_map(|trial| trial["samples"].as_array().unwrap());
    let cut = samples.filter(|sample| sample["extrapolated_to"] == 600).count();
    // Four tests that write, of one contender that commits each, in four trials.
    assert_eq!(cut, 4 * 4);
    place.assert_clean();
}

/// Deferred work is reported for every contender, and its bytes where all writes were timed.
fn owes(debts: &serde_json::Value) {
    let [first, second] = &debts.as_array().unwrap()[..] else { panic!("{debts}") };
    assert_eq!((&first["test"], &second["test"]), (&"settle".into(), &"settle-again".into()));
    // Keys of 8 and of 24 bytes with values of 100; then 24 and 100 overwritten, and 24 deleted.
    assert_eq!(
        (first["input_bytes"].as_u64(), second["input_bytes"].as_u64()),
        (Some(600 * 232), Some(600 * 148))
    );
    for debt in [first, second] {
        let lines = debt["lines"].as_array().unwrap();
        let whole = lines.iter().filter(|line| line.get("written_bytes").is_some()).count();
        assert_eq!((lines.len(), whole), (5, 4), "{debt}");
        assert!(lines.iter().all(|line| line["settle_ns"].as_f64() > Some(0.0)), "{debt}");
    }
}

#[test]
fn sizes_stand_side_by_side() {
    let place = Place::new();
    let run = "run kv --n 200,400 --trials 1 --quiet --with sqlite:transient,sqlite:persistent -o at.json";
    place.dyno(run).exits(0).prints("n=200").prints("n=400").prints("select-blob");
    let again = place.dyno("scaling at.n400.json at.n200.json").exits(0);
    let again = again.prints("n=200").prints("sqlite:persistent");
    assert!(again.stdout.find("n=200").unwrap() < again.stdout.find("n=400").unwrap());
    let csv = place.dyno("scaling at.n200.json at.n400.json --format csv").exits(0);
    // Fifteen tests, two contenders, two sizes, and a header.
    assert_eq!(csv.stdout.lines().count(), 15 * 2 * 2 + 1, "{}", csv.stdout);
    place.dyno("scaling at.n200.json at.n200.json").exits(2).says("differ in no parameter");
}

#[test]
fn what_cannot_be_run_is_reported() {
    let place = Place::new();
    place.dyno("run kv --with postgres").exits(2).says("implements none of the models kv-put");
    place.dyno("run intuition --rows 0").exits(2).says("parameter rows is 0; the least allowed is 1");
    place.dyno("run intuition --rows ten").exits(2).says("takes a number, and 'ten' is not one");
    place.dyno("run intuition --rows 9000000G --with sqlite").exits(2).says("do not fit into");
    place.dyno("run kv --cache big").exits(2).says("write a size like 64MiB");
    place
        .dyno("run kv --with lmdb --cache 1MiB")
        .exits(2)
        .says("lmdb has no setting for the size of a cache");
    place.dyno("run kv --with sqlite,per_commit=0").exits(2).says("per_commit is a number of operations");
    place.dyno("run kv --with sqlite/c+fast").exits(2).says("has no variant 'fast'; it has insert, multirow");
    place.dyno("run intuition --with postgres --memory 64MiB").exits(2).says("its server's");
    place.assert_clean();
}

#[test]
fn memory_is_limited_where_a_control_group_can_be_made() {
    let place = Place::new();
    let run = "run kv --n 300 --trials 1 --quiet --with sqlite:memory --only insert-int --memory";
    let result = place.dyno(&format!("{run} 32MiB"));
    if result.stderr.contains("control group") {
        eprintln!("not tried: {}", result.stderr);
        return;
    }
    result.exits(0);
    // Not enough for the database: the kernel ends the runner, and it is said why.
    let large = run.replace("--n 300", "--n 400K");
    place.dyno(&format!("{large} 6MiB")).exits(3).prints("--memory allows");
    place.assert_clean();
}

#[test]
fn a_suite_of_arrays_with_a_mistake_names_its_line() {
    let place = Place::new();
    let head = "name = \"x\"\ntitle = \"X\"\nstory = \"\"\ncontenders = [\"sqlite\"]\n";
    let test = "[[test]]\nid = \"1\"\ntitle = \"T\"\nshows = \"\"\n";
    let says = |body: &str, words: &str| {
        place.write("x.toml", &format!("{head}{body}"));
        place.dyno("run ./x.toml").exits(2).without_panic().says(words);
    };
    let pairs = "[data.d]\ncount = 5\nkey = \"integer\"\nvalue_bytes = 10\n";
    says(&format!("{test}model = \"kv-get\"\n"), "x.toml:7: test 1: the model kv-get needs `data`");
    says(&format!("{test}model = \"kv-get\"\ndata = \"d\"\n"), "x.toml:7: test 1: there are no [data.d]");
    let load = format!("{test}model = \"bulk-load\"\ndata = \"d\"\ntable = \"t\"\n");
    says(&format!("{pairs}{load}"), "the model bulk-load takes other data than d");
    says("[data.d]\ncount = 5\ncolumns = 3\n", "x.toml:5: data are rows, with `columns` and `bytes`");
    let get = format!("{test}model = \"kv-get\"\ndata = \"d\"\nlength = 3\n");
    says(&format!("{pairs}{get}"), "the model kv-get takes no `length`");
}

#[test]
fn a_mean_over_a_store_with_another_cache_is_no_price_of_safety() {
    let place = Place::new();
    let run = "run kv --n 100 --only insert-int,select-int --with lmdb,redb --trials 1 --no-warm-up --quiet";
    let shown = place.dyno(run).exits(0).without_panic();
    let shown = shown.prints("‡ has a cache of another size than lmdb: dyno does not rank the two");
    assert!(!shown.stdout.contains("safer or less safe"), "{}", shown.stdout);
    place.assert_clean();
}
