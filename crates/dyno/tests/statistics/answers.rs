//! Answers held against each other.

use dyno_protocol::Value;
use dyno_record::Answer;
use dyno_verdict::answers::{Mismatch, compare};
use proptest::prelude::*;

use super::fixed;

/// An answer as test 6 of the speed test gives it, this many rows of a count and an average.
fn counts_and_averages(rows: i64, decimals: i32) -> Vec<Vec<Value>> {
    let unit = 10_f64.powi(decimals);
    let average = |row: i64| ((100 * row) as f64 + (row % 7) as f64 / 7.0) * unit;
    let row = |row| vec![Value::Integer(100 + row % 13), Value::Real(average(row).round() / unit)];
    (0..rows).map(row).collect()
}

#[test]
fn averages_agree_whatever_type_and_digits_an_engine_gives_them() {
    for rows in [10, 10_000] {
        let sixteen = counts_and_averages(rows, 12);
        let mut four = counts_and_averages(rows, 4);
        // Every seventh average is whole, and comes as a whole number from some engines.
        for row in four.iter_mut().step_by(7) {
            let Value::Real(average) = row[1] else { unreachable!() };
            row[1] = Value::Integer(average as i64);
        }
        let (sixteen, four) = (Answer::from_rows(&sixteen), Answer::from_rows(&four));
        assert_eq!(sixteen.is_complete(), rows == 10);
        assert_eq!(compare(&four, &sixteen, 1e-4), Ok(()));
        assert!(compare(&four, &sixteen, 1e-12).is_err());
    }
}

#[test]
fn one_changed_count_among_ten_thousand_is_found() {
    let rows = counts_and_averages(10_000, 4);
    let expected = Answer::from_rows(&rows);
    for changed in [0, 499, 500, 7_777, 9_999] {
        let mut rows = rows.clone();
        let Value::Integer(count) = &mut rows[changed][0] else { unreachable!() };
        *count += 1;
        let mismatch = compare(&Answer::from_rows(&rows), &expected, 1e-4).unwrap_err().to_string();
        // The first 500 rows, a thousand values, are kept and compared by row.
        if changed < 500 {
            let (row, right) = (changed + 1, 100 + changed % 13);
            let sentence = format!("row {row}, column 1 is {} where {right} is expected", right + 1);
            assert_eq!(mismatch, sentence);
        } else {
            assert_eq!(
                mismatch,
                "the integers of column 1 are not the expected ones, or not in the expected order"
            );
        }
    }
}

#[test]
fn swapped_rows_are_found() {
    let rows = counts_and_averages(10_000, 4);
    let only = |column: usize| rows.iter().map(|row| vec![row[column].clone()]).collect::<Vec<_>>();
    let texts: Vec<_> = (0..10_000).map(|i| vec![Value::Text(format!("number {i}"))]).collect();
    for rows in [rows.clone(), only(0), only(1), texts] {
        let mut swapped = rows.clone();
        swapped.swap(6_000, 6_003);
        let mismatch = compare(&Answer::from_rows(&swapped), &Answer::from_rows(&rows), 1e-9);
        assert!(mismatch.is_err(), "{:?}", rows[0]);
    }
    // Nulls leave no trace but the rows of their neighbours.
    let nulls = |null: i64| {
        let value = |row| if row == null { Value::Null } else { Value::Integer(1) };
        Answer::from_rows(&(0..2_000).map(|row| vec![value(row)]).collect::<Vec<_>>())
    };
    assert!(compare(&nulls(1_500), &nulls(1_501), 1e-4).is_err());
}

#[test]
fn a_tolerance_is_relative_above_one_and_absolute_below() {
    let one = |value: Value| Answer::from_rows(&[vec![value]]);
    let agree = |a: Value, b: Value| compare(&one(a), &one(b), 1e-3).is_ok();
    use Value::{Integer, Null, Real};
    assert!(agree(Real(1_000.0), Real(1_000.9)) && !agree(Real(1_000.0), Real(1_001.1)));
    assert!(agree(Real(0.0), Real(0.0009)) && !agree(Real(0.0), Real(0.0011)));
    assert!(agree(Integer(5_000), Real(5_000.0)) && agree(Integer(5_000), Real(5_004.5)));
    assert!(!agree(Integer(5_000), Real(5_001.0)), "a whole number is one of whatever type");
    assert!(!agree(Real(f64::INFINITY), Real(1.0)) && !agree(Integer(1), Real(f64::NEG_INFINITY)));
    let (odd, even) = (9_007_199_254_740_993_i64, 9_007_199_254_740_992_i64);
    assert!(
        agree(Integer(odd), Real(even as f64)),
        "beyond 2^53 the nearest real is all that JavaScript has"
    );
    assert!(!agree(Integer(odd), Real((even - 1) as f64)) && agree(Integer(i64::MIN), Real(-2_f64.powi(63))));
    assert!(!agree(Integer(5_000), Integer(5_001)), "whole numbers are compared exactly");
    assert!(!agree(Integer(0), Null) && !agree(Real(0.0), Value::Text("0.0".into())));
    assert!(!agree(Value::Text("ff".into()), Value::from_bytes(&[0xff])));
    assert!(compare(&one(Real(0.1)), &one(Real(0.1)), 0.0).is_ok());
}

#[test]
fn a_mismatch_is_a_sentence() {
    let rows =
        |n: i64| (0..n).map(|i| vec![Value::Integer(i), Value::Text("one".into())]).collect::<Vec<_>>();
    let sentence = |found: &[Vec<Value>], expected: &[Vec<Value>]| {
        compare(&Answer::from_rows(found), &Answer::from_rows(expected), 1e-4).unwrap_err().to_string()
    };
    assert_eq!(sentence(&rows(1), &rows(3)), "it has 1 row where 3 are expected");
    assert_eq!(sentence(&rows(2), &rows(1)), "it has 2 rows where 1 is expected");
    assert_eq!(sentence(&[vec![]], &rows(1)), "row 1 has 0 values where 2 are expected");
    let mut large = rows(1_000);
    large[800][1] = Value::Null;
    assert_eq!(sentence(&large, &rows(1_000)), "column 2 has 1 nulls where 0 are expected");
    let mut text = rows(2);
    text[1][1] = Value::Text("two".into());
    assert_eq!(sentence(&text, &rows(2)), "row 2, column 2 is 'two' where 'one' is expected");
    let real = |first: f64| {
        let value = |i| if i == 900 { first } else { 0.5 };
        (0..1_024).map(|i| vec![Value::Real(value(i)), Value::Null]).collect::<Vec<_>>()
    };
    let sum = sentence(&real(3.5), &real(0.5));
    assert!(sum.starts_with("the numbers of column 1 in rows 897 to 928 add up to 19 (weighted"), "{sum}");
}

#[test]
fn an_answer_is_the_same_after_a_file() {
    for rows in [3, 10_000] {
        let answer = Answer::from_rows(&counts_and_averages(rows, 4));
        let json = serde_json::to_string(&answer).unwrap();
        let read: Answer = serde_json::from_str(&json).unwrap();
        assert_eq!(compare(&read, &answer, 1e-12), Ok(()));
        assert_eq!(read.rows, answer.rows);
        let mismatch = compare(&Answer::default(), &answer, 0.0).unwrap_err();
        let json = serde_json::to_string(&mismatch).unwrap();
        assert_eq!(serde_json::from_str::<Mismatch>(&json).unwrap(), mismatch);
    }
}

proptest! {
    #![proptest_config(fixed())]

    #[test]
    fn what_agrees_value_by_value_agrees_by_digest(
        rows in prop::collection::vec((any::<i32>(), -1e6..1e6_f64, -1.0..1.0_f64), 1..600),
    ) {
        const TOLERANCE: f64 = 1e-4;
        let answer = |error: f64| Answer::from_rows(&rows.iter().map(|&(integer, real, part)| {
            let off = error * part * real.abs().max(1.0);
            vec![Value::Integer(integer.into()), Value::Real(real + off), Value::Text(integer.to_string())]
        }).collect::<Vec<_>>());
        let (one, other) = (answer(0.0), answer(0.999 * TOLERANCE));
        prop_assert_eq!(compare(&one, &other, TOLERANCE), Ok(()));
        let digest = |answer: &Answer| Answer { columns: answer.digest().into_owned(), kept: Vec::new(), ..*answer };
        prop_assert_eq!(compare(&digest(&one), &digest(&other), TOLERANCE), Ok(()));
    }
}
