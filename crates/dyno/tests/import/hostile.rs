//! Values that mean something else to COPY and to LOAD DATA, and rows that are wrong: every byte of the former comes to
//! the server, and of the latter none.

use std::fs;

use super::servers::{Server, printed, program};
use crate::common::{Place, Result};

const ENGINES: [&str; 3] = ["postgres", "mariadb", "mysql"];

/// A row: a number, a text, and a number or NULL.
type Row = (usize, String, Option<i64>);

/// Texts that are more than they seem to one way or another.
fn values() -> Vec<String> {
    let short = [
        "\\N",
        "\\.",
        "\\",
        "a\\",
        "\\\\",
        "\\n",
        "\\t",
        "\\x41",
        "\\101",
        "\\0",
        "a\tb",
        "\t",
        "a\rb",
        "\r",
        "a\nb",
        "\n",
        "a\r\nb",
        "\\\t",
        "\\\n",
        "\n\\.\n",
        "",
        " ",
        "NULL",
        "null",
        "\"",
        "\"\"",
        "a\"b",
        "it's",
        "😀",
        "naïve",
        "e\u{301}",
        "\u{feff}x",
        "\u{1}",
        "\u{1a}",
        "\u{7f}",
        "\u{2028}",
        "%s",
        "--",
        ",",
        ";",
        "|",
        "a,b",
        "0",
        "-0",
    ];
    let long = ["x".repeat(70_000), "\\".repeat(70_000), "😀\t".repeat(14_000)];
    short.into_iter().map(String::from).chain(long).collect()
}

/// Rows of the values that a text without quotes can hold with this delimiter, or of all of them.
fn rows(delimiter: char, has_quotes: bool) -> Vec<Row> {
    let is_plain = |value: &String| !value.contains([delimiter, '\n', '\r']);
    let values = values().into_iter().filter(|value| has_quotes || is_plain(value));
    let number = |place: usize| (!place.is_multiple_of(3)).then(|| (place as i64).wrapping_mul(-858_993_460));
    values.enumerate().map(|(place, value)| (place, value, number(place))).collect()
}

/// The rows as a file, below names of columns.
fn file(rows: &[Row], delimiter: char, has_quotes: bool, line_end: &str) -> String {
    let mut text = ["id", "v", "n"].join(&delimiter.to_string()) + line_end;
    for (id, value, number) in rows {
        let value = if has_quotes { format!("\"{}\"", value.replace('"', "\"\"")) } else { value.clone() };
        let number = number.map_or(String::new(), |number| number.to_string());
        text += &format!("{id}{delimiter}{value}{delimiter}{number}{line_end}");
    }
    text
}

/// The rows as [`stored`] prints them.
fn expected(rows: &[Row], times: usize) -> Vec<String> {
    let hex = |text: &str| text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
    let row = |(id, value, number): &Row| {
        let number = number.map_or("none".to_owned(), |number| number.to_string());
        vec![format!("{id}|x{}|{number}", hex(value)); times]
    };
    rows.iter().flat_map(row).collect()
}

/// The rows of the table `t`, with the bytes of their texts.
fn stored(server: &Server) -> Vec<String> {
    let columns = match server.url.starts_with("postgres:") {
        true => "id, 'x' || encode(convert_to(v, 'UTF8'), 'hex'), coalesce(n::text, 'none')",
        false => "id, concat('x', lower(hex(v))), coalesce(n, 'none')",
    };
    let found = printed(&mut program(&server.url), &format!("SELECT {columns} FROM t ORDER BY id"));
    found.lines().map(String::from).collect()
}

fn import(place: &Place, server: &Server, arguments: &str) -> Result {
    let mut command = place.command();
    command.args(["import", "--table", "t", "--header"]);
    // A table that is there has its types.
    if !arguments.contains("--append") {
        command.args(["--types", "id:INTEGER,v:TEXT,n:INTEGER"]);
    }
    command.args(arguments.split(' ')).args(["--into", &server.url]);
    Result::from(command.output().unwrap()).without_panic()
}

/// Compares without printing rows of 70,000 bytes.
fn assert_rows(found: &[String], expected: &[String], what: &str) {
    let start = |row: Option<&String>| row.map(|row| row.chars().take(200).collect::<String>());
    let differs = (0..found.len().max(expected.len())).find(|&row| found.get(row) != expected.get(row));
    if let Some(row) = differs {
        panic!("{what}: row {row}: {:?} and not {:?}", start(found.get(row)), start(expected.get(row)));
    }
}

#[test]
fn every_byte_comes_to_the_server() {
    for engine in ENGINES {
        let Some(server) = Server::start(engine) else { continue };
        let place = Place::new();
        let forms = [
            (',', true, "\n", ","),
            ('\t', true, "\r\n", "tab"),
            ('\t', false, "\n", "tab --no-quotes"),
            (',', false, "\r\n", ", --no-quotes"),
            ('|', false, "\r", "| --no-quotes"),
        ];
        for (delimiter, has_quotes, line_end, options) in forms {
            let what = format!("{engine}, {options}");
            let all = rows(delimiter, has_quotes);
            place.write("t.csv", &file(&all, delimiter, has_quotes, line_end));
            for (how, times) in [("--replace", 1), ("--append", 2), ("--replace --connections 1", 1)] {
                if how.contains("connections") && engine != "postgres" {
                    continue;
                }
                // The first one makes the table.
                let is_first = times == 1 && !how.contains(' ') && options == ",";
                let how = if is_first { "" } else { how };
                let arguments = format!("t.csv --delimiter {options} {how}");
                import(&place, &server, arguments.trim_end()).exits(0);
                assert_rows(&stored(&server), &expected(&all, times), &format!("{what} {how}"));
            }
        }
    }
}

#[test]
fn rows_of_one_column_come_to_the_server() {
    for engine in ENGINES {
        let Some(server) = Server::start(engine) else { continue };
        let place = Place::new();
        // Alone in its line, this ended the rows of a COPY once.
        place.write("one.csv", "v\n\\.\n\\N\na\n\"\"\n\\\\.\n");
        let arguments = ["import", "one.csv", "--header", "--types", "TEXT", "--into", &server.url];
        Result::from(place.command().args(arguments).output().unwrap()).without_panic().exits(0);
        let found = printed(&mut program(&server.url), "SELECT count(*), sum(length(v)) FROM one");
        assert_eq!(found, "5|8", "{engine}");
        let same =
            "SELECT count(*) FROM one WHERE v IN (concat(chr(92), '.'), concat(chr(92), 'N'), 'a', '')";
        let same = if engine == "postgres" { same.to_owned() } else { same.replace("chr(", "char(") };
        assert_eq!(printed(&mut program(&server.url), &same), "4", "{engine}");
    }
}

/// Bad rows of a file, with the reason of each.
const BAD: [(&[u8], &str); 8] = [
    (b"1,a\0b,2", "holds a zero byte"),
    (b"1,\xff,2", "is not UTF-8"),
    (b"1,\xf0\x9f\x98,2", "is not UTF-8"),
    (b"1,a", "has 2 fields, not 3"),
    (b"1,a,2,3", "has 4 fields, not 3"),
    (b"1,a,two", "is no INTEGER"),
    (b"1,a,9223372036854775808", "is no INTEGER"),
    (b"1,\"a\"b,2", "text behind a closing quote"),
];

#[test]
fn a_bad_row_ends_the_import_or_is_put_aside() {
    for engine in ENGINES {
        let Some(server) = Server::start(engine) else { continue };
        let place = Place::new();
        printed(&mut program(&server.url), "CREATE TABLE t (id BIGINT, v TEXT, n BIGINT)");
        // The second file has no quotes, so that its rows are parsed in another way.
        for bad in [&BAD[..], &BAD[..7]] {
            let mut text = b"id,v,n\n0,first,1\n".to_vec();
            let mut lines = Vec::new();
            for (row, reason) in bad {
                // Empty lines are counted.
                text.extend_from_slice(b"7,good \\N,\n\n");
                lines.push((text.iter().filter(|byte| **byte == b'\n').count() + 1, *reason));
                text.extend_from_slice(&[row, b"\n".as_slice()].concat());
            }
            fs::write(place.path("t.csv"), text).unwrap();
            for how in ["--append", "--replace"] {
                let before = stored(&server);
                let (line, reason) = lines[0];
                let said = import(&place, &server, &format!("t.csv {how}")).exits(2).stderr.clone();
                assert!(said.contains(&format!("t.csv:{line}: ")) && said.contains(reason), "{said}");
                assert_rows(&stored(&server), &before, &format!("{engine}, {how}, stopped"));
            }
            let reject = "t.csv --replace --on-error reject --rejects r.csv";
            let found = format!("{} bad rows were left out", bad.len());
            import(&place, &server, reject).exits(3).prints(&found);
            let good = (0..bad.len()).map(|_| (7, "good \\N".to_owned(), None));
            let good: Vec<Row> = [(0, "first".to_owned(), Some(1))].into_iter().chain(good).collect();
            assert_rows(&stored(&server), &expected(&good, 1), &format!("{engine}, rejected"));
            let rejects = fs::read(place.path("r.csv")).unwrap();
            let rejects = String::from_utf8_lossy(&rejects);
            for (line, reason) in &lines {
                let is_there = |row: &str| row.starts_with(&format!("{line},")) && row.contains(reason);
                assert!(rejects.lines().any(is_there), "{line} {reason}: {rejects}");
            }
            fs::remove_file(place.path("r.csv")).unwrap();
        }
    }
}
