//! The tests that runners for drivers of several engines share, in every language.

use std::path::{Path, PathBuf};

use dyno_protocol::Build;

use super::{DRIVING, Place, Result, installation, repository};

/// A runner in a language whose programs, libraries and packages a script fetches.
pub struct Drivers {
    /// The program with which it works, seen from the folder of dyno's programs.
    pub program: &'static str,
    /// The script that fetches it.
    pub build: &'static str,
    /// Every driver, and every way of loading that is not its usual one, of engines within the process.
    pub embedded: &'static str,
    /// Those of servers.
    pub servers: &'static [(&'static str, &'static str)],
}

impl Drivers {
    /// A place, if the program is there. Where it cannot be had, the reason is printed.
    pub fn place(&self) -> Option<Place> {
        let program = self.program();
        if program.is_file() {
            return Some(Place::in_memory());
        }
        eprintln!("SKIPPED: {} is missing; `{}` makes it, or says why not", program.display(), self.build);
        None
    }

    pub fn program(&self) -> PathBuf {
        Path::new(env!("CARGO_BIN_EXE_dyno")).parent().unwrap().join(self.program)
    }

    /// The contenders whose engines are here; those that are not are reported.
    pub fn contenders(&self) -> Vec<&'static str> {
        let is_here = |engine: &str| match installation(engine, &Build::System) {
            Ok(_) => true,
            Err(error) => {
                eprintln!("SKIPPED for {engine}: {error:#}");
                false
            }
        };
        let servers = self.servers.iter().filter(|(engine, _)| is_here(engine)).map(|(_, drivers)| *drivers);
        [self.embedded].into_iter().chain(servers).flat_map(str::split_whitespace).collect()
    }

    /// Those that load by their usual way.
    pub fn usual(&self) -> Vec<&'static str> {
        self.contenders().into_iter().filter(|name| !name.contains('+')).collect()
    }

    /// The first driver of each engine, and the one without an engine, keep the protocol; further drivers of an engine
    /// keep what is not the same code for all of them.
    pub fn keep_the_protocol(&self, null: &'static str) {
        let Some(place) = self.place() else { return };
        let (mut firsts, mut further) = (vec![null], Vec::new());
        for contender in self.usual() {
            let engine = |name: &&str| name.split('/').next() == contender.split('/').next();
            let list = if firsts.iter().any(engine) { &mut further } else { &mut firsts };
            list.push(contender);
        }
        place.conforms(&firsts, &[]);
        if !further.is_empty() {
            place.conforms(&further, &DRIVING);
        }
    }

    /// The fifteen tests have the same answers by all of them as by SQLite's own interface.
    pub fn answer_as_sqlite(&self) {
        self.run("speedtest --scale 0.01", &[&["sqlite"], self.usual().as_slice()].concat());
    }

    /// Every way of loading stores the same rows, which are more than any of them loads at once.
    pub fn store_the_same_rows(&self) {
        let Some(place) =
            self.run("intuition --rows 1100", &[&["sqlite"], self.contenders().as_slice()].concat())
        else {
            return;
        };
        let run = place.run_file();
        let trials = run["trials"].as_array().unwrap();
        assert!(trials.iter().all(|trial| trial["failure"].is_null()), "{trials:?}");
    }

    /// Money moves between accounts by several clients, and none of it is lost: several mixes on one connection.
    pub fn keep_the_invariants(&self) {
        self.run("bank --clients 3 --set duration=0.3", &self.usual());
    }

    /// Runs a suite with contenders. Another code than 0 would mean that an answer differs.
    pub fn run(&self, suite: &str, contenders: &[&str]) -> Option<Place> {
        let place = self.place()?;
        let arguments =
            format!("run {suite} --trials 1 --no-warm-up --quiet --with {}", contenders.join(","));
        let mut result = place.dyno(&arguments);
        if result.code == Some(3) && result.stdout.contains(LATCHED_TWICE) {
            eprintln!("Derby ended by its own internal error {LATCHED_TWICE}, so this is run once more");
            result = place.dyno(&arguments);
        }
        result.exits(0).without_panic();
        place.assert_clean();
        Some(place)
    }

    /// Values that JSON lacks are written as the server writes them.
    pub fn write_values_as_the_server_does(&self) {
        VALUES.iter().for_each(|(engine, values)| self.select(engine, values));
    }

    /// The server compares and sorts texts of the client in the same way, and understands its statements by the same
    /// character set.
    pub fn have_the_same_collation(&self) {
        self.select("mariadb", COLLATION);
    }

    /// More statements than libraries keep prepared by default are prepared once.
    pub fn keep_all_statements_prepared(&self, drivers: &[&str]) {
        let Some(place) = self.place() else { return };
        let here = self.contenders();
        let statements: String = (0..130).map(|number| format!("SELECT {number} + :a;\n")).collect();
        place.write("many.toml", &MANY.replace("STATEMENTS", &statements));
        for driver in drivers.iter().filter(|name| here.contains(name)) {
            let arguments =
                "run ./many.toml --trust --trials 1 --no-warm-up --quiet --round-trips -o run.jsonl";
            place.dyno(&format!("{arguments} --with {driver}")).exits(0).without_panic();
            let run = super::read_json(&place.path("run.jsonl"));
            let record = &run["contenders"][0]["traffic"][0];
            assert!(record["unread"].is_null() && record["failed"].is_null(), "{record}");
            let counts = &record["passes"][0];
            assert_eq!(counts["prepares"], 0, "{driver}: {record}");
            // Each statement is waited for, also where a connection of an earlier test has prepared it.
            assert_eq!(
                counts["executed"],
                130 * record["operations"].as_u64().unwrap(),
                "{driver}: {record}"
            );
            assert!(counts["round_trips"].as_u64() >= counts["executed"].as_u64(), "{driver}: {record}");
        }
    }

    /// A mix finds the rows whose dates it has stored, by a date of the step and by one that an earlier statement returned.
    pub fn take_dates(&self, drivers: &[&str]) {
        let Some(place) = self.place() else { return };
        let here = self.contenders();
        let drivers: Vec<&str> = drivers.iter().copied().filter(|name| here.contains(name)).collect();
        if !drivers.is_empty() {
            place.write("dates.toml", DATES);
            let with = drivers.join(",");
            let arguments = format!("run ./dates.toml --trust --trials 1 --no-warm-up --quiet --with {with}");
            place.dyno(&arguments).exits(0).without_panic();
            place.assert_clean();
        }
    }

    fn select(&self, engine: &str, values: &str) {
        let Some(place) = self.place() else { return };
        let of_engine = |name: &&str| name.split_once('/').is_some_and(|(own, _)| own == engine);
        let drivers: Vec<&str> = self.usual().into_iter().filter(of_engine).collect();
        if !drivers.is_empty() {
            have_the_same_values(&place, engine, &drivers, values);
        }
    }

    /// A server that asks for a file of the client's unprompted gets none, and the trial fails with these words.
    pub fn send_no_file(&self, drivers: &[(&str, &str)]) {
        for (contender, words) in drivers {
            let Some(place) = self.place() else { return };
            if !self.contenders().contains(contender) {
                return;
            }
            place.write("steals.toml", &suite(contender, STEALS));
            let result = place.dyno("run ./steals.toml --trust --trials 1 --quiet").without_panic();
            assert!(result.code != Some(0), "{}", result.stdout);
            let trials = place.run_file()["trials"].to_string();
            assert!(trials.contains(words), "{contender}: {trials}");
            place.assert_clean();
        }
    }

    /// Without its program, named by a variable of the environment, dyno says which command fetches it.
    pub fn are_named_with_the_command_that_fetches_them(&self, variable: &str, contender: &str) {
        let place = Place::in_memory();
        let missing = format!("/nowhere/{}", self.program().file_name().unwrap().display());
        let mut command = place.command();
        let arguments = format!("run speedtest --scale 0.02 --trials 1 --only 1 --with {contender}");
        command.env(variable, &missing).args(arguments.split(' '));
        let result: Result = command.output().unwrap().into();
        // The test's folder has no such script.
        let script = repository().join(self.build.trim_start_matches("sh "));
        let build = format!("build it with `sh {}`", script.display());
        result.exits(2).says(&build).says(&format!("({missing} is missing)"));
    }

    /// A contender is refused with these words.
    pub fn refuse(&self, contender: &str, words: &str) {
        let Some(place) = self.place() else { return };
        let result =
            place.dyno(&format!("run speedtest --scale 0.02 --trials 1 --only 1 --with {contender}"));
        let result = result.without_panic();
        assert!(result.code != Some(0), "{}", result.stdout);
        result.says(words);
    }
}

/// Drivers of an engine have the same values as the engine's own client library: another code would mean that an answer
/// differs.
pub fn have_the_same_values(place: &Place, engine: &str, drivers: &[&str], values: &str) {
    place.write("values.toml", &suite(engine, &format!("SELECT {values};")));
    let with = drivers.join(",");
    let arguments = format!("run ./values.toml --trust --trials 1 --quiet --with {engine},{with}");
    place.dyno(&arguments).exits(0).without_panic();
    place.assert_clean();
}

/// Values of types that JSON lacks, or of which a number of many languages does not hold all digits.
const VALUES: &[(&str, &str)] = &[
    (
        "postgres",
        "date '2024-01-01', timestamp '2024-01-01 00:00:00.123456', 12345678901234567.89::numeric, 1.50::numeric(5,2), \
         '{\"a\": [1, 2]}'::json, '{\"a\": 1}'::jsonb, time '10:00:00', 9007199254740993::bigint, true, 1.5::float8, NULL, \
         interval '1 mon 2 days 03:04:05.6', interval '-1 sec', interval '0', ARRAY[1, 2, NULL], ARRAY['a', 'b c', NULL, 'null'], \
         ARRAY[[1.5::float8], [2]], ARRAY[1.50], ARRAY[true], '{}'::int[], '[0:1]={7,8}'::int[], ARRAY['{\"a\": 1}'::jsonb], \
         ARRAY[date '2024-01-01']",
    ),
    (
        "mariadb",
        "DATE '2024-01-01', TIMESTAMP '2024-01-01 00:00:00', CAST(12345678901234567.89 AS DECIMAL(20, 2)), \
         CAST(1.5 AS DECIMAL(5, 2)), TIME '10:00:00', TIME '05:00:00', 9007199254740993, 1.5e0, NULL, \
         JSON_OBJECT('a', 1)",
    ),
];
/// The character set and the collation of a session.
pub const COLLATION: &str =
    "@@collation_connection, @@character_set_client, @@character_set_connection, @@character_set_results";

/// An error of Derby in itself, which inserts of several clients meet now and then: "Page … attempted latched twice".
const LATCHED_TWICE: &str = "XSDAO";

const MANY: &str = r#"
name = "many"
title = "Many"
story = "None."
contenders = ["postgres"]

[[test]]
id = "many"
title = "Many"
shows = "Nothing."
model = "mix"
count = 4
check = "SELECT 1"
expect = [[1]]

[test.values]
a = { from = 1, to = 9 }

[[test.class]]
name = "many"
statements = """
STATEMENTS"""
"#;

const DATES: &str = r#"
name = "dates"
title = "Dates"
story = "None."
contenders = ["postgres"]

[[test]]
id = "table"
title = "Table"
shows = "Nothing."
model = "statements"
statements = "CREATE TABLE t(id BIGINT, day DATE, moment TIMESTAMP, price NUMERIC(10, 2), found BIGINT);"

[[test]]
id = "find"
title = "Find"
shows = "Nothing."
model = "mix"
clients = 2
count = 30
check = "SELECT count(*), sum(found) FROM t"
expect = [[60, 60]]

[test.values]
id = { next = "find", from = 1 }
day = { from = 2024-01-01, to = 2024-12-31 }
moment = { from = 2024-01-01T00:00:00, to = 2024-12-31T00:00:00 }
price = { from = 1, to = 99, decimals = 2 }

[[test.class]]
name = "find"
statements = """
INSERT INTO t VALUES(:id, :day, :moment, :price, 0);
row(day) = SELECT day FROM t WHERE id = :id AND day = :day AND moment = :moment;
UPDATE t SET found = 1 WHERE id = :id AND day = :row.day;
"""
"#;

/// A suite of one test, with these statements.
fn suite(contender: &str, statements: &str) -> String {
    STATEMENTS.replace("CONTENDER", contender).replace("STATEMENTS", statements)
}

const STATEMENTS: &str = r#"
name = "statements"
title = "Statements"
story = "None."
contenders = ["CONTENDER"]

[[test]]
id = "1"
title = "Statements"
shows = "Nothing."
model = "statements"
statements = """
STATEMENTS
"""
"#;

/// A request that a server might make unprompted: some drivers would themselves send any file.
const STEALS: &str = "CREATE TABLE t(a TEXT);\nLOAD DATA LOCAL INFILE '/etc/hostname' INTO TABLE t;";
