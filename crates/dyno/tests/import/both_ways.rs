//! `dyno import` writes the pages of a new database itself, and lets SQLite insert into one that is there. Hostile
//! files go both ways, and come to the same: rows, types, messages with their lines, and rejects.

use std::fs;
use std::process::Command;

use fastrand::Rng;

use crate::common::{Place, Result};

/// Files that are tried; `DYNO_FILES` makes the run longer.
fn files() -> u64 {
    std::env::var("DYNO_FILES").map_or(50, |files| files.parse().unwrap())
}

/// The parts of which fields are made.
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

/// Imports a file: how that ended, and the lines of what was put aside. Those are in order: rows that the parser puts
/// aside and rows that SQLite refuses come as each of them gets to it.
fn import(place: &Place, arguments: &str, into: &str) -> (Option<i32>, String, Vec<String>) {
    let rejects = place.path("rejects.csv");
    let rejecting = if arguments.contains("--on-error reject") { "--rejects rejects.csv" } else { "" };
    let arguments = format!("import hostile.csv -q --safety none {arguments} {rejecting} --into {into}");
    let result: Result = place.dyno(&arguments).without_panic();
    let text = fs::read(&rejects).unwrap_or_default();
    let mut put_aside: Vec<String> = String::from_utf8_lossy(&text).lines().map(str::to_owned).collect();
    put_aside.sort();
    let _ = fs::remove_file(rejects);
    (result.code, result.stderr.clone(), put_aside)
}

/// Compares what both ways came to: the schema, and every value with its type and its row's number, also by each index.
const COMPARE: &str = "
import sqlite3
def read(path):
    base = sqlite3.connect(path); base.text_factory = bytes
    assert base.execute('PRAGMA integrity_check').fetchall() == [(b'ok',)]
    columns = [row[1].decode() for row in base.execute('PRAGMA table_info(t)')]
    every = ','.join(f'\"{name}\",typeof(\"{name}\")' for name in columns)
    schema = base.execute(\"SELECT type, name, sql FROM sqlite_schema WHERE tbl_name = 't'\").fetchall()
    orders = [f'SELECT rowid,{every} FROM t ORDER BY rowid']
    for index in base.execute('PRAGMA index_list(t)').fetchall():
        names = [row[2].decode() for row in base.execute(f'PRAGMA index_info(\"{index[1].decode()}\")')]
        by = ','.join(f'\"{name}\"' for name in names)
        orders.append(f'SELECT {by},rowid FROM t ORDER BY {by},rowid')
    return [schema] + [base.execute(sql).fetchall() for sql in orders]
for one, other in zip(read(ONE), read(OTHER), strict=True):
    assert len(one) == len(other), (len(one), len(other))
    for row, same in zip(one, other):
        assert row == same, (row, same)
";

fn compare(one: &str, other: &str) -> String {
    format!("ONE, OTHER = '{one}', '{other}'\n{COMPARE}")
}

fn python(place: &Place, script: &str) {
    let output = Command::new("python3").args(["-c", script]).current_dir(place.path("")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A file with keys: in order or not, now and then one that comes twice or is missing.
fn keyed(number: u64) -> (Vec<u8>, String) {
    let mut random = Rng::with_seed(1000 + number);
    let rows: i64 = if number.is_multiple_of(4) { 60_000 } else { random.i64(1..400) };
    let mut keys: Vec<String> = (0..rows).map(|row| (row * random.i64(1..3) * 7 - 300).to_string()).collect();
    keys.sort_by_key(|key| key.parse::<i64>().unwrap());
    keys.dedup();
    if random.bool() {
        random.shuffle(&mut keys);
    }
    let place = random.usize(..keys.len());
    match random.u32(..4) {
        0 => keys[place] = String::new(),
        1 => keys[place] = keys[0].clone(),
        _ => {}
    }
    let day = random.u32(1..5);
    let mut text = b"id,word,day,size\n".to_vec();
    for key in keys {
        let (day, word) = (random.u32(..day), random.u32(..30_000));
        let bad = if random.u32(..20_000) == 0 { ",too many" } else { "" };
        let line = format!("{key},w{word},{day},{}{bad}\n", random.f64());
        text.extend_from_slice(line.as_bytes());
    }
    let mut arguments = "--header --table t --delimiter ,".to_owned();
    arguments += match random.u32(..6) {
        0..3 => " --primary-key id",
        3 => " --primary-key id --types id:BIGINT",
        4 => " --primary-key word",
        _ => " --primary-key day,id",
    };
    for (argument, one_of) in
        [("--on-error reject", 2), ("--index day,word", 2), ("--index id", 3), ("--index size", 3)]
    {
        if random.u32(..one_of) == 0 {
            arguments += &format!(" {argument}");
        }
    }
    (text, arguments)
}

/// Imports files both ways and compares; says how many were loaded, how many refused, and how many loaded in part.
fn both_ways(files: impl Iterator<Item = (Vec<u8>, String)>) -> [usize; 3] {
    let place = Place::new();
    let python = |script: &str| python(&place, script);
    let mut outcomes = [0; 3];
    for (number, (text, arguments)) in files.enumerate() {
        fs::write(place.path("hostile.csv"), text).unwrap();
        let _ = fs::remove_file(place.path("new.db"));
        let _ = fs::remove_file(place.path("there.db"));
        python("import sqlite3; sqlite3.connect('there.db').execute('CREATE TABLE other(a)')");
        let direct = import(&place, &arguments, "new.db");
        let by_sqlite = import(&place, &arguments, "there.db");
        assert_eq!((direct.0, &direct.1), (by_sqlite.0, &by_sqlite.1), "file {number}, {arguments}");
        let different = direct.2.iter().zip(&by_sqlite.2).find(|(one, other)| one != other);
        assert_eq!((different, direct.2.len()), (None, by_sqlite.2.len()), "file {number}, {arguments}");
        match direct.0 {
            Some(0 | 3) => python(&compare("new.db", "there.db")),
            _ => assert!(!place.path("new.db").exists()),
        }
        outcomes[match direct.0 {
            Some(0) => 0,
            Some(3) => 2,
            _ => 1,
        }] += 1;
    }
    outcomes
}

#[test]
fn hostile_files_come_to_the_same_both_ways() {
    let [loaded, refused, rejected] = both_ways((0..files()).map(file));
    assert!(
        loaded > 4 && refused > 9 && rejected > 9,
        "{loaded} loaded, {refused} refused, {rejected} in part"
    );
}

#[test]
fn keys_come_to_the_same_both_ways() {
    let [loaded, refused, rejected] = both_ways((0..files()).map(keyed));
    assert!(
        loaded > 9 && refused > 4 && rejected > 4,
        "{loaded} loaded, {refused} refused, {rejected} in part"
    );
}

/// Whole numbers of every length.
fn whole(random: &mut Rng) -> String {
    const EDGES: [&str; 16] = [
        "0",
        "1",
        "-1",
        "9",
        "9999999",
        "10000000",
        "12345678",
        "99999999",
        "100000000",
        "-99999999",
        "9999999999999999",
        "12345678901234567",
        "9223372036854775807",
        "-9223372036854775808",
        "-2147483649",
        "",
    ];
    match random.u32(..4) {
        0 => EDGES[random.usize(..EDGES.len())].into(),
        1 => random.u32(..50).to_string(),
        _ => (random.i64(..) >> random.u32(..64)).to_string(),
    }
}

/// A file of whole numbers and texts, long enough for several pieces where `pieces` says so: some of them with quotes,
/// some with rows that no page holds, and lines that end in every way.
fn numbers(number: u64, pieces: bool) -> (Vec<u8>, String) {
    let mut random = Rng::with_seed(2000 + number);
    let (rows, ascends) = (if pieces { 60_000 } else { random.u32(1..60) }, random.bool());
    let begins_anew = if random.bool() { random.u32(..60_000) } else { rows };
    let mut text = if random.bool() { "\u{feff}".to_owned() } else { String::new() };
    for row in 0..rows {
        // They may begin anew at the place where a piece does, or anywhere.
        let again = if row >= begins_anew { 1_000_000 } else { 0 };
        let key = if ascends { format!("{}", i64::from(row) * 3 - again) } else { whole(&mut random) };
        let word = match random.u32(..2000) {
            0 => "long ".repeat(random.usize(..3000)),
            1..100 => "x".repeat(random.usize(40..70)),
            _ => "ä".repeat(random.usize(..9)),
        };
        // Pieces without a quote lie between others.
        let quote = if row / 9000 % 3 == 1 && random.u32(..50) == 0 { "\"" } else { "" };
        text += &format!("{key},{quote}{word}{quote},{},{}", whole(&mut random), whole(&mut random));
        text += ["\n", "\n", "\n", "\r\n", "\r", "\n\n\r\n"][random.usize(..6)];
    }
    match random.u32(..8) {
        0 => text += "007,x,1,1\n",
        1 => text += "1,x,+1,1",
        2 => text += "1,x,-0,1",
        3 => text += "1,x,9223372036854775808,1",
        4 => text += "1,x,1",
        _ => text += "999999,x,1,2",
    }
    let mut arguments = "--no-header --table t --delimiter , --types INTEGER,TEXT,INTEGER,INTEGER".to_owned();
    for (argument, one_of) in [
        ("--index c3", 2),
        ("--index c4", 2),
        ("--index c1", 3),
        ("--index c2", 4),
        ("--primary-key c1", 3),
        ("--memory 8MiB", 2),
        ("--null 7", 4),
    ] {
        if random.u32(..one_of) == 0 {
            arguments += &format!(" {argument}");
        }
    }
    (text.into_bytes(), arguments)
}

#[test]
fn whole_numbers_and_their_indexes_come_to_the_same_both_ways() {
    let long = (0..files() / 8).map(|file| numbers(file, true));
    let [loaded, refused, _] = both_ways(long.chain((0..files()).map(|file| numbers(100 + file, false))));
    assert!(loaded > 9 && refused > 9, "{loaded} loaded, {refused} refused");
}

/// Each file makes a table, to which it is added once more, and then the next file, of which less fits. An index has
/// SQLite insert the rows of the one table; the other's are moved to it by their pages.
#[test]
fn rows_for_a_table_that_is_there_come_to_the_same_both_ways() {
    let place = Place::new();
    let (mut loaded, mut refused) = (0, 0);
    for number in 0..files() / 2 {
        let (text, arguments) = file(number);
        for name in ["bare.db", "indexed.db"] {
            let _ = fs::remove_file(place.path(name));
        }
        fs::write(place.path("hostile.csv"), &text).unwrap();
        if !matches!(import(&place, &arguments, "bare.db").0, Some(0 | 3)) {
            continue;
        }
        fs::copy(place.path("bare.db"), place.path("indexed.db")).unwrap();
        let index = "import sqlite3; sqlite3.connect('indexed.db').execute('CREATE INDEX more ON t(c1)')";
        python(&place, index);
        let (next, _) = file(number + 1);
        for text in [text, next] {
            fs::write(place.path("hostile.csv"), text).unwrap();
            let types = arguments.split(" --types").next().unwrap();
            let arguments = format!("{types} --append");
            let moved = import(&place, &arguments, "bare.db");
            let inserted = import(&place, &arguments, "indexed.db");
            assert_eq!(moved, inserted, "file {number}, {arguments}");
            match moved.0 {
                Some(0 | 3) => loaded += 1,
                _ => refused += 1,
            }
        }
        python(&place, "import sqlite3; sqlite3.connect('indexed.db').execute('DROP INDEX more')");
        python(&place, &compare("bare.db", "indexed.db"));
    }
    assert!(loaded > 4 && refused > 1, "{loaded} loaded, {refused} refused");
}
