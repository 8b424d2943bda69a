//! `dyno import` writes the pages of a new database itself, and lets SQLite insert into one that is there. Hostile files
//! go both ways, and come to the same: rows, types, messages with their lines, and rejects.

use std::fs;
use std::process::Command;

use fastrand::Rng;

use crate::common::{Place, Result};

/// Files that are tried.
const FILES: u64 = 50;

/// What fields are made of.
const PIECES: [&str; 26] = [
    "",
    "",
    "0",
    "1",
    "-7",
    "007",
    "-0",
    "+1",
    "1.5",
    ".5",
    "1e3",
    "NULL",
    "x",
    "Ann",
    "ä",
    "a b",
    "\u{feff}",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "9007199254740993",
    "0.1",
    "123456789012",
    "1234567890123456",
    "0.1234567890123456789",
    "2024-01-01",
];

/// A field with whatever may be in one.
fn field(random: &mut Rng, delimiter: char) -> String {
    let piece = PIECES[random.usize(..PIECES.len())].to_owned();
    match random.u32(..40) {
        0..25 => piece,
        25..28 => format!("\"{piece}\""),
        28 => format!("\"{piece}\"\"{piece}\""),
        29 => format!("\"{piece}{delimiter}{piece}\""),
        30 => format!("\"{piece}\n{piece}\r\n\""),
        31 => format!("\"{piece}\"tail"),
        32 => format!("{piece}\"{piece}"),
        33 => format!("\"\"{piece}"),
        34 => format!("\"{}\"", "long\n".repeat(random.usize(..3000))),
        35 => "y".repeat(random.usize(..300)),
        36 => format!("{}", random.i64(..)),
        37 => format!("{}", random.i64(..) >> random.u32(..64)),
        38 => format!("{:.*}", random.usize(..17), random.f64() * 1e6 - 5e5),
        _ => "\"\"".into(),
    }
}

/// A file, and what is said of it on the command line.
fn file(number: u64) -> (Vec<u8>, String) {
    let mut random = Rng::with_seed(number);
    let delimiter = [',', '\t', ';'][random.usize(..3)];
    let columns = random.usize(1..6);
    // Every fifth file is cut into several chunks.
    let length = if number.is_multiple_of(5) { 1 << 21 } else { random.usize(..20_000) };
    let clean = random.bool().then(|| random.usize(..PIECES.len()));
    let mut text = Vec::new();
    while text.len() < length {
        let count = if random.u32(..200) == 0 { random.usize(1..8) } else { columns };
        let fields: Vec<String> = (0..count)
            .map(|column| match clean {
                // Most columns are of one type nearly to the end.
                Some(piece) if column > 0 && random.u32(..3000) > 0 => {
                    PIECES[(piece + column) % PIECES.len()].into()
                }
                _ => field(&mut random, delimiter),
            })
            .collect();
        text.extend_from_slice(fields.join(&delimiter.to_string()).as_bytes());
        if random.u32(..2000) == 0 {
            text.extend_from_slice(b"\xff\xfe");
        }
        text.extend_from_slice([&b"\n"[..], b"\n", b"\r\n", b"\n\n", b"\r"][random.usize(..5)]);
    }
    match random.u32(..6) {
        0 => text.extend_from_slice(b"\"never closed\n1,2"),
        1 => text.extend_from_slice(b"no end"),
        2 => text.extend_from_slice(b"\"closed at the end\""),
        _ => {}
    }
    let delimiter = if delimiter == '\t' { "tab".to_owned() } else { delimiter.to_string() };
    let mut arguments = format!("--no-header --table t --delimiter {delimiter}");
    for (argument, one_of) in [("--no-quotes", 5), ("--null NULL", 3), ("--on-error reject", 2)] {
        if random.u32(..one_of) == 0 {
            arguments += &format!(" {argument}");
        }
    }
    if random.u32(..4) == 0 {
        let types = (0..columns).map(|_| ["TEXT", "INTEGER", "REAL"][random.usize(..3)]);
        arguments += &format!(" --types {}", types.collect::<Vec<_>>().join(","));
    }
    (text, arguments)
}

/// Imports a file: how that ended, and what was put aside.
fn import(place: &Place, arguments: &str, into: &str) -> (Option<i32>, String, Option<Vec<u8>>) {
    let rejects = place.path("rejects.csv");
    let rejecting = if arguments.contains("--on-error reject") { "--rejects rejects.csv" } else { "" };
    let arguments = format!("import hostile.csv -q --safety none {arguments} {rejecting} --into {into}");
    let result: Result = place.dyno(&arguments).without_panic();
    let put_aside = fs::read(&rejects).ok();
    let _ = fs::remove_file(rejects);
    (result.code, result.stderr.clone(), put_aside)
}

#[test]
fn hostile_files_come_to_the_same_both_ways() {
    let place = Place::new();
    let script = "import sqlite3; sqlite3.connect('there.db').execute('CREATE TABLE other(a)')";
    let compare = "
import sqlite3
def read(path):
    base = sqlite3.connect(path); base.text_factory = bytes
    assert base.execute('PRAGMA integrity_check').fetchall() == [(b'ok',)]
    columns = [row[1].decode() for row in base.execute('PRAGMA table_info(t)')]
    every = ','.join(f'\"{name}\",typeof(\"{name}\")' for name in columns)
    schema = base.execute(\"SELECT sql FROM sqlite_schema WHERE name = 't'\").fetchall()
    return schema, base.execute(f'SELECT rowid,{every} FROM t ORDER BY rowid').fetchall()
one, other = read('new.db'), read('there.db')
assert one[0] == other[0], (one[0], other[0])
assert len(one[1]) == len(other[1]), (len(one[1]), len(other[1]))
for row, same in zip(one[1], other[1]):
    assert row == same, (row, same)
";
    let python = |script: &str| {
        let output =
            Command::new("python3").args(["-c", script]).current_dir(place.path("")).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let (mut loaded, mut refused, mut rejected) = (0, 0, 0);
    for number in 0..FILES {
        let (text, arguments) = file(number);
        fs::write(place.path("hostile.csv"), text).unwrap();
        let _ = fs::remove_file(place.path("new.db"));
        let _ = fs::remove_file(place.path("there.db"));
        python(script);
        let direct = import(&place, &arguments, "new.db");
        let by_sqlite = import(&place, &arguments, "there.db");
        assert_eq!(direct, by_sqlite, "file {number}, {arguments}");
        match direct.0 {
            Some(0 | 3) => python(compare),
            _ => assert!(!place.path("new.db").exists()),
        }
        match direct.0 {
            Some(0) => loaded += 1,
            Some(3) => rejected += 1,
            _ => refused += 1,
        }
    }
    assert!(
        loaded > 4 && refused > 9 && rejected > 9,
        "{loaded} loaded, {refused} refused, {rejected} in part"
    );
}
