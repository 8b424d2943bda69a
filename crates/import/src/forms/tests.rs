//! Texts that a column of a server keeps as they stand, and texts that it would change.

use super::*;
use crate::value::read;

fn check(form: Form, kept: &[&str], others: &[&str]) {
    for (texts, is_kept) in [(kept, true), (others, false)] {
        for text in texts {
            let fits = fits(form, text.as_bytes(), |kind, part| read(kind, part).is_ok());
            assert_eq!(fits, is_kept, "{form:?}: {text}");
        }
    }
}

#[test]
fn dates_and_times_are_kept_as_they_stand() {
    let dates = [
        "2024-01-02",
        "2024-1-2",
        "2024/01/02",
        "2024-01-02 00:00:00",
        "2024-01-02T00:00",
        "infinity",
        "0044-03-15 BC",
    ];
    check(
        Form::Date,
        &dates,
        &[
            "2024-01-02 23:59:59",
            "01/02/2024",
            "24-01-02",
            "20240102",
            "today",
            "2024-01-02x",
            "2024-01/02",
            "2024-01-02 00:00:00+05",
            "2024-01-02 ",
            "",
        ],
    );
    let plain = Form::Timestamp { digits: 0, has_zone: false };
    check(
        plain,
        &["2024-01-01 10:00:00", "2024-01-01T10:00", "2024-01-01", "2024-01-01 10:00:00.000", "-infinity"],
        &[
            "2024-01-01 10:00:00.6",
            "2024-01-01 10:00:00+05",
            "2024-01-01 10:00:00Z",
            "now",
            "10:00:00",
            "2024-01-01 -1:00",
            "2024-01-01 24:00:00",
            "2024-01-01 24:00",
            "2024-01-01 10:00:60",
        ],
    );
    let zoned = Form::Timestamp { digits: 6, has_zone: true };
    check(
        zoned,
        &[
            "2024-01-01 10:00:00.123456+05",
            "2024-01-01T10:00:00Z",
            "2024-01-01 10:00:00 UTC",
            "2024-01-01 10:00:00-05:30",
            "2024-01-01 10:00:00.1234560",
            "0044-03-15 10:00:00+00 BC",
        ],
        &["2024-01-01 10:00:00.1234567", "2024-01-01 10:00:00 PM", "2024-01-01 10:00:00 CEST"],
    );
    check(
        Form::Time { digits: 3, has_zone: false },
        &["10:00", "9:05:01.5", "-838:59:59", "10:00:00.1230", "24:00:00"],
        &["10:00:60", "23:59:60.0", "10:00:00.1234", "10:00 PM", "1 10:00:00", "1000", "10:00:00+02"],
    );
    check(
        Form::Interval { digits: 2 },
        &["1 day 10:00:00.25", "PT1.5S", "3 mons", "1.5", "1.5 secs", "2 years -1.25s"],
        &["1.5 years", "00:00:01.255", "P0.5D", "1.5 days 3 secs"],
    );
}

#[test]
fn texts_are_kept_as_they_stand() {
    check(Form::Padded { length: 3, fills: false }, &["", "abc", "äöü", " a"], &["abcd", "a ", "ab "]);
    check(Form::Padded { length: 3, fills: true }, &["ab ", "abc"], &["a ", "abc "]);
    check(Form::Bytes { least: 2, most: 2 }, &["ab"], &["a", "abc"]);
    let words: &[String] = Box::leak(Box::new(["a", "b", "it's"].map(String::from)));
    check(Form::OneOf(words), &["a", "it's"], &["1", "A", "a ", ""]);
    check(Form::SomeOf(words), &["a", "a,it's", "b"], &["b,a", "a,a", "1", "a,c"]);
    let eight = |is_short| Form::Rounded { precision: 8, scale: 2, is_short };
    check(eight(false), &["1.25", "999999.99"], &["1.005", "1000000"]);
    check(eight(true), &["123456.78"], &["999999.99"]);
    let reals: &Kind = Box::leak(Box::new(Kind::Real32));
    check(Form::Several(reals), &["{1.5,NULL,\"2\"}", "[0.1, 0.2]", "{}"], &["{0.12345678901}", "{x}"]);
    let words = Form::Several(Box::leak(Box::new(Kind::Text { longest: Some(3) })));
    check(
        words,
        &["{abc,\"d,e\",NULL,\"\"}", "{ \"abc\" , d }", "[0:1]={ab,cd}", "{a\\,b}", "{\"a\\\"b\"}"],
        &["{\"abc   \"}", "{\"ab,cd\"}", "{a,{\"NULL\"}}", "{abcd}", "[0:0]={abcd}"],
    );
    let times =
        Form::Several(Box::leak(Box::new(Kind::Form(Form::Timestamp { digits: 6, has_zone: false }))));
    check(
        times,
        &[
            "[2024-01-01 10:00,\"2024-01-02 10:00:00.5\")",
            "empty",
            "(,infinity]",
            "{[2024-01-01,2024-01-02)}",
        ],
        &["[2024-01-01 10:00:00.1234567,)", "[\"2024-01-01 24:00:00\",)"],
    );
}
