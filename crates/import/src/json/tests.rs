//! Lines of JSON and the records that they are.

use std::io::Cursor;

use super::*;
use crate::syntax::LONGEST;

fn lines(text: &str, keys: &[&str]) -> Vec<(u64, Flaw, Vec<Option<String>>)> {
    let keys: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
    let mut lines = Lines::new(Box::new(Cursor::new(text.to_owned())), "t".into(), &keys, LONGEST);
    let (mut buffer, mut ends, mut found) = (Vec::new(), Vec::new(), Vec::new());
    while let Some(record) = lines.read(&mut buffer, 0, &mut ends).unwrap() {
        let mut from = 0;
        let values = ends[..record.fields].iter().enumerate().map(|(place, &end)| {
            let text = String::from_utf8_lossy(&buffer[std::mem::replace(&mut from, end)..end]).into_owned();
            (lines.nulls().get(place) != Some(&true) || record.flaw != Flaw::None).then_some(text)
        });
        found.push((record.line, record.flaw, values.collect()));
    }
    found
}

#[test]
fn objects_are_records() {
    let text = "{\"a\": 1, \"b\":\"x\\n\\u00e9\"}\n\n{ \"b\" : null }\r\n{\"a\":12345678901234567890.10,\"b\":[1, {\"c\":\"}\"}]}\n{}";
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(
        lines(text, &["a", "b"]),
        [
            (1, Flaw::None, vec![some("1"), some("x\n\u{e9}")]),
            (3, Flaw::None, vec![None, None]),
            (4, Flaw::None, vec![some("12345678901234567890.10"), some("[1, {\"c\":\"}\"}]")]),
            (5, Flaw::None, vec![None, None]),
        ]
    );
    for wrong in ["[1]", "{\"a\":1", "{\"a\" 1}", "{\"a\":1}x", "{\"a\":1,}", "{\"a\":tru}", "x"] {
        assert_eq!(lines(wrong, &["a"])[0].1, Flaw::Json, "{wrong}");
    }
    assert_eq!(lines("{\"z\":1}", &["a"])[0].1, Flaw::Key);
    assert_eq!(lines("{\"a\":1,\"b\":2,\"\\u0061\":1}", &["a", "b"])[0].1, Flaw::KeyTwice);
    assert!(is_lines(b"{\"a\":NaN}\n{\"a\":1}") && !is_lines(b"{a} x {b}\n1"));
    assert!(is_lines(b" {\"a\":1}\n{") && !is_lines(b"{\n\"a\":1}") && !is_lines(b"[{\"a\":1}]"));
    let mut keys = JsonKeys::default();
    for text in [text, "{\"b\":1,\"c\":2}"] {
        let lines = Lines::new(Box::new(Cursor::new(text)), "t".into(), &[], LONGEST);
        lines.add_keys(&mut keys).unwrap();
    }
    assert_eq!(keys.into_fields(), [b"a", b"b", b"c"]);
}

#[test]
fn keys_without_end_are_refused() {
    for letters in [1, 1000] {
        let (key, mut keys) = ("k".repeat(letters), JsonKeys::default());
        let text: String = (0..20_000).map(|line| format!("{{\"{key}{line}\":1}}\n")).collect();
        let lines = Lines::new(Box::new(Cursor::new(text)), "t".into(), &[], 1 << 20);
        let said = lines.add_keys(&mut keys).unwrap_err().to_string();
        let count = keys.into_fields().len();
        assert!(count * letters < 1 << 20, "{count}");
        let place = format!("t:{}: up to here the objects have more than {count} keys", count + 1);
        assert!(said.starts_with(&place), "{said}");
    }
}
