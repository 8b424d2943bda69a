//! Another program alters the table, or removes the database, after the import is planned and before its rows are in. The
//! import then loads nothing and says so.

use std::fs;
use std::io::Write;
use std::process::{Child, ChildStdin, Command, Stdio};

use serde_json::json;

use super::all_or_nothing::is_building;
use super::query;
use super::servers::{Server, printed, program};
use crate::common::{Place, Result, wait_for};

/// The number of rows in the pipe.
const ROWS: usize = 16_682;

/// Rows in columns `id` and `v`: a little more than is looked at of a pipe before the import is planned, so that the rest
/// finds room in the pipe while dyno waits.
fn rows() -> String {
    let (mut rows, long) = (String::from("id,v\n"), "x".repeat(1000));
    for row in 0..ROWS {
        rows += &format!("{row},{long}\n");
    }
    rows
}

/// An import of a pipe that is still open.
struct Open {
    child: Child,
    input: Option<ChildStdin>,
}

impl Open {
    /// Begins one; the pipe holds the header and all rows.
    fn begin(place: &Place, arguments: &str) -> Open {
        let mut command = place.command();
        command.args(["import", "-", "--header", "--table", "t"]).args(arguments.split_whitespace());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        if let Err(error) = input.write_all(rows().as_bytes()) {
            drop(input);
            panic!("{error}: {}", Result::from(child.wait_with_output().unwrap()).stderr);
        }
        Open { child, input: Some(input) }
    }

    /// True once the import is planned, and its parser reads on.
    fn is_parsing(&self) -> bool {
        let threads = fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
        let names = threads.filter_map(|thread| fs::read_to_string(thread.ok()?.path().join("comm")).ok());
        names.into_iter().any(|name| name.trim_end() == "parser")
    }

    /// Ends the pipe.
    fn close(&mut self) {
        self.input = None;
    }

    /// Ends the pipe, and waits for the import.
    fn end(mut self) -> Result {
        self.close();
        Result::from(self.child.wait_with_output().unwrap()).without_panic()
    }
}

const SAID: &str =
    "another program made, changed or dropped the table t while the file was read, so nothing was loaded";

fn execute(place: &Place, sql: &str) {
    let script = "import sqlite3,sys;sqlite3.connect('a.db').executescript(sys.argv[1])";
    let mut command = Command::new("python3");
    let output = command.args(["-c", script, sql]).current_dir(place.path("")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn pages_go_to_no_table_that_was_swapped_meanwhile() {
    let swap = "ALTER TABLE t RENAME TO old; CREATE TABLE t (v TEXT, id INTEGER)";
    for (change, code) in [(swap, 4), ("DROP TABLE t", 4), ("CREATE TABLE other (x)", 0)] {
        let place = Place::new();
        execute(&place, "CREATE TABLE t (id INTEGER, v TEXT)");
        let open = Open::begin(&place, "--into a.db --append");
        wait_for("a file of pages", 60, || is_building(open.child.id(), &place));
        execute(&place, change);
        let result = open.end().exits(code);
        match code {
            0 => assert_eq!(query(&place.path("a.db"), "SELECT count(*) FROM t"), json!([[ROWS]])),
            _ => drop(result.says(SAID)),
        }
        if change == swap {
            let rows = "SELECT (SELECT count(*) FROM t) + count(*) FROM old";
            assert_eq!(query(&place.path("a.db"), rows), json!([[0]]));
        }
    }
}

#[test]
fn pages_go_to_no_database_that_was_removed_meanwhile() {
    let place = Place::new();
    execute(&place, "CREATE TABLE t (id INTEGER, v TEXT)");
    let open = Open::begin(&place, "--into a.db --append");
    wait_for("a file of pages", 60, || is_building(open.child.id(), &place));
    fs::remove_file(place.path("a.db")).unwrap();
    open.end().exits(4).says("a.db was removed while the file was read");
    assert!(!place.path("a.db").exists());
}

#[test]
fn inserted_rows_go_to_no_table_that_was_altered_before_the_lock() {
    for (how, change) in [
        ("--append", &["ALTER TABLE t RENAME COLUMN v TO w", "ALTER TABLE t ADD COLUMN v INTEGER"][..]),
        ("--append", &["CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM t WHERE id < new.id; END"]),
        ("--replace", &["ALTER TABLE t ADD COLUMN more DEFAULT 5"]),
    ] {
        let place = Place::new();
        execute(&place, "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT); INSERT INTO t VALUES (-1, 'old')");
        // It alters the table, and others see that only at the end; dyno waits for that end, with its plan.
        let script = format!(
            "import sqlite3, sys; base = sqlite3.connect('a.db', isolation_level=None)\n\
             for sql in ['BEGIN IMMEDIATE'] + {change:?}: base.execute(sql)\n\
             print(flush=True); sys.stdin.read(); base.execute('COMMIT')"
        );
        let mut holder = Command::new("python3");
        holder.args(["-c", &script]).current_dir(place.path("")).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut holder = holder.spawn().unwrap();
        std::io::Read::read_exact(holder.stdout.as_mut().unwrap(), &mut [0]).unwrap();
        let open = Open::begin(&place, &format!("--into a.db {how} --wait 60"));
        wait_for("a plan", 60, || open.is_parsing());
        drop(holder.stdin.take());
        holder.wait().unwrap();
        open.end().exits(4).says(SAID);
        assert_eq!(
            query(&place.path("a.db"), "SELECT count(*), min(id) FROM t"),
            json!([[1, -1]]),
            "{change:?}"
        );
    }
}

#[test]
fn rows_go_to_no_table_of_a_server_that_was_altered_before_the_lock() {
    let of_mysql = (
        "LOCK TABLES t WRITE",
        "ALTER TABLE t CHANGE v w TEXT, ADD v VARCHAR(3); UNLOCK TABLES",
        "SELECT count(*) FROM information_schema.processlist WHERE state LIKE 'Waiting for table metadata%'",
    );
    let holds = [
        (
            "postgres",
            "BEGIN; ALTER TABLE t RENAME v TO w; ALTER TABLE t ADD v VARCHAR(3)",
            "COMMIT",
            "SELECT count(*) FROM pg_locks WHERE NOT granted",
        ),
        ("mariadb", of_mysql.0, of_mysql.1, of_mysql.2),
        ("mysql", of_mysql.0, of_mysql.1, of_mysql.2),
    ];
    for (engine, hold, change, waiting) in holds {
        let (Some(server), place) = (Server::start(engine), Place::new()) else { continue };
        let sql = |text: &str| printed(&mut program(&server.url), text);
        for options in ["", "--on-conflict skip --key id"] {
            sql("DROP TABLE IF EXISTS t; CREATE TABLE t (id INTEGER, v TEXT)");
            let mut holder = program(&server.url);
            // Of psql it is --no-readline; the other program would keep back what it prints.
            holder.arg("-n");
            let mut holder = holder.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
            let mut input = holder.stdin.take().unwrap();
            writeln!(input, "{hold}; SELECT 1;").unwrap();
            std::io::Read::read_exact(holder.stdout.as_mut().unwrap(), &mut [0]).unwrap();
            let open = Open::begin(&place, &format!("--append {options} --into {}", server.url));
            wait_for("an import that waits", 60, || sql(waiting) == "1");
            writeln!(input, "{change};").unwrap();
            drop(input);
            holder.wait().unwrap();
            open.end().exits(4).says(SAID);
            assert_eq!(sql("SELECT count(*) FROM t"), "0", "{engine}");
        }
    }
}

#[test]
fn a_table_of_a_server_that_was_altered_meanwhile_is_not_replaced() {
    for engine in ["postgres", "mariadb", "mysql"] {
        let (Some(server), place) = (Server::start(engine), Place::new()) else { continue };
        let sql = |text: &str| printed(&mut program(&server.url), text);
        let staged = "SELECT count(*) FROM information_schema.tables WHERE table_name LIKE 'dyno_import%'";
        for change in ["CREATE INDEX i ON t (id)", "ALTER TABLE t ADD more INTEGER"] {
            sql("DROP TABLE IF EXISTS t; CREATE TABLE t (id INTEGER, v TEXT)");
            let open = Open::begin(&place, &format!("--replace --into {}", server.url));
            wait_for("a table that is not whole", 60, || sql(staged) == "1");
            sql(change);
            open.end().exits(4).says(SAID);
            assert_eq!((sql(staged), sql("SELECT count(*) FROM t")), ("0".to_owned(), "0".to_owned()));
        }
        assert_eq!(sql("SELECT count(more) FROM t"), "0");
        if engine == "postgres" {
            // All is one transaction, which has the table from its beginning.
            let open = Open::begin(&place, &format!("--replace --connections 1 --into {}", server.url));
            open.end().exits(0);
            assert_eq!(sql("SELECT count(*) FROM t"), ROWS.to_string());
        }
    }
}

/// Replaces a table of MariaDB or MySQL that another session has locked, and alters while dyno waits for the lock.
fn replaces_behind_a_lock(server: &Server, place: &Place, url: &str) -> Result {
    let sql = |text: &str| printed(&mut program(&server.url), text);
    sql(
        "DROP TABLE IF EXISTS t; CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT, CHECK (id < 9)); INSERT INTO t VALUES (1, 'old')",
    );
    let mut open = Open::begin(place, &format!("--replace --into {url}"));
    wait_for("a plan", 60, || open.is_parsing());
    let mut holder = program(&server.url);
    let mut holder = holder.arg("-n").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = holder.stdin.take().unwrap();
    writeln!(input, "LOCK TABLES t WRITE; SELECT 1;").unwrap();
    std::io::Read::read_exact(holder.stdout.as_mut().unwrap(), &mut [0]).unwrap();
    open.close();
    let waiting =
        "SELECT count(*) FROM information_schema.processlist WHERE state LIKE 'Waiting for table metadata%'";
    wait_for("an import that waits", 60, || sql(waiting) == "1");
    writeln!(input, "ALTER TABLE t ADD more INTEGER DEFAULT 7; UNLOCK TABLES;").unwrap();
    drop(input);
    holder.wait().unwrap();
    open.end()
}

const STAGED: &str = "SELECT count(*) FROM information_schema.tables WHERE table_name LIKE 'dyno\\_%'";

fn is_not_replaced_when_altered_before_the_rename(engine: &str) {
    let (Some(server), place) = (Server::start(engine), Place::new()) else { return };
    let sql = |text: &str| printed(&mut program(&server.url), text);
    replaces_behind_a_lock(&server, &place, &server.url).exits(4).says(SAID);
    assert_eq!((sql("SELECT id, v, more FROM t"), sql(STAGED)), ("1|old|7".to_owned(), "0".to_owned()));
    let open = Open::begin(&place, &format!("--replace --into {}", server.url));
    let replaced = open.end().exits(0);
    assert!(
        !replaced.stdout.contains("without locking") && !replaced.stdout.contains("is kept"),
        "{}",
        replaced.stdout
    );
    assert_eq!((sql("SELECT count(*) FROM t"), sql(STAGED)), (ROWS.to_string(), "0".to_owned()));
}

fn is_kept_without_a_lock(engine: &str) {
    let (Some(server), place) = (Server::start(engine), Place::new()) else { return };
    let sql = |text: &str| printed(&mut program(&server.url), text);
    sql(
        "CREATE USER plain@localhost; GRANT SELECT, INSERT, CREATE, DROP, ALTER ON files.* TO plain@localhost",
    );
    let (_, place_of_server) = server.url.split_once('@').unwrap();
    let url = format!("{engine}://plain@{place_of_server}");
    let replaced = replaces_behind_a_lock(&server, &place, &url).exits(0);
    let replaced = replaced.prints("The table t was replaced without locking it before");
    replaced.prints(
        "Another program changed the table t right before it was replaced, so it is kept as dyno_replaced_",
    );
    let kept = "SELECT table_name FROM information_schema.tables WHERE table_name LIKE 'dyno\\_%'";
    assert_eq!(sql(&format!("SELECT id, v, more FROM {}", sql(kept))), "1|old|7");
    assert_eq!((sql("SELECT count(*) FROM t"), sql(STAGED)), (ROWS.to_string(), "1".to_owned()));
    let open = Open::begin(&place, &format!("--replace --into {url}"));
    let replaced = open.end().exits(0);
    assert!(!replaced.stdout.contains("is kept"), "{}", replaced.stdout);
    assert_eq!(sql(STAGED), "1", "the one that is kept");
}

#[test]
fn a_table_that_is_altered_right_before_the_rename_is_not_replaced() {
    ["mariadb", "mysql"].into_iter().for_each(is_not_replaced_when_altered_before_the_rename);
}

#[test]
fn a_table_that_dyno_may_not_lock_is_kept_if_it_is_altered_right_before_the_rename() {
    ["mariadb", "mysql"].into_iter().for_each(is_kept_without_a_lock);
}
