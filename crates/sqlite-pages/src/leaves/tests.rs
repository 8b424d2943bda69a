//! Leaves as SQLite reads them.

use std::io::Read;

use proptest::prelude::*;

use super::*;
use crate::pages::PageSize;

/// The file to which rows are written in one way or the other.
fn written(rows: &[(i64, Vec<Value>)], size: u32, in_place: bool) -> Vec<u8> {
    let mut file = tempfile::tempfile().unwrap();
    let pages = Pages::new(&file, PageSize::new(size).unwrap());
    let mut leaves = Leaves::new(&pages);
    for (count, (number, values)) in (1..).zip(rows) {
        let bytes = values.iter().map(Value::bytes).sum();
        match leaves.begin(*number, values.len(), bytes) {
            Some(mut row) if in_place => {
                values.iter().for_each(|value| row.value(value));
                let made = row.end().unwrap();
                leaves.add(made).unwrap();
            }
            _ => leaves.push(*number, values).unwrap(),
        }
        if count % 100 == 0 {
            leaves.place(&pages).unwrap();
        }
    }
    leaves.place(&pages).unwrap();
    let mut bytes = Vec::new();
    std::io::Seek::rewind(&mut file).unwrap();
    file.read_to_end(&mut bytes).unwrap();
    bytes
}

#[test]
fn a_row_that_is_not_above_the_one_before_is_refused() {
    let file = tempfile::tempfile().unwrap();
    let pages = Pages::new(&file, PageSize::new(512).unwrap());
    let mut leaves = Leaves::new(&pages);
    for (number, is_right) in [(5, true), (5, false), (4, false), (6, true)] {
        let mut row = leaves.begin(number, 1, 0).unwrap();
        row.integer(number);
        let made = row.end().unwrap();
        assert_eq!(leaves.add(made).is_ok(), is_right);
    }
    assert_eq!(leaves.place(&pages).unwrap().rows, 2);
}

proptest! {
    #[test]
    fn rows_made_in_place_are_those_that_are_copied(
        rows in prop::collection::vec(
            (1..200_000i64, prop::collection::vec((any::<i64>(), 0..64u32, 0..150usize, 0..4u8), 0..9)), 0..300,
        ),
        size in prop::sample::select(vec![512u32, 4096, 65_536]), first in any::<i32>(),
    ) {
        let texts = vec![b'x'; 300];
        let (mut number, mut all) = (i64::from(first), Vec::new());
        for (step, values) in &rows {
            number += step;
            let values: Vec<Value> = values.iter().map(|&(whole, shift, length, kind)| match kind {
                0 => Value::Null,
                1 => Value::Integer(whole >> shift),
                // Records of 127 bytes and more have a longer length, those of more yet lie on several pages.
                2 => Value::Text(&texts[..length]),
                _ => Value::Real(whole as f64),
            }).collect();
            all.push((number, values));
        }
        prop_assert!(written(&all, size, true) == written(&all, size, false));
    }
}
