//! Rows through the runners of servers, by every way of loading them, and what is wrong with some. Where a
//! server is missing, its part is skipped and says so.

use dyno_protocol::{Column, Commits, LoadWork, RowFile, Setting, Test, Value, Work};

use crate::common::runner::{crc32, message, samples};
use crate::rig::{Engine, MARIADB, MYSQL, POSTGRES, Rig, answers, complaint, failure};

/// The ways of each engine's driver.
const WAYS: [(Engine, &[&str]); 3] = [
    (POSTGRES, &["copy", "pipeline", "multirow", "insert"]),
    (MARIADB, &["load-data", "array", "multirow", "insert"]),
    (MYSQL, &["load-data", "multirow", "insert"]),
];

/// More than one group of every way, and no multiple of any.
const COUNT: u64 = 2503;
const COLUMNS: [(&str, usize); 3] = [("a1", 8), ("b2", 8), ("c3", 5)];
const WIDTH: usize = 21;

/// Rows of digits; in every third the first two cells are equal.
fn rows() -> Vec<u8> {
    let row = |place: u64| {
        let second = if place.is_multiple_of(3) { place } else { place + COUNT };
        format!("{:08}{:08}{:05}", place * 7919, second * 7919, place % 100)
    };
    (0..COUNT).flat_map(|place| row(place).into_bytes()).collect()
}

/// The answer that the protocol demands after a load.
fn digest(rows: &[u8]) -> Vec<Vec<Value>> {
    let cells = |row: &[u8]| {
        let mut end = 0;
        COLUMNS.map(|(_, width)| {
            end += width;
            row[end - width..end].to_vec()
        })
    };
    let crc = |bytes: &[u8]| u64::from(crc32(bytes));
    let mut sums = vec![0; COLUMNS.len() + 2];
    for row in rows.chunks(WIDTH) {
        sums[0] += 1;
        cells(row).iter().enumerate().for_each(|(column, cell)| sums[column + 1] += crc(cell));
        sums[COLUMNS.len() + 1] += crc(row);
    }
    let shown = [0, COUNT / 2, COUNT - 1].map(|place| {
        let row = &rows[place as usize * WIDTH..][..WIDTH];
        cells(row).map(|cell| Value::Text(String::from_utf8(cell).unwrap())).to_vec()
    });
    let sums = sums.into_iter().map(|sum| Value::Integer(sum as i64)).collect();
    [sums].into_iter().chain(shown).collect()
}

fn columns() -> Vec<Column> {
    COLUMNS.map(|(name, bytes)| Column { name: name.into(), bytes: bytes as u64 }).to_vec()
}

/// The work of loading rows into a table.
fn load(rig: &Rig, table: &str, rows: &[u8], commits: Commits) -> LoadWork {
    let rows = RowFile { file: rig.file(rows), count: COUNT, columns: columns() };
    LoadWork { table: table.into(), rows, commits }
}

/// A test whose table is made as the type of its columns says.
fn test(id: &str, table: &str, kind: &str, work: Work) -> Test {
    let setup = vec![format!("CREATE TABLE {table}(a1 {kind}, b2 {kind}, c3 {kind})")];
    Test { id: id.into(), setup, work, check: None }
}

#[test]
fn every_way_loads_every_row() {
    let rows = rows();
    let digest = digest(&rows);
    let pieces = Commits { per_commit: Some(700), timed: Some(1500) };
    let single = Commits { per_commit: Some(1), timed: Some(3) };
    for (engine, ways) in WAYS {
        let Some(rig) = Rig::start(engine) else { continue };
        for way in ways {
            let load = |table: &str, commits| load(&rig, table, &rows, commits);
            let sql = "SELECT COUNT(1) FROM t3 WHERE a1 <> b2".to_owned();
            let mut scan = test(
                "scan",
                "t6",
                "TEXT",
                Work::Scan { table: "t3".into(), columns: columns(), differ: [0, 1], sql },
            );
            scan.setup.clear();
            let mut job = rig.job_of(vec![
                test("1", "t1", "TEXT", Work::InsertRows(load("t1", Commits::default()))),
                test("2", "t2", "VARCHAR(8)", Work::InsertRows(load("t2", pieces))),
                test("3", "t3", "TEXT", Work::BulkLoad(load("t3", Commits::default()))),
                test("4", "t4", "VARCHAR(8)", Work::BulkLoad(load("t4", pieces))),
                test("5", "t5", "TEXT", Work::BulkLoad(load("t5", single))),
                scan,
            ]);
            job.variant = Some((*way).to_owned());
            let events = rig.run(&job);
            let name = format!("{}+{way}: {:?}", rig.engine.name, events.last());
            for test in ["1", "2", "3", "4", "5"] {
                assert_eq!(answers(&events, test), digest, "test {test} of {name}");
            }
            let differ = (0..COUNT).filter(|place| !place.is_multiple_of(3)).count() as i64;
            assert_eq!(answers(&events, "scan"), [[Value::Integer(differ)]], "{name}");
            let costs = samples(&events).map(|sample| (sample.operations, sample.bytes));
            let expected = [COUNT, 1500, COUNT, 1500, 3].map(|rows| (rows, rows * WIDTH as u64));
            assert_eq!(costs.take(5).collect::<Vec<_>>(), expected, "{name}");
        }
        rig.assert_nothing_left();
    }
}

#[test]
fn what_is_wrong_with_rows_or_table_is_reported() {
    let rows = rows();
    for (engine, ways) in WAYS {
        let Some(rig) = Rig::start(engine) else { continue };
        for way in ways {
            let work = |table: &str, rows: &[u8]| Work::BulkLoad(load(&rig, table, rows, Commits::default()));
            let name = format!("{}+{way}", rig.engine.name);

            let cut = complaint(&rig, way, test("1", "t", "TEXT", work("t", &rows[..rows.len() - 1])));
            assert!(cut.contains("it is cut off or of another shape"), "{name}: {cut}");

            let long = complaint(&rig, way, test("1", "t", "VARCHAR(7)", work("t", &rows)));
            let messages = [
                "value too long for type character varying(7)",
                "Data too long for column 'a1' at row 1",
                "Data truncated for column 'a1' at row 1",
            ];
            assert!(messages.iter().any(|message| long.contains(message)), "{name}: {long}");
            if *way == "insert" || *way == "pipeline" {
                assert!(long.starts_with(&format!("row 1 of {COUNT}: ")), "{name}: {long}");
            }

            let missing = complaint(&rig, way, test("1", "t", "TEXT", work("nowhere", &rows)));
            let messages = ["relation \"nowhere\" does not exist", "nowhere' doesn't exist"];
            assert!(messages.iter().any(|message| missing.contains(message)), "{name}: {missing}");

            let mut other = test("1", "t", "TEXT", work("t", &rows));
            other.setup = vec!["CREATE TABLE t(a1 TEXT, b2 TEXT, d4 TEXT)".into()];
            let other = complaint(&rig, way, other);
            assert!(other.contains("c3"), "{name}: {other}");

            let mut there = test("1", "t", "TEXT", work("t", &rows));
            there.setup.push(there.setup[0].clone());
            let there = complaint(&rig, way, there);
            assert!(
                there.starts_with("the setup (CREATE TABLE t(") && there.contains("already exists"),
                "{there}"
            );
        }
        let unknown = complaint(
            &rig,
            "magic",
            test("1", "t", "TEXT", Work::BulkLoad(load(&rig, "t", &rows, Commits::default()))),
        );
        assert!(
            unknown.ends_with(&format!("/rust has no variant 'magic': it has {}", usual(&unknown))),
            "{unknown}"
        );
    }
}

/// The list at the end of the message, which begins with the usual way.
fn usual(message: &str) -> &str {
    let list = message.rsplit(": it has ").next().unwrap();
    assert!(list.starts_with("copy, ") || list.starts_with("load-data, "), "{message}");
    list
}

#[test]
fn a_cell_that_is_no_text_or_that_was_changed_is_a_failure() {
    let rows = rows();
    for (engine, ways) in WAYS {
        let Some(rig) = Rig::start(engine) else { continue };
        for way in ways {
            let load = || load(&rig, "t", &rows, Commits::default());
            let mut job = rig.job_of(vec![test("1", "t", "BIGINT", Work::BulkLoad(load()))]);
            job.variant = Some((*way).to_owned());
            let events = rig.run(&job);
            let said = message(&events);
            assert!(said.contains("is not stored as text") || said.contains("is of type bigint"), "{said}");

            if rig.engine.name != "postgres" {
                // Without strict mode the server cuts off what is too long.
                let mut job = rig.job_of(vec![test("1", "t", "VARCHAR(7)", Work::BulkLoad(load()))]);
                rig.set(&mut job, &[("sql_mode", "")]);
                job.variant = Some((*way).to_owned());
                let said = failure(&rig, &rig.run(&job));
                assert!(
                    said.contains("warnings") && said.contains("truncated for column 'a1'"),
                    "{way}: {said}"
                );
            }
        }
    }
}

#[test]
fn a_server_that_refuses_local_files_is_reported() {
    let rows = rows();
    for engine in [MARIADB, MYSQL] {
        let off = [Setting { name: "local_infile".into(), value: "OFF".into() }];
        let Some(rig) = Rig::start_with(engine, &off) else { continue };
        let work = || Work::BulkLoad(load(&rig, "t", &rows, Commits::default()));
        let said = complaint(&rig, "load-data", test("1", "t", "TEXT", work()));
        assert!(said.contains("the server refuses LOAD DATA LOCAL: "), "{said}");
        assert!(said.contains("SET GLOBAL local_infile = ON") && said.contains("+multirow"), "{said}");
    }
}
