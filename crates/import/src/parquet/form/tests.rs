//! The texts of values, and the forms of columns.

use parquet::schema::parser::parse_message_type;

use super::*;

fn whole(form: Form, number: i64) -> String {
    let mut text = Vec::new();
    form.put_whole(number, form == Form::Date, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

fn bytes(form: Form, bytes: &[u8]) -> String {
    let mut text = Vec::new();
    form.put_bytes(bytes, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn times_have_the_digits_that_they_are_stored_with() {
    let timestamp = |ticks, is_utc| Form::Timestamp { ticks, is_utc };
    assert_eq!(whole(timestamp(1_000, true), -1), "1969-12-31 23:59:59.999 +00:00");
    assert_eq!(whole(timestamp(1_000_000_000, true), 1), "1970-01-01 00:00:00.000000001 +00:00");
    assert_eq!(whole(timestamp(1_000_000, false), 1), "1970-01-01 00:00:00.000001");
    let time = |ticks, is_utc| Form::Time { ticks, is_utc };
    assert_eq!(whole(time(1_000_000, false), 86_399_000_001), "23:59:59.000001");
    assert_eq!(whole(time(1_000, true), 0), "00:00:00.000 +00:00");
    assert_eq!(whole(Form::Date, -719_468), "0000-03-01");
    let mut text = Vec::new();
    let mut legacy = Int96::new();
    legacy.set_data(1, 0, 2_440_588);
    put_legacy(&legacy, &mut text).unwrap();
    assert_eq!(text, b"1970-01-01 00:00:00.000000001 +00:00");
}

#[test]
fn what_no_calendar_has_stays_a_number() {
    assert_eq!(whole(Form::Timestamp { ticks: 1_000, is_utc: true }, i64::MAX), i64::MAX.to_string());
    assert_eq!(whole(Form::Date, i64::from(i32::MAX)), i32::MAX.to_string());
    assert_eq!(whole(Form::Time { ticks: 1_000, is_utc: true }, -1), "-1");
}

#[test]
fn the_zone_of_a_time_is_that_of_its_type() {
    let of = |field: &str, created_by: &str| {
        let schema = parse_message_type(&format!("message t {{ required {field}; }}")).unwrap();
        Form::of(&schema.get_fields()[0], Some(created_by)).unwrap()
    };
    for (field, ticks, is_utc) in [
        ("int64 a (TIME(MICROS,true))", 1_000_000, true),
        ("int64 a (TIME(MICROS,false))", 1_000_000, false),
        ("int32 a (TIME(MILLIS,false))", 1_000, false),
        ("int64 a (TIME(NANOS,true))", 1_000_000_000, true),
        ("int32 a (TIME_MILLIS)", 1_000, true),
        ("int64 a (TIME_MICROS)", 1_000_000, true),
    ] {
        assert_eq!(of(field, "parquet-mr version 1.13.1"), Form::Time { ticks, is_utc }, "{field}");
        let by_arrow = of(field, "parquet-cpp-arrow version 14.0.0");
        assert_eq!(by_arrow, Form::Time { ticks, is_utc: false }, "{field}");
    }
}

#[test]
fn other_values_read_as_people_write_them() {
    assert_eq!(whole(Form::Unsigned, -1), u64::MAX.to_string());
    let decimal = Form::Decimal { precision: 40, scale: 2 };
    assert_eq!((whole(decimal, -5), bytes(decimal, &[0xff, 0xfb])), ("-0.05".into(), "-0.05".into()));
    assert_eq!(bytes(decimal, &[0x7f; 17]).len(), 42);
    let whole_decimal = Form::Decimal { precision: 38, scale: 0 };
    assert_eq!([123, -5, 0].map(|number| whole(whole_decimal, number)), ["123", "-5", "0"]);
    assert_eq!(bytes(whole_decimal, &[0xff; 16]), "-1");
    assert_eq!(whole(Form::Decimal { precision: 3, scale: 3 }, 0), "0.000");
    let uuid: Vec<u8> = (0..16).collect();
    assert_eq!(bytes(Form::Uuid, &uuid), "00010203-0405-0607-0809-0a0b0c0d0e0f");
    assert_eq!(
        [0x3c00u16, 0x0001, 0xfbff, 0x3555].map(|bits| bytes(Form::Half, &bits.to_le_bytes())),
        ["1", "0.00000005960464477539063", "-65504", "0.333251953125"]
    );
}
