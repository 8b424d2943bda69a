//! Records with every syntax, in blocks of every length.

use std::io::{BufReader, Cursor};

use proptest::prelude::*;

use super::*;

const USUAL: Syntax = Syntax { delimiter: b',', quote: Some(b'"'), escape: None, comment: None };

fn reader(text: &str, block: usize, syntax: Syntax) -> Records {
    let text = Box::new(BufReader::with_capacity(block, Cursor::new(text.to_owned())));
    Records::new(text, syntax, "t".into())
}

fn all(text: &str, block: usize) -> Result<Vec<(u64, Vec<String>)>> {
    collect(reader(text, block, USUAL))
}

fn collect(mut records: Records) -> Result<Vec<(u64, Vec<String>)>> {
    let (mut buffer, mut ends, mut found) = (vec![0; 4], vec![0; 1], Vec::new());
    while let Some(record) = records.read(&mut buffer, 0, &mut ends)? {
        let mut from = 0;
        let fields = ends[..record.fields].iter().map(|end| {
            let text = String::from_utf8_lossy(&buffer[from..*end]).into_owned();
            from = *end;
            text
        });
        found.push((record.line, fields.collect()));
    }
    Ok(found)
}

#[test]
fn lines_are_left_out_whatever_ends_them() {
    for (text, line) in [("x\r\ny\r\na,b\r\n", 3), ("x\ry\ra,b\r", 1), ("x\ny\na,b", 3), ("x\n\ra,b", 2)] {
        for block in [1, 2, 3, 100] {
            let mut records = reader(text, block, USUAL);
            records.skip(2).unwrap();
            assert_eq!(collect(records).unwrap(), [(line, vec!["a".to_owned(), "b".to_owned()])], "{text:?}");
        }
    }
    let mut records = reader("x\n", 9, USUAL);
    records.skip(u64::MAX).unwrap();
    assert_eq!(collect(records).unwrap(), []);
}

#[test]
fn records_have_their_fields_and_lines() {
    let text = "a,b\r\n\n\"x\ny\",\"\"\"\"\n,\"\"\n\nlast,1";
    for block in [1, 2, 3, 7, 100] {
        let found = all(text, block).unwrap();
        let fields: Vec<Vec<&str>> =
            found.iter().map(|(_, fields)| fields.iter().map(String::as_str).collect()).collect();
        assert_eq!(fields, [vec!["a", "b"], vec!["x\ny", "\""], vec!["", ""], vec!["last", "1"]]);
        let lines: Vec<u64> = found.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [1, 3, 5, 7], "blocks of {block}");
    }
}

#[test]
fn what_is_doubtful_is_marked_and_kept_as_it_stands() {
    for (text, flaw, last) in [
        ("a\nb,\"c\nd\n", Flaw::Unclosed, "\"c\nd\n"),
        ("a\nb,\"", Flaw::Unclosed, "\""),
        ("a\nb,\"c\"", Flaw::None, "c"),
        ("a\n\"5\" pipe", Flaw::Behind, "\"5\" pipe"),
        ("a\n\"5 \"\"x\"\"\" pipe\" y", Flaw::Behind, "\"5 \"\"x\"\"\" pipe\" y"),
        ("a\n5\" pipe", Flaw::None, "5\" pipe"),
        ("a\n\"a \\\", b\"", Flaw::Backslash, " b\""),
        ("a\n\"C:\\\",\"b\"", Flaw::None, "b"),
    ] {
        for block in [1, 3, 100] {
            let (mut records, mut buffer, mut ends) = (reader(text, block, USUAL), vec![0; 4], vec![0; 1]);
            let mut read = || records.read(&mut buffer, 0, &mut ends).unwrap();
            assert_eq!(read().unwrap().flaw, Flaw::None);
            let record = read().unwrap();
            assert!(read().is_none());
            let from = record.fields.checked_sub(2).map_or(0, |before| ends[before]);
            let found = String::from_utf8_lossy(&buffer[from..record.length]);
            assert_eq!((record.flaw, record.line, &*found), (flaw, 2, last), "{text}");
        }
    }
}

#[test]
fn quotes_escapes_and_comments_are_those_of_the_syntax() {
    let syntax = Syntax { delimiter: b';', quote: Some(b'\''), escape: Some(b'\\'), comment: Some(b'#') };
    let text = "# made by x\n1;'it\\'s; \\\\ \\n'\n#no,'record\n2;\"x\"";
    for block in [1, 2, 7, 100] {
        let found = collect(reader(text, block, syntax)).unwrap();
        let wanted = [(2, vec!["1", "it's; \\ \\n"]), (4, vec!["2", "\"x\""])];
        let found: Vec<(u64, Vec<&str>)> =
            found.iter().map(|(line, fields)| (*line, fields.iter().map(String::as_str).collect())).collect();
        assert_eq!(found, wanted);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn records_are_those_of_csv_core(
        text in prop::collection::vec(prop::sample::select(vec!["a", ",", "\n", "\r\n", "\"", "\"", "bcd"]), 0..60),
        block in 1..20usize,
    ) {
        let text = text.concat() + "\n";
        let mut reader = reader(&text, block, USUAL);
        let (mut buffer, mut ends, mut found) = (vec![0; 4], vec![0; 1], Vec::new());
        let mut has_flaw = false;
        while let Some(record) = reader.read(&mut buffer, 0, &mut ends).unwrap() {
            has_flaw |= record.flaw != Flaw::None;
            found.push((buffer[..record.length].to_vec(), ends[..record.fields].to_vec()));
        }
        if !has_flaw {
            let mut core = csv_core::Reader::new();
            let (mut output, mut places) = (vec![0; text.len()], vec![0; text.len()]);
            let (mut rest, mut wanted) = (text.as_bytes(), Vec::new());
            loop {
                let (result, read, written, fields) = core.read_record(rest, &mut output, &mut places);
                rest = &rest[read..];
                match result {
                    csv_core::ReadRecordResult::Record => {
                        wanted.push((output[..written].to_vec(), places[..fields].to_vec()));
                    }
                    _ => break,
                }
            }
            prop_assert_eq!(found, wanted);
        }
    }
}
