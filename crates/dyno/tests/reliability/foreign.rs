//! A server at a URL belongs to others: what dyno has not made is the same afterwards, by a dump of all of it.

use std::process::Command;

use crate::common::Place;
use crate::engines::Running;

const QUICK: &str = "--trials 1 --no-warm-up --quiet";

/// Databases, schemas, tables, roles and data of others, with names near to dyno's own.
const POSTGRES: &str = "
    CREATE ROLE ann LOGIN PASSWORD 'x' CONNECTION LIMIT 7; ALTER ROLE ann SET work_mem = '5MB';
    CREATE TABLE dyno_scratch_notes (n int PRIMARY KEY, text text);
    INSERT INTO dyno_scratch_notes SELECT n, md5(n::text) FROM generate_series(1, 5000) n;
    CREATE SCHEMA accounts AUTHORIZATION ann; CREATE TABLE accounts.t (a int, b text);
    INSERT INTO accounts.t VALUES (1, 'one'), (2, NULL);
    CREATE VIEW accounts.v AS SELECT count(*) FROM accounts.t; CREATE SEQUENCE accounts.s START 40;
    SELECT nextval('accounts.s'); GRANT SELECT ON accounts.t TO PUBLIC;
    CREATE TABLE t (a int CHECK (a > 0)); INSERT INTO t VALUES (7);
    ALTER SYSTEM SET log_min_duration_statement = '9s'";
const MARIADB: &str = "
    CREATE DATABASE accounts; CREATE DATABASE `dyno-notes`; CREATE USER ann@localhost IDENTIFIED BY 'x';
    GRANT SELECT ON accounts.* TO ann@localhost;
    CREATE TABLE accounts.t (a int PRIMARY KEY AUTO_INCREMENT, b text); INSERT INTO accounts.t VALUES (7, 'seven');
    CREATE TABLE `dyno-notes`.notes (n int PRIMARY KEY, t text) ENGINE=Aria;
    INSERT INTO `dyno-notes`.notes SELECT seq, md5(seq) FROM accounts.seq_1_to_5000;
    CREATE VIEW accounts.v AS SELECT count(*) FROM accounts.t;
    CREATE TRIGGER accounts.g BEFORE INSERT ON accounts.t FOR EACH ROW SET NEW.b = upper(NEW.b);
    SET GLOBAL max_connections = 77";

/// All that is on a server: a dump, and settings.
fn everything(engine: &str, server: &Running) -> String {
    let (host, port, user) = server.reach();
    let (mut command, settings) = match engine {
        "postgres" => {
            let mut command = Command::new("pg_dumpall");
            command.args(["-h", &host, "-p", &port.to_string(), "-U", &user]);
            (
                command,
                "SELECT name, setting FROM pg_settings WHERE source <> 'client' AND name NOT IN ('transaction_isolation') ORDER BY name",
            )
        }
        _ => {
            let mut command = Command::new("mariadb-dump");
            command.args([
                "--no-defaults",
                "-u",
                &user,
                "-S",
                &host,
                "--all-databases",
                "--routines",
                "--events",
            ]);
            // The server keeps its statistics of tables there.
            let own = ["innodb_table_stats", "innodb_index_stats"]
                .map(|name| format!("--ignore-table=mysql.{name}"));
            command.args(["--skip-comments", "--triggers", "--order-by-primary"]).args(own);
            (
                command,
                "SHOW GLOBAL VARIABLES WHERE variable_name NOT LIKE 'gtid%' AND variable_name NOT LIKE '%timestamp%'",
            )
        }
    };
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let dump = String::from_utf8_lossy(&output.stdout).into_owned();
    // A word that psql wants anew in each dump.
    let lines =
        dump.lines().filter(|line| !line.starts_with("\\restrict") && !line.starts_with("\\unrestrict"));
    let dump = lines.collect::<Vec<_>>().join("\n");
    assert!(dump.contains("accounts"), "{dump}");
    format!("{dump}\n{}", server.execute(settings))
}

fn url(engine: &str, server: &Running) -> String {
    let (host, port, user) = server.reach();
    match engine {
        "postgres" => format!("postgres://{user}@/postgres?host={host}&port={port}"),
        _ => format!("mariadb://{user}@/accounts?socket={host}"),
    }
}

/// Lines that one text has and the other has not.
fn difference(before: &str, after: &str) -> Vec<String> {
    let lacks = |text: &str, line: &str| !text.lines().any(|other| other == line);
    let gone = before.lines().filter(|line| lacks(after, line)).map(|line| format!("- {line}"));
    let come = after.lines().filter(|line| lacks(before, line)).map(|line| format!("+ {line}"));
    gone.chain(come).collect()
}

#[test]
fn what_dyno_has_not_made_on_a_server_is_the_same_afterwards() {
    let place = Place::new();
    place.write("good.csv", "a,b\n1,x\n2,y\n");
    place.write("bad.csv", "a,b\n1,x\n2,y,z\n");
    for (engine, foreign) in [("postgres", POSTGRES), ("mariadb", MARIADB)] {
        let server = Running::start(engine);
        for statement in foreign.split(';') {
            server.execute(statement);
        }
        let (url, before) = (url(engine, &server), everything(engine, &server));
        let same = |what: &str| {
            let after = everything(engine, &server);
            assert!(after == before, "{engine}, {what}: {:#?}", difference(&before, &after));
        };
        place.dyno(&format!("run speedtest --scale 0.02 {QUICK} -o {engine}.jsonl --url {url}")).exits(0);
        same("run");
        place.dyno(&format!("rerun {engine}.jsonl --trust --quiet -o again.jsonl")).exits(0);
        same("rerun");
        let bank = "bank --set accounts=50 --set warm_up=0.1 --duration 0.3s --clients 4";
        place.dyno(&format!("run {bank} {QUICK} -o bank.jsonl --url {url}")).exits(0);
        same("clients");
        // A table of that name is there; a row has too many fields; a row does not fit the table.
        for import in ["good.csv --table t", "bad.csv --table fresh", "bad.csv --table t --append"] {
            let result = place.dyno(&format!("import {import} --header --into {url}")).without_panic();
            assert!(!matches!(result.code, Some(0 | 3)), "{import}: {}", result.stdout);
            same(import);
        }
        place.dyno(&format!("import good.csv --header --table fresh --into {url}")).exits(0);
        server.execute(if engine == "postgres" { "DROP TABLE fresh" } else { "DROP TABLE accounts.fresh" });
        same("import");
    }
    place.assert_clean();
}
