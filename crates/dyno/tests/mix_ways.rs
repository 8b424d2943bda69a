//! Mixes whose statements are timed, are not prepared beforehand, or have a patience of their class, on real engines.

use crate::clients::samples;
use crate::common::{Place, read_json};
use crate::loads::{READ, suite};

const RUN: &str = "--trials 1 --no-warm-up --quiet -o run.jsonl";
/// A transaction of two statements.
const MOVE: &str = "[[test.class]]\nname = \"move\"\ntransaction = \"write\"\nstatements = \"\"\"\nUPDATE t SET n = n + 1 \
                    WHERE id = :id;\nSELECT n FROM t WHERE id = :id;\n\"\"\"\n";

#[test]
fn statements_are_timed_where_a_run_asks_for_it() {
    let place = Place::in_memory();
    place.write("own.toml", &suite("count = 50", &format!("{READ}{MOVE}")));
    let with =
        "--with sqlite:wal,postgres,sqlite/sqlite3:wal,sqlite/mattn:wal,sqlite:wal,processes=yes --clients 2";
    let shown = place.dyno(&format!("run ./own.toml {with} {RUN} --statements")).exits(0).without_panic();
    let shown = shown.prints("mix: sqlite:wal, move").prints("Each statement was timed (--statements)");
    assert!(shown.stdout.contains("UPDATE t SET n = n + 1 WHERE id = ?"), "{}", shown.stdout);
    for (label, sample) in samples(&read_json(&place.path("run.jsonl")), "mix") {
        let all = sample["classes"].as_array().unwrap().iter();
        let texts = |class: &serde_json::Value| {
            let statements = class["statements"].as_array().unwrap().iter();
            statements
                .map(|statement| {
                    let text = statement["response"].as_str().unwrap();
                    let times = dyno_protocol::Response(text.into()).histogram().unwrap().unwrap();
                    assert_eq!(times.len(), class["done"].as_u64().unwrap(), "{label}");
                    statement["text"].as_str().unwrap().to_owned()
                })
                .collect::<Vec<_>>()
        };
        let found: Vec<_> = all.map(texts).collect();
        let select = "SELECT n FROM t WHERE id = ?";
        let update = "UPDATE t SET n = n + 1 WHERE id = ?";
        assert_eq!(found, [vec![select], vec!["BEGIN", update, select, "COMMIT"]], "{label}");
    }
    place.dyno("export run.jsonl --latency -o classes.csv").exits(0);
    let rows = std::fs::read_to_string(place.path("classes.csv")).unwrap();
    // Of each of five contenders two classes and five statements.
    assert_eq!(rows.lines().filter(|line| line.contains(",BEGIN,")).count(), 5, "{rows}");
    assert_eq!(rows.lines().count(), 1 + 5 * 7, "{rows}");
    place.dyno("report run.jsonl -o page.html").exits(0);
    let page = std::fs::read_to_string(place.path("page.html")).unwrap();
    assert!(page.contains("How long each statement took"));
    // Another run that did not time them has none, and is not compared with it.
    std::fs::rename(place.path("run.jsonl"), place.path("timed.jsonl")).unwrap();
    place.dyno(&format!("run ./own.toml --with sqlite:wal --clients 2 {RUN}")).exits(0);
    for (label, sample) in samples(&read_json(&place.path("run.jsonl")), "mix") {
        assert!(sample["classes"][1]["statements"].is_null(), "{label}");
    }
    place.dyno("compare timed.jsonl run.jsonl").exits(2).says("timed each statement");
    place.dyno(&format!("run speedtest --statements --scale 0.01 {RUN}")).exits(2).says("--statements times");
    place.assert_clean();
}

#[test]
fn a_simple_class_prepares_nothing() {
    let place = Place::in_memory();
    // Each operation adds how often its session has prepared it.
    let class = "[[test.class]]\nname = \"look\"\nprotocol = \"simple\"\nstatements = \"UPDATE t SET n = n + (SELECT \
                 count(*) FROM pg_prepared_statements WHERE position('UPDATE t' IN statement) = 1) WHERE id = :id\"\n";
    let text = suite("count = 20", class).replace("WHERE n < 0", "WHERE n <> 0");
    place.write("own.toml", &text);
    let with = "--with postgres,postgres/pgx,postgres/pq,postgres/psycopg,postgres/asyncpg";
    place.dyno(&format!("run ./own.toml {with} {RUN}")).exits(0).without_panic();
    for contender in ["postgres", "postgres/pgx", "postgres/pq", "postgres/psycopg", "postgres/asyncpg"] {
        place.write("own.toml", &text.replace("protocol = \"simple\"\n", ""));
        let wrong = place.dyno(&format!("run ./own.toml --with {contender} {RUN}")).without_panic();
        assert_ne!(wrong.code, Some(0), "{contender}: {}", wrong.stdout);
    }
    place.assert_clean();
}

#[test]
fn simple_statements_get_the_values_that_prepared_ones_get() {
    let place = Place::in_memory();
    // A quote, a backslash, a percent sign, a question mark and a dollar sign, which drivers take for more than a letter.
    let class = "[[test.class]]\nname = \"put\"\nprotocol = \"simple\"\nstatements = \"INSERT INTO w(id, word, n) VALUES \
                 (:k, :word, 5 -:minus)\"\n[[test.class]]\nname = \"prepared\"\nstatements = \"INSERT INTO w(id, word, n) VALUES \
                 (:other, :word, 5 - :minus)\"\n";
    let text = suite("count = 30", class)
        .replace(
            "CREATE TABLE t(",
            "CREATE TABLE w(id INTEGER NOT NULL PRIMARY KEY, word VARCHAR(40) NOT NULL, n INTEGER NOT NULL);\nCREATE TABLE t(",
        )
        .replace(
            "values.id = { from = 1, to = 3 }",
            "values.k = { next = \"put\", from = 1 }\nvalues.other = { next = \"prepared\", from = 10000 }\n\
             values.minus = { from = -3, to = -3 }\nvalues.word = { from = 1, to = 9, as = 'o''\\%s?$1{}' }",
        )
        .replace("'o''\\%s?$1{}'", "\"o'\\\\%s?$1{}\"")
        .replace(
            "SELECT count(*) FROM t WHERE n < 0",
            "SELECT count(*) FROM w WHERE n <> 8 OR length(word) <> 9 OR substr(word, 2, 1) <> '''' OR \
             substr(word, 4, 5) <> '%s?$1'",
        );
    place.write("own.toml", &text);
    let with = "--with sqlite:wal,sqlite/mattn:wal,sqlite/modernc:wal,sqlite/gosqlite:wal,sqlite/apsw:wal,postgres,\
                postgres/pgx,postgres/pq,postgres/psycopg,postgres/asyncpg,mariadb,mariadb/go-sql-driver,mariadb/pymysql,\
                mariadb/mysqlclient,mariadb/sqlalchemy";
    place.dyno(&format!("run ./own.toml {with} {RUN}")).exits(0).without_panic();
    let refused = place.dyno(&format!("run ./own.toml --with sqlite/sqlite3:wal {RUN}")).exits(2);
    refused.says("class put of test mix has the protocol \"simple\"");
    place.write("own.toml", &text.replace("\"simple\"", "\"simpel\""));
    place.dyno(&format!("run ./own.toml {RUN}")).exits(2).says("own.toml:").says("simpel");
    place.assert_clean();
}

#[test]
fn a_class_waits_as_long_as_its_own_patience() {
    let place = Place::in_memory();
    // One client holds the lock of the file most of the time; of those that wait for it only one class gives up.
    let class = |name: &str, keys: &str, pause: &str| {
        format!(
            "[[test.class]]\nname = \"{name}\"\n{keys}transaction = \"write\"\nstatements = \"\"\"\nUPDATE t SET n = n + 1;\n\
             {pause}\n\"\"\"\n"
        )
    };
    let holder = class("holder", "clients = 1\n", "pause 300ms;");
    let hasty = class("hasty", "clients = 1\npatience = 0.001\n", "");
    let patient = class("patient", "clients = 1\npatience = 60\n", "");
    place.write("own.toml", &suite("count = 8\nthink = 0.05", &format!("{holder}{hasty}{patient}")));
    let with = "--with sqlite:wal,sqlite/mattn:wal,sqlite/gosqlite:wal,sqlite/sqlite3:wal --clients 3";
    place.dyno(&format!("run ./own.toml {with} {RUN}")).exits(0).without_panic();
    for (label, sample) in samples(&read_json(&place.path("run.jsonl")), "mix") {
        let failed = |class: usize| sample["classes"][class]["failed"].as_u64().unwrap_or_default();
        assert_eq!(failed(2), 0, "{label}");
        assert!(label == "null" || failed(1) > 0, "{label}");
    }
    place.write("own.toml", &suite("count = 8", &class("hasty", "patience = 0\n", "")));
    place.dyno(&format!("run ./own.toml {RUN}")).exits(2).says("`patience` is more than 0 seconds");
    place.assert_clean();
}

/// A runner that does not know a class's patience would repeat operations for as long as the mix says, and report that.
#[test]
fn a_runner_with_one_patience_for_all_gets_no_class_with_its_own() {
    let place = Place::with_runner("exit 1");
    let class = READ.replace("name = \"read\"\n", "name = \"read\"\npatience = 0.5\n");
    assert_ne!(class, READ);
    place.write("own.toml", &suite("count = 8", &class));
    let description = place.path("home/runners/sqlite/runner.toml");
    let known = std::fs::read_to_string(&description).unwrap();
    std::fs::write(&description, known.replace("class_patience = true\n", "")).unwrap();
    let refused = place.dyno(&format!("run ./own.toml --with sqlite:wal {RUN}")).exits(2);
    refused.says(
        "class read of test mix has its own `patience`, and the runner sqlite of sqlite:wal has one for all",
    );
    place.write("own.toml", &suite("count = 8", READ));
    place.dyno(&format!("run ./own.toml --with sqlite:wal {RUN}")).exits(0);
}
