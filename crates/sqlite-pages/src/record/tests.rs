//! Records as SQLite writes them.

use super::*;

fn record(values: &[Value]) -> Vec<u8> {
    let mut record = Vec::new();
    Encoder::default().append(values.iter().copied(), &mut record).unwrap();
    record
}

#[test]
fn a_record_is_read_as_it_was_written() {
    let mut values = vec![Value::Null, Value::Real(1.5), Value::Text("ä".as_bytes()), Value::Blob(b"\0")];
    for shift in 0..63 {
        for number in [1i64 << shift, (1 << shift) - 1, -(1 << shift), -(1 << shift) - 1] {
            values.push(Value::Integer(number));
        }
    }
    values.extend([Value::Integer(i64::MIN), Value::Integer(i64::MAX)]);
    // Headers of one and of two bytes' length, and the step between them.
    for count in 0..values.len() {
        let bytes = record(&values[..count]);
        assert!(Values::of(&bytes).eq(values[..count].iter().copied()), "{count}");
    }
}

#[test]
fn integers_take_as_few_bytes_as_sqlite_gives_them() {
    let takes = |number| record(&[Value::Integer(number)]).len() - 2;
    assert_eq!([0, 1, 2, 127, 128, -128, -129].map(takes), [0, 0, 1, 1, 2, 1, 2]);
    assert_eq!([32_767, 32_768, 8_388_607, 8_388_608].map(takes), [2, 3, 3, 4]);
    assert_eq!([2_147_483_647, 2_147_483_648, (1 << 47) - 1, 1 << 47].map(takes), [4, 6, 6, 8]);
}

#[test]
fn whole_numbers_are_stored_as_integers_in_columns_of_numbers() {
    assert_eq!(Value::in_real(5.0), Value::Integer(5));
    assert_eq!(Value::in_real(-0.5), Value::Real(-0.5));
    assert_eq!(Value::in_real(1e15), Value::Real(1e15));
    assert_eq!(Value::in_real(f64::INFINITY), Value::Real(f64::INFINITY));
    assert_eq!(Value::in_numeric(1e15), Value::Integer(1_000_000_000_000_000));
    assert_eq!(Value::in_numeric(1e19), Value::Real(1e19));
}

#[test]
fn values_are_ordered_across_types_without_rounding() {
    let big = 1i64 << 53;
    let ascending = [
        Value::Null,
        Value::Real(-1e300),
        Value::Integer(i64::MIN),
        Value::Integer(0),
        Value::Real(0.5),
        Value::Real(big as f64),
        Value::Integer(big + 1),
        Value::Integer(i64::MAX),
        Value::Real(9.3e18),
        Value::Text(b""),
        Value::Text(b"a"),
        Value::Blob(b""),
    ];
    for (one, left) in ascending.iter().enumerate() {
        for (other, right) in ascending.iter().enumerate() {
            assert_eq!(compare(left, right), one.cmp(&other), "{left:?} {right:?}");
        }
    }
}
