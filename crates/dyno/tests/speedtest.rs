//! The fifteen tests: the page's own literals, and a whole run on the real SQLite.

use std::collections::BTreeSet;

use dyno_suite::Suite;

use crate::common::{Place, repository};

fn suite() -> Suite {
    let dialects =
        BTreeSet::from(["sqlite", "postgres", "mysql", "duckdb", "h2", "hsqldb", "derby"].map(String::from));
    Suite::load(&repository().join("suites/speedtest.toml"), &dialects).unwrap()
}

fn rendered() -> Vec<Vec<String>> {
    let suite = suite();
    let parameters = dyno_suite::resolve(&suite.parameters, &[]).unwrap();
    suite.render(&parameters, "sqlite").unwrap().into_iter().map(|test| test.statements).collect()
}

#[test]
fn every_literal_printed_on_the_page_matches() {
    let tests = rendered();
    let insert = |table: &str, row: &str| format!("INSERT INTO {table} VALUES({row})");
    let expected = [
        (1, 1, insert("t1", "1,13153,'thirteen thousand one hundred fifty three'")),
        (1, 2, insert("t1", "2,75560,'seventy five thousand five hundred sixty'")),
        (1, 998, insert("t1", "998,66289,'sixty six thousand two hundred eighty nine'")),
        (1, 999, insert("t1", "999,24322,'twenty four thousand three hundred twenty two'")),
        (1, 1000, insert("t1", "1000,94142,'ninety four thousand one hundred forty two'")),
        (2, 0, "BEGIN".into()),
        (2, 1, "CREATE TABLE t2(a INTEGER, b INTEGER, c VARCHAR(100))".into()),
        (2, 2, insert("t2", "1,298361,'two hundred ninety eight thousand three hundred sixty one'")),
        (
            2,
            25000,
            insert("t2", "24999,447847,'four hundred forty seven thousand eight hundred forty seven'"),
        ),
        (2, 25001, insert("t2", "25000,473330,'four hundred seventy three thousand three hundred thirty'")),
        (2, 25002, "COMMIT".into()),
        (3, 0, "SELECT count(*), avg(b) FROM t2 WHERE b>=0 AND b<1000".into()),
        (3, 99, "SELECT count(*), avg(b) FROM t2 WHERE b>=9900 AND b<10900".into()),
        (4, 0, "SELECT count(*), avg(b) FROM t2 WHERE c LIKE '%one%'".into()),
        (4, 98, "SELECT count(*), avg(b) FROM t2 WHERE c LIKE '%ninety nine%'".into()),
        (4, 99, "SELECT count(*), avg(b) FROM t2 WHERE c LIKE '%one hundred%'".into()),
        (5, 0, "CREATE INDEX i2a ON t2(a)".into()),
        (5, 1, "CREATE INDEX i2b ON t2(b)".into()),
        (6, 0, "SELECT count(*), avg(b) FROM t2 WHERE b>=0 AND b<100".into()),
        (6, 4999, "SELECT count(*), avg(b) FROM t2 WHERE b>=499900 AND b<500000".into()),
        (7, 1, "UPDATE t1 SET b=b*2 WHERE a>=0 AND a<10".into()),
        (7, 1000, "UPDATE t1 SET b=b*2 WHERE a>=9990 AND a<10000".into()),
        (8, 1, "UPDATE t2 SET b=271822 WHERE a=1".into()),
        (8, 2, "UPDATE t2 SET b=28304 WHERE a=2".into()),
        (8, 24999, "UPDATE t2 SET b=442549 WHERE a=24999".into()),
        (8, 25000, "UPDATE t2 SET b=423958 WHERE a=25000".into()),
        (9, 1, "UPDATE t2 SET c='four hundred sixty eight thousand twenty six' WHERE a=1".into()),
        (
            9,
            2,
            "UPDATE t2 SET c='one hundred twenty one thousand nine hundred twenty eight' WHERE a=2".into(),
        ),
        (9, 24999, "UPDATE t2 SET c='thirty five thousand sixty five' WHERE a=24999".into()),
        (
            9,
            25000,
            "UPDATE t2 SET c='three hundred forty seven thousand three hundred ninety three' WHERE a=25000"
                .into(),
        ),
        (10, 1, "INSERT INTO t1 SELECT * FROM t2".into()),
        (10, 2, "INSERT INTO t2 SELECT * FROM t1".into()),
        (11, 0, "DELETE FROM t2 WHERE c LIKE '%fifty%'".into()),
        (12, 0, "DELETE FROM t2 WHERE a>10 AND a<20000".into()),
        (13, 0, "INSERT INTO t2 SELECT * FROM t1".into()),
        (14, 1, "DELETE FROM t1".into()),
        (14, 2, insert("t1", "1,29676,'twenty nine thousand six hundred seventy six'")),
        (14, 3000, insert("t1", "2999,37835,'thirty seven thousand eight hundred thirty five'")),
        (14, 3001, insert("t1", "3000,97817,'ninety seven thousand eight hundred seventeen'")),
        (15, 0, "DROP TABLE t1".into()),
        (15, 1, "DROP TABLE t2".into()),
    ];
    for (test, statement, text) in expected {
        assert_eq!(tests[test - 1][statement], text, "test {test}, statement {statement}");
    }
    let counts: Vec<usize> = tests.iter().map(Vec::len).collect();
    assert_eq!(counts, [1001, 25003, 100, 100, 2, 5000, 1002, 25002, 25002, 4, 1, 1, 1, 3003, 2]);
}

#[test]
fn scale_multiplies_rows_and_ranges() {
    let suite = suite();
    let parameters = dyno_suite::resolve(&suite.parameters, &[("scale".into(), "0.1".into())]).unwrap();
    let tests = suite.render(&parameters, "sqlite").unwrap();
    assert_eq!(tests[1].statements.len(), 2503);
    assert_eq!(tests[1].title, "2500 INSERTs in a transaction");
    assert_eq!(tests[2].statements[99], "SELECT count(*), avg(b) FROM t2 WHERE b>=990 AND b<1090");
}

#[test]
fn the_whole_suite_runs_on_sqlite() {
    let place = Place::new();
    let contenders = "sqlite,sqlite:nosync,sqlite:wal,sqlite@system,sqlite:memory,sqlite:tuned";
    let verdict = place
        .dyno(&format!("run speedtest --with {contenders} --trials 1 --no-warm-up --quiet --format json"))
        .exits(0)
        .json();
    place.assert_clean();
    assert_eq!(verdict["verdict"]["tests"].as_array().unwrap().len(), 15);
    let run = place.run_file();
    // Known answers of a correct run: t2 after test 2, and both tables after test 14.
    let answer = |test: &str| {
        // Of the first contender, whose trial may follow others.
        let trials = run["trials"].as_array().unwrap();
        let trial = trials.iter().find(|trial| trial["contender"] == 0).unwrap();
        let samples = trial["samples"].as_array().unwrap();
        let sample = samples.iter().find(|sample| sample["test"] == test).unwrap();
        run["answers"][sample["answer"].as_u64().unwrap() as usize]["kept"][0].clone()
    };
    assert_eq!(answer("2"), serde_json::json!([25000, 312_512_500, 6_242_727_547_i64, 1_259_359]));
    assert_eq!(answer("14")[2], 34105);
    assert_eq!(answer("14")[3], 8_427_332_432_i64);
    let level = |index: usize| run["contenders"][index]["safety"]["level"].clone();
    let levels: Vec<_> = (0..6).map(level).collect();
    assert_eq!(levels, ["power-loss", "process-crash", "power-loss", "power-loss", "none", "power-loss"]);
    // The bundled library and the system's are two libraries.
    let id = |index: usize| run["contenders"][index]["hello"]["build"]["source_id"].clone();
    assert!(id(0) != id(3), "one library was measured as two: {}", id(0));
}

/// Each of the fifteen has a right answer that no engine gave, so a majority of wrong builds decides nothing. That of test 6
/// is a digest: five thousand rows.
#[test]
fn every_test_has_a_right_answer_and_a_wrong_one_shows() {
    let place = Place::new();
    let with = "--with sqlite:memory --trials 1 --no-warm-up --quiet -o run.jsonl";
    place.dyno(&format!("run speedtest {with}")).exits(0);
    let mut run = dyno_record::load(&place.path("run.jsonl")).unwrap();
    for test in &run.tests {
        assert!(test.expect.is_some() != test.expect_digest.is_some(), "{}", test.id);
    }
    let counts = |run: &dyno_record::Run| {
        let verdict = dyno_verdict::judge(run);
        verdict.tests.iter().map(|test| test.cells[0].counts()).collect::<Vec<_>>()
    };
    assert_eq!(counts(&run), [true; 15]);
    // One count of the five thousand, beyond the rows that are kept, and then one average.
    let sixth = &mut run.tests[5];
    let right = sixth.expect_digest.clone().unwrap();
    sixth.expect_digest.as_mut().unwrap().columns[0].integer_hash ^= 1;
    assert!(!counts(&run)[5]);
    let wrong = run.tests[5].expect_digest.insert(right);
    wrong.columns[1].chunks[19].sum += 1e4;
    assert!(!counts(&run)[5]);
}
