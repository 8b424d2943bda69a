//! Files of records through the runners of servers, by every way of importing them, and what is wrong with some.
//! If a server is missing, its part is skipped and says so.

use dyno_protocol::{Commits, FieldKind, FileColumn, ImportWork, Test, Value, Work};

use crate::common::runner::{crc32, samples};
use crate::rig::{Engine, MARIADB, MYSQL, POSTGRES, Rig, answers, complaint};

/// The ways of each engine's driver.
const WAYS: [(Engine, &[&str]); 3] = [
    (POSTGRES, &["text", "insert", "pipeline", "multirow", "copy", "freeze"]),
    (MARIADB, &["text", "insert", "multirow", "load-data"]),
    (MYSQL, &["text", "insert", "multirow", "load-data"]),
];

/// More than one group of every way, and no multiple of any.
const COUNT: u64 = 2503;

/// Texts that are more than they seem to one way or another.
const NOTES: [&str; 9] =
    ["", "it's", "NULL", "\"a\"", "$1 ? %s", " x ", "naïve", "--", "a much longer note than the others are"];

type Record = [String; 3];

/// Every fifth of them has the text given.
fn records(odd: &str) -> Vec<Record> {
    let note = |place: u64| match place % 5 {
        0 => odd,
        _ => NOTES[(place % NOTES.len() as u64) as usize],
    };
    let number = |place: u64| (place as i32).wrapping_mul(-858_993_460);
    (0..COUNT)
        .map(|place| [format!("{}A", place % 97), number(place).to_string(), note(place).to_owned()])
        .collect()
}

/// The answer that the protocol demands after an import.
fn digest(records: &[Record]) -> Vec<Vec<Value>> {
    let mut sums = vec![records.len() as u64, 0, 0, 0, 0];
    let crc = |text: &str| u64::from(crc32(text.as_bytes()));
    for record in records {
        record.iter().enumerate().for_each(|(column, field)| sums[column + 1] += crc(field));
        sums[4] += crc(&record.concat());
    }
    vec![sums.into_iter().map(|sum| Value::Integer(sum as i64)).collect()]
}

fn text(records: &[Record], delimiter: char) -> String {
    records.iter().map(|record| record.join(&delimiter.to_string()) + "\n").collect()
}

/// A test that imports a text into a separate table, which has a column that the file does not fill.
fn test(rig: &Rig, id: &str, text: &str, delimiter: char) -> Test {
    let column = |name: &str, kind| FileColumn { name: name.into(), kind };
    let table = format!("t{id}");
    let key = match rig.engine.name {
        "postgres" => "GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
        _ => "AUTO_INCREMENT PRIMARY KEY",
    };
    let setup =
        vec![format!("CREATE TABLE {table}(id INTEGER {key}, Route VARCHAR(9), Stop INTEGER, Note TEXT)")];
    let work = Work::ImportFile(ImportWork {
        table,
        columns: vec![
            column("Route", FieldKind::Text),
            column("Stop", FieldKind::Integer),
            column("Note", FieldKind::Text),
        ],
        file: rig.file(text.as_bytes()),
        bytes: text.len() as u64,
        records: text.matches('\n').count() as u64,
        delimiter,
        before: Vec::new(),
        after: Vec::new(),
        commits: Commits::default(),
    });
    Test { id: id.into(), setup, work, check: None }
}

/// The same with something changed of the work.
fn changed(mut test: Test, change: impl FnOnce(&mut ImportWork)) -> Test {
    let Work::ImportFile(work) = &mut test.work else { unreachable!() };
    change(work);
    test
}

#[test]
fn every_way_imports_every_record() {
    // Bytes that begin an escape or end a line elsewhere are text as any other.
    let records = records("C:\\new\\N \r x");
    let digest = digest(&records);
    let (tabs, bars) = (text(&records, '\t'), text(&records, '|'));
    for (engine, ways) in WAYS {
        let Some(rig) = Rig::start(engine) else { continue };
        for way in ways {
            let commits = |per_commit, timed| Commits { per_commit: Some(per_commit), timed: Some(timed) };
            let tests = vec![
                changed(test(&rig, "1", &tabs, '\t'), |work| {
                    work.before = vec!["CREATE INDEX first ON t1(Stop)".into()];
                }),
                changed(test(&rig, "2", &bars, '|'), |work| {
                    work.after = vec!["CREATE INDEX last ON t2(Stop)".into()];
                }),
                changed(test(&rig, "3", &tabs, '\t'), |work| work.commits = commits(700, 1500)),
                changed(test(&rig, "4", &bars, '|'), |work| work.commits = commits(1, 3)),
            ];
            let mut job = rig.job_of(tests);
            job.variant = Some((*way).to_owned());
            let events = rig.run(&job);
            let name = format!("{}+{way}: {:?}", rig.engine.name, events.last());
            for test in ["1", "2", "3", "4"] {
                assert_eq!(answers(&events, test), digest, "test {test} of {name}");
            }
            let bytes = |records: &[Record]| text(records, '\t').len() as u64;
            let reported: Vec<_> = samples(&events).map(|sample| (sample.operations, sample.bytes)).collect();
            let expected = [COUNT, COUNT, 1500, 3].map(|count| (count, bytes(&records[..count as usize])));
            assert_eq!(reported, expected, "{name}");
        }
        rig.assert_nothing_left();
    }
}

#[test]
fn a_record_that_does_not_fit_is_reported() {
    let good = text(&records("x")[..20], '\t');
    // The fault of record 21, and the messages about it of those who split, of COPY and of LOAD DATA.
    let wrong: [(&str, &[&str]); 5] = [
        (
            "1A\t2\n",
            &["it has 2 fields and not 3", "missing data for column", "doesn't contain data for all columns"],
        ),
        (
            "1A\t2\t\tx\n",
            &["it has 4 fields and not 3", "extra data after last", "contained more data than there"],
        ),
        (
            "1A\ttwo\t\n",
            &[
                "'two' is no whole number",
                "invalid input syntax for type integer: \"two\"",
                "Incorrect integer value: 'two'",
            ],
        ),
        ("1A\t2147483648\t\n", &["no whole number of 32 bits", "is out of range", "Out of range value"]),
        (
            "1234567890\t1\t\n",
            &["value too long for type", "Data too long for column", "Data truncated for column"],
        ),
    ];
    for (engine, ways) in WAYS {
        let Some(rig) = Rig::start(engine) else { continue };
        for way in ways {
            for (record, reported) in wrong {
                let said = complaint(&rig, way, test(&rig, "1", &format!("{good}{record}"), '\t'));
                let name = format!("{}+{way} of {record:?}: {said}", rig.engine.name);
                assert!(reported.iter().any(|reported| said.contains(reported)), "{name}");
                if ["text", "insert", "pipeline"].contains(way) || said.contains("fields and not") {
                    assert!(said.starts_with("record 21 of 21: "), "{name}");
                } else if *way != "multirow" {
                    // Of many rows in one statement no server reports which it refused.
                    assert!(said.contains("21"), "{name}");
                }
            }
            let missing = changed(test(&rig, "1", &good, '\t'), |work| work.table = "nowhere".into());
            let said = complaint(&rig, way, missing);
            assert!(said.contains("nowhere"), "{way}: {said}");
            let cut = changed(test(&rig, "1", &good, '\t'), |work| work.records += 1);
            let said = complaint(&rig, way, cut);
            assert!(said.contains("21 are promised: it is cut off"), "{way}: {said}");
        }
        rig.assert_nothing_left();
    }
}

#[test]
fn a_way_that_imports_no_files_says_so() {
    let Some(rig) = Rig::start(MARIADB) else { return };
    let said = complaint(&rig, "array", test(&rig, "1", &text(&records("x"), '\t'), '\t'));
    assert!(said.contains("does not implement the model import-file"), "{said}");
}

#[test]
fn freezing_empties_no_table_that_holds_something() {
    let Some(rig) = Rig::start(POSTGRES) else { return };
    let import = test(&rig, "1", &text(&records("x"), '\t'), '\t');
    let mut again = test(&rig, "2", &text(&records("x"), '\t'), '\t');
    (again.setup, again.check) = (Vec::new(), Some("SELECT count(*) FROM t1".into()));
    let mut job = rig.job_of(vec![import, changed(again, |work| work.table = "t1".into())]);
    job.variant = Some("freeze".into());
    assert_eq!(answers(&rig.run(&job), "2"), [[Value::Integer(2 * COUNT as i64)]]);
}
