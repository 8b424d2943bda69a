//! Loads into PostgreSQL, MariaDB and MySQL. Where one is not installed, its part is skipped and says so.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use dyno_protocol::{Build, Setting};

use super::PEOPLE;
use crate::common::server::{self, Started};
use crate::common::{Place, Result};
use crate::reliability::proxy::{Fault, Proxy};

/// A private server of an engine, and the URL of a database of it; none, and said so, where it is not
/// installed.
pub struct Server {
    pub url: String,
    started: Started,
}

impl Server {
    pub fn start(engine: &str) -> Option<Server> {
        Server::start_with(engine, &[])
    }

    fn start_with(engine: &str, settings: &[Setting]) -> Option<Server> {
        let build = if engine == "mysql" { Build::Path("9".into()) } else { Build::System };
        let started = server::start(engine, &build, settings)?;
        let at = started.server.connection("").server;
        let url = match engine {
            "postgres" => {
                format!("postgres://{}@/postgres?host={}&port={}", at.user, at.host, at.port.unwrap())
            }
            _ => {
                let url = |database| format!("{engine}://{}@/{database}?socket={}", at.user, at.host);
                printed(&mut program(&url("mysql")), "CREATE DATABASE files");
                url("files")
            }
        };
        Some(Server { url, started })
    }

    /// A proxy with a fault, and the URL that leads over it to the same database.
    pub fn behind(&self, fault: Fault) -> (Proxy, String) {
        let at = self.started.server.connection("").server;
        let (socket, scheme, database) = match at.port {
            Some(port) => (format!("{}/.s.PGSQL.{port}", at.host), "postgres", "postgres"),
            None => (at.host, "mariadb", "files"),
        };
        let proxy = Proxy::start(socket.as_ref(), fault);
        let url = format!("{scheme}://{}@127.0.0.1:{}/{database}", at.user, proxy.port);
        (proxy, url)
    }
}

/// Behaviour that both servers share. Rows are read back by importing nothing: a table's rows are counted by
/// what the server's own program prints.
fn serves(engine: &str) {
    let Some(server) = Server::start(engine) else { return };
    let place = Place::new();
    let sql = |text: &str| printed(program(&server.url).current_dir(place.path(".")), text);
    place.write("people.csv", &PEOPLE.replace("008", "a\\b\tc"));
    let into = |arguments: &str| {
        let mut command = place.command();
        command.arg("import").args(arguments.split_whitespace()).args(["--into", &server.url]);
        // The URL says where to connect and how; the environment could lead elsewhere.
        command.env("PGHOSTADDR", "192.0.2.1").env("PGOPTIONS", "-c default_transaction_read_only=on");
        Result::from(command.output().unwrap()).without_panic()
    };
    into("people.csv --primary-key id --index name")
        .exits(0)
        .prints("3 rows into table people")
        .prints("Survives");
    let rows = sql(
        "SELECT id, name, size, CASE WHEN code = 'a\\b\tc' THEN 'kept' ELSE code END FROM people ORDER BY id",
    );
    let odd = sql("SELECT id, length(code) FROM people WHERE id = 2");
    assert_eq!(odd, "2|5", "{rows}");
    assert!(rows.contains("1|Ann|1.5|007") && rows.contains("3|Çem|2"), "{rows}");
    let explained =
        into("people.csv --table explained --primary-key id --index name --explain").exits(0).stdout;
    let (_, load) = explained.split_once("--- SQL ---\n").unwrap();
    sql(load);
    let all = |table: &str| sql(&format!("SELECT * FROM {table} ORDER BY id"));
    assert_eq!(all("explained"), all("people"), "{load}");
    into("people.csv").exits(2).says("there is a table people already");
    into("people.csv --append").exits(2).says("othing was loaded");
    assert_eq!(sql("SELECT count(*) FROM people"), "3");
    place.write("more.csv", "name,id,code\nX,7,Y\n");
    into("more.csv --table people --append").exits(0);
    assert_eq!(sql("SELECT name, code FROM people WHERE id = 7"), "X|Y");
    place.write("bad.csv", "id,day\n1,2024-01-01\n2,2024-13-01\n");
    // The line is the file's, the table's passing name is no one's business, and one bad row does not end `reject`.
    place.write("bad.csv", "id,day\n1,2024-01-01\n\n\n2,2024-13-01\n3,2024-12-01\n4,2024-02-30\n");
    let types = "bad.csv --types id:INTEGER,day:DATE";
    let said = into(types).exits(2).says("bad.csv:5: the server refuses the row: ").stderr.clone();
    assert!(said.contains("day") && !said.contains("dyno_import_"), "{said}");
    into(&format!("{types} --on-error reject")).exits(3).prints("2 bad rows were left out");
    assert_eq!(sql("SELECT id FROM bad ORDER BY id"), "1\n3");
    let rejects = fs::read_to_string(place.path("bad.rejects.csv")).unwrap();
    // A reason with a comma or a quote is quoted.
    let reasons = rejects.replace('"', "");
    assert!(reasons.contains("\n5,,is refused by the server: ") && reasons.contains("\n7,,"), "{rejects}");
    into("bad.csv --append").exits(2).says("bad.csv:5: the server refuses the row: ");
    fs::remove_file(place.path("bad.rejects.csv")).unwrap();
    sql("DROP TABLE bad");
    assert!(!into("bad.csv --types id:INTEGER,day:DATE --dry-run").exits(0).stdout.is_empty());
    place.write("bad.csv", "id,day\n1,2024-01-01\n2,\n");
    into("bad.csv --types id:INTEGER,day:DATE").exits(0);
    assert!(sql("SELECT * FROM bad ORDER BY id").starts_with("1|2024-01-01"));
    place.write("people.csv", "only\n1.25\n");
    into("people.csv --replace --safety none").exits(0);
    assert_eq!(sql("SELECT * FROM people"), "1.25");
    let tables = "SELECT count(*) FROM information_schema.tables WHERE table_name LIKE 'dyno_import%'";
    assert_eq!(sql(tables), "0");
    // Rows whose key is there are skipped or updated; of several with one key the last one counts then, as one by one.
    place.write("k.csv", "id,v\n1,a\n2,b\n");
    into("k.csv --primary-key id").exits(0);
    place.write("l.csv", "id,v\n2,x\n3,y\n3,z\n");
    into("l.csv --table k --append --on-conflict skip")
        .exits(0)
        .prints("(a row whose key is there is skipped, unless a trigger does otherwise)");
    assert_eq!(sql("SELECT id, v FROM k ORDER BY id"), "1|a\n2|b\n3|y");
    into("l.csv --table k --append --on-conflict update").exits(0);
    assert_eq!(sql("SELECT id, v FROM k ORDER BY id"), "1|a\n2|x\n3|z");
    let explained = into("l.csv --table k --append --on-conflict update --explain").exits(0);
    let explained = explained.prints("nor --on-conflict");
    assert!(!explained.stdout.contains("--- SQL ---"), "{}", explained.stdout);
    let long = "x".repeat(80);
    into(&format!("people.csv --table {long}")).exits(2).says("has 80 ").says("and the server takes 6");
    into("people.csv --table none --append").exits(2).says("there is no table none");
    // Losses with a table that is replaced are named, before and after.
    into("people.csv --replace --index only").exits(0);
    into("people.csv --replace --dry-run").exits(0).prints("--replace drops with the old table: index ");
    into("people.csv --replace").exits(0).prints("--replace drops with the old table: index ");
    // Leftovers of an import that is dead are removed, and those of one that lives are kept.
    let dead = "dyno_import_0123456789abcdef";
    sql(&format!("CREATE TABLE {dead} (a INTEGER)"));
    into("people.csv --replace")
        .exits(0)
        .prints(&format!("Removed {dead}, left by an import that was killed."));
    let mut command = place.command();
    command.args([
        "import",
        "-",
        "--table",
        "held",
        "--no-header",
        "--types",
        "INTEGER",
        "--into",
        &server.url,
    ]);
    let mut living =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = living.stdin.take().unwrap();
    let row = b"123456789012345\n".repeat(1 << 16);
    (0..20).for_each(|_| input.write_all(&row).unwrap());
    let staged = "SELECT count(*) FROM information_schema.tables WHERE table_name LIKE 'dyno_import%'";
    crate::common::wait_for("a table of an import that lives", 60, || sql(staged) == "1");
    sql(&format!("CREATE TABLE {dead} (a INTEGER)"));
    let mut command = place.command();
    command.args(["import", "--clean-up", "--into", &server.url]);
    let cleaned = Result::from(command.output().unwrap()).without_panic();
    cleaned.exits(0).prints(&format!("Removed {dead}, left by an import that was killed."));
    assert_eq!(sql(staged), "1");
    drop(input);
    Result::from(living.wait_with_output().unwrap()).without_panic().exits(0);
    assert_eq!(sql("SELECT count(*) FROM held"), (20 << 16).to_string());
}

/// The command of a server's program that executes a script.
pub fn program(url: &str) -> Command {
    if url.starts_with("postgres:") {
        let mut command = Command::new("psql");
        command.args(["-XqAt", "-v", "ON_ERROR_STOP=1", url]);
        return command;
    }
    let (_, rest) = url.split_once("://").unwrap();
    let (user, rest) = rest.split_once("@/").unwrap();
    let (database, socket) = rest.split_once("?socket=").unwrap();
    let mut command = Command::new("mariadb");
    command.args(["--no-defaults", "-N", "-B", "-r", "-u", user, "-S", socket, database]);
    command.args(["--default-character-set=utf8mb4", "--local-infile=1"]);
    command
}

/// The output of a server's program for a script.
pub fn printed(command: &mut Command, script: &str) -> String {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    writeln!(child.stdin.take().unwrap(), "{script};").unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim_end().replace('\t', "|")
}

#[test]
fn postgres_is_loaded() {
    serves("postgres");
}

#[test]
fn a_table_may_be_in_a_schema_of_postgres() {
    let Some(server) = Server::start("postgres") else { return };
    let place = Place::new();
    let sql = |text: &str| {
        printed(Command::new("psql").args(["-XqAt", "-v", "ON_ERROR_STOP=1", &server.url]), text)
    };
    sql("CREATE SCHEMA shop");
    place.write("t.csv", "id,v\n1,a\n");
    for options in
        ["--table shop.t9", "--table shop.t9 --append", "--table shop.t9 --replace --connections 1"]
    {
        let arguments = format!("import t.csv {options} --primary-key id --into {}", server.url);
        let arguments = if options.contains("--append") {
            arguments.replace("--primary-key id", "").replace("t.csv", "u.csv")
        } else {
            arguments
        };
        place.write("u.csv", "id,v\n2,b\n");
        Result::from(place.command().args(arguments.split_whitespace()).output().unwrap())
            .without_panic()
            .exits(0);
    }
    assert_eq!(sql("SELECT * FROM shop.t9"), "1|a");
    // Without such a schema the point is a letter of the name.
    let arguments = ["import", "t.csv", "--table", "no.t9", "--into", &server.url];
    Result::from(place.command().args(arguments).output().unwrap()).without_panic().exits(0);
    assert_eq!(sql("SELECT * FROM \"no.t9\""), "1|a");
    // A table in a later schema of the search path stays there.
    sql("CREATE SCHEMA \"o'd\"\"d\"; CREATE TABLE \"o'd\"\"d\".\"i's\"\"t\" (id INTEGER); \
         ALTER DATABASE postgres SET search_path = \"$user\", \"o'd\"\"d\"; \
         CREATE SCHEMA AUTHORIZATION CURRENT_USER");
    for connections in ["1", "2"] {
        let mut command = place.command();
        command.args(["import", "t.csv", "--table", "i's\"t", "--replace", "--connections", connections]);
        let output = command.args(["--into", &server.url]).output().unwrap();
        Result::from(output).without_panic().exits(0);
        let schemas = sql("SELECT schemaname FROM pg_tables WHERE tablename = 'i''s\"t'");
        assert_eq!(schemas, "o'd\"d", "{connections}");
    }
}

#[test]
fn one_connection_or_many_load_the_same_rows() {
    let Some(server) = Server::start("postgres") else { return };
    let place = Place::new();
    let rows: String = (0..50_000).map(|row| format!("{row},{}\n", row * 7919 % 50_021)).collect();
    place.write("rows.csv", &format!("a,b\n{rows}"));
    let mut sums = Vec::new();
    for connections in ["1", "2", "5"] {
        let arguments =
            ["import", "rows.csv", "--replace", "--connections", connections, "--into", &server.url];
        let result = Result::from(place.command().args(arguments).output().unwrap()).without_panic();
        result.exits(0).prints("50000 rows into table rows");
        let mut psql = Command::new("psql");
        psql.args(["-XqAt", &server.url]);
        sums.push(printed(&mut psql, "SELECT count(*), sum(a), sum(b), sum(a::numeric * b) FROM rows"));
    }
    assert!(sums[0].starts_with("50000|1249975000|") && sums.iter().all(|sum| *sum == sums[0]), "{sums:?}");
    let sqlite = ["import", "rows.csv", "--connections", "2", "--into", "app.db"];
    let refused = Result::from(place.command().args(sqlite).output().unwrap()).without_panic();
    refused.exits(2).says("--connections is for a new table of PostgreSQL");
    assert!(!place.path("app.db").exists());
}

#[test]
fn a_second_attempt_does_not_inherit_the_haste_of_the_first() {
    let settings = [("log_statement", "all"), ("log_line_prefix", "")];
    let settings = settings.map(|(name, value)| Setting { name: name.into(), value: value.into() });
    let Some(server) = Server::start_with("postgres", &settings) else { return };
    let place = Place::new();
    // The last row makes the types of the others wrong.
    let rows: String = (0..400_000).map(|row| format!("{row}\n")).collect();
    place.write("rows.csv", &format!("n\n{rows}late\n"));
    let arguments = ["import", "rows.csv", "--connections", "2", "--into", &server.url];
    let result = Result::from(place.command().args(arguments).output().unwrap()).without_panic();
    result.exits(0).prints("read the file again");
    let log = fs::read_to_string(server.started.server.folder().join("log")).unwrap();
    let (_, after) = log.split_once("statement: ROLLBACK").expect("the first attempt is taken back");
    let (between, _) = after.split_once("CREATE TABLE").expect("there is a second attempt");
    assert!(between.contains("statement: RESET synchronous_commit"), "{between}");
}

#[test]
fn a_row_that_a_trigger_of_mariadb_refuses_is_an_error_of_the_input() {
    let Some(server) = Server::start("mariadb") else { return };
    let place = Place::new();
    let sql = |script: &str| printed(&mut program(&server.url), &format!("USE shop; {script}"));
    let url = server.url.replace("/files?", "/shop?");
    printed(&mut program(&server.url), "CREATE DATABASE shop");
    sql("CREATE TABLE t(a BIGINT); CREATE TRIGGER b BEFORE INSERT ON t FOR EACH ROW \
         SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no'");
    sql("CREATE TABLE u(a BIGINT); CREATE TABLE seen(a BIGINT UNIQUE); INSERT INTO seen VALUES (2); \
         CREATE TRIGGER c AFTER INSERT ON u FOR EACH ROW INSERT INTO seen VALUES (NEW.a)");
    place.write("t.csv", "a\n1\n2\n3\n");
    for table in ["t", "u"] {
        let arguments = ["import", "t.csv", "--append", "--table", table, "--into", &url];
        let result = Result::from(place.command().args(arguments).output().unwrap()).without_panic();
        result.exits(2).says("nothing was loaded");
        assert_eq!(sql(&format!("SELECT count(*) FROM {table}")), "0");
    }
}

#[test]
fn mariadb_is_loaded() {
    serves("mariadb");
}

#[test]
fn mysql_is_loaded() {
    serves("mysql");
}
