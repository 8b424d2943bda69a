//! Tables that another program has locked: an import names the holder, waits as long as it may, and heeds signals.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use super::exact::Case;
use super::query;
use super::servers::program;
use crate::common::{Place, Result, wait_for};

/// Another program that has a lock.
struct Holder {
    program: Child,
    input: ChildStdin,
}

impl Holder {
    /// Has a program execute statements, and waits for the first byte that a last one returns.
    fn of(case: &Case, statements: &str) -> Holder {
        let mut command = program(&case.server.url);
        if !case.server.url.starts_with("postgres") {
            // It prints what it has, and not only when the connection ends.
            command.arg("-n");
        }
        let mut program = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut input = program.stdin.take().unwrap();
        writeln!(input, "{statements} SELECT 1;").unwrap();
        program.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        Holder { program, input }
    }

    fn release(self) {
        let Holder { mut program, input } = self;
        drop(input);
        program.wait().unwrap();
    }
}

/// An import that waits for a lock, until `is_waiting`.
fn waiting(case: &Case, how: &str, is_waiting: impl FnMut() -> bool) -> Child {
    let mut command = case.place.command();
    command.args(["import", "lk.csv", "--header", "--into", &case.server.url]).args(how.split(' '));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("an import that waits", 60, is_waiting);
    child
}

/// The result of an import that a signal ends.
fn ended(mut child: Child) -> Result {
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGTERM).unwrap();
    wait_for("the end of the import", 60, || child.try_wait().unwrap().is_some());
    Result::from(child.wait_with_output().unwrap()).without_panic()
}

/// A writer keeps the transaction from beginning, and a reader from committing.
#[test]
fn an_import_that_waits_for_a_lock_of_sqlite_names_the_holder_and_heeds_signals() {
    let place = Place::new();
    place.write("t.csv", "id,n\n1,a\n");
    for statements in [&["BEGIN IMMEDIATE"][..], &["BEGIN", "SELECT * FROM t"]] {
        // dyno writes pages for the one table, and SQLite inserts the rows of the other.
        for id in ["INTEGER", "INTEGER PRIMARY KEY"] {
            query(&place.path("a.db"), "DROP TABLE IF EXISTS t");
            query(&place.path("a.db"), &format!("CREATE TABLE t(id {id}, n TEXT)"));
            let script = format!(
                "import sqlite3, sys; base = sqlite3.connect('a.db', isolation_level=None)\n\
                 for sql in {statements:?}: base.execute(sql).fetchall()\n\
                 print(flush=True); sys.stdin.read()"
            );
            let mut python = Command::new("python3");
            python
                .args(["-c", &script])
                .current_dir(place.path(""))
                .stdin(Stdio::piped())
                .stdout(Stdio::piped());
            let mut holder = python.spawn().unwrap();
            holder.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
            let mut command = place.command();
            command.args("import t.csv --into a.db --header --append --wait 60".split(' '));
            let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            let mut reported = [0; 80];
            child.stderr.as_mut().unwrap().read_exact(&mut reported).unwrap();
            let said = format!("a.db is locked by process {} (python3): waiting", holder.id());
            let reported = String::from_utf8_lossy(&reported).into_owned();
            assert!(reported.contains(&said), "{statements:?}, {id}: {reported}");
            ended(child).exits(143).says("interrupted: nothing was loaded");
            drop(holder.stdin.take());
            holder.wait().unwrap();
            assert_eq!(query(&place.path("a.db"), "SELECT count(*) FROM t"), json!([[0]]), "{id}");
        }
    }
}

#[test]
fn an_import_that_waits_for_a_lock_of_postgres_names_the_holder_and_heeds_signals() {
    let Some(case) = Case::of("postgres") else { return };
    case.sql("CREATE TABLE lk (id INTEGER, n TEXT)");
    case.place.write("lk.csv", "id,n\n1,a\n");
    let holder = Holder::of(&case, "BEGIN; LOCK TABLE lk;");
    let locks = |what: &str, condition: &str| {
        case.sql(&format!("SELECT {what} FROM pg_locks WHERE relation = 'lk'::regclass AND {condition}"))
    };
    let process = locks("pid", "granted");
    for how in ["--append", "--replace", "--append --on-conflict skip --key id"] {
        let locked = case.import(&format!("lk.csv {how} --header --wait 1")).exits(4);
        locked
            .says(&format!("dyno: the table lk is locked by process {process} of "))
            .says(" (psql): dyno waited 1 s for it, and --wait SECONDS waits longer; nothing was loaded");
    }
    let mut child = waiting(&case, "--append", || locks("count(*)", "NOT granted") == "1");
    // It reports the lock once, though no terminal shows it.
    let mut reported = [0; 40];
    child.stderr.as_mut().unwrap().read_exact(&mut reported).unwrap();
    assert!(String::from_utf8_lossy(&reported).starts_with("dyno: the table lk is locked by process"));
    let result = ended(child);
    holder.release();
    result.exits(143).says("nothing was loaded");
    assert_eq!(case.sql("SELECT count(*) FROM lk"), "0");
}

/// A row's lock is seen by its holder; of a table's, MariaDB names no holder unless performance_schema is on, so those are
/// named that may have it.
#[test]
fn a_lock_of_mariadb_or_mysql_is_reported_with_the_connections_that_have_or_may_have_it() {
    for engine in ["mariadb", "mysql"] {
        let Some(case) = Case::of(engine) else { continue };
        case.sql("CREATE TABLE lk (id INTEGER PRIMARY KEY, n VARCHAR(9))");
        case.place.write("lk.csv", "id,n\n1,a\n");
        let holder = Holder::of(&case, "BEGIN; INSERT INTO lk VALUES (1, 'b');");
        let open = "SELECT trx_mysql_thread_id FROM information_schema.innodb_trx";
        let connection = format!("connection {} of ", case.sql(open));
        for how in ["--append", "--replace"] {
            let locked = case.import(&format!("lk.csv {how} --header --wait 1")).exits(4);
            locked.says("dyno: the table lk is locked by ").says(&connection);
        }
        holder.release();
        assert_eq!(case.sql("SELECT count(*) FROM lk"), "0", "{engine}");
        assert_eq!(case.sql("SHOW TABLES"), "lk", "{engine}");
    }
}

#[test]
fn an_import_that_waits_for_a_lock_of_mariadb_or_mysql_ends_in_time_and_heeds_signals() {
    for engine in ["mariadb", "mysql"] {
        let Some(case) = Case::of(engine) else { continue };
        case.sql("CREATE TABLE lk (id INTEGER, n VARCHAR(9)); INSERT INTO lk VALUES (0, 'old')");
        case.place.write("lk.csv", "id,n\n1,a\n");
        let holder = Holder::of(&case, "LOCK TABLES lk WRITE;");
        let ways = ["--append", "--append --on-conflict skip --key id", "--replace"];
        for how in ways {
            let locked = case.import(&format!("lk.csv {how} --header --wait 1")).exits(4);
            locked.says("dyno: the table lk is locked").says(": dyno waited 1 s for it, and --wait SECONDS");
        }
        let waits =
            "SELECT count(*) FROM information_schema.processlist WHERE state LIKE 'Waiting for table%'";
        let results = ways.map(|how| ended(waiting(&case, how, || case.sql(waits) == "1")));
        holder.release();
        for result in results {
            result.exits(143).says("nothing was loaded");
        }
        assert_eq!(case.sql("SELECT id, n FROM lk"), "0|old", "{engine}");
        assert_eq!(case.sql("SHOW TABLES"), "lk", "{engine}");
    }
}
