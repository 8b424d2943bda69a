//! Records of many rows, one behind the other.

use crate::copy::copy;
use crate::payload::KEPT;
use crate::row::{Made, Row, most};

/// Bytes by which there comes to be more room at least.
const GROWN: usize = 64 << 10;

/// Some records.
#[derive(Debug, Default)]
pub struct Records {
    /// The records; what is behind them is old.
    bytes: Vec<u8>,
    /// The end of each record, which is the start of the next.
    ends: Vec<usize>,
    /// The types' numbers of the record in work that take more than a byte, each with the value's place.
    long: Vec<(usize, u64)>,
}

impl Records {
    /// Forgets all of them. What one huge record needed is not kept for ever.
    pub fn clear(&mut self) {
        self.ends.clear();
        if self.bytes.len() > KEPT {
            self.bytes = Vec::new();
        }
    }

    /// The number of records.
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    /// The size of all records, in bytes.
    pub fn bytes(&self) -> usize {
        self.ends.last().copied().unwrap_or_default()
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| &self.bytes[std::mem::replace(&mut start, end)..end])
    }

    /// The start and end of one record in [`Records::all`].
    #[inline]
    pub(crate) fn bounds(&self, place: usize) -> (usize, usize) {
        let start = if place == 0 { 0 } else { self.ends[place - 1] };
        (start, self.ends[place])
    }

    /// The bytes of all of them, and some more.
    #[inline]
    pub(crate) fn all(&self) -> &[u8] {
        &self.bytes
    }

    /// Begins a record of `values` values, whose texts have `bytes` bytes at most.
    #[inline(always)]
    pub fn begin(&mut self, values: usize, bytes: usize) -> Row<'_> {
        let start = self.bytes();
        let end = start + most(values, bytes);
        if self.bytes.len() < end {
            // The length is not doubled: only memory that has been written to is occupied.
            self.bytes.resize(end + GROWN, 0);
        }
        Row::new(&mut self.bytes[start..], values, &mut self.long)
    }

    /// Takes the record that was begun last.
    #[inline(always)]
    pub fn add(&mut self, made: Made) {
        self.ends.push(self.bytes() + made.0);
    }

    /// Adds a copy of a record.
    #[inline]
    pub(crate) fn push(&mut self, record: &[u8]) {
        let start = self.bytes();
        let end = start + record.len();
        if self.bytes.len() < end {
            self.bytes.resize(end + GROWN, 0);
        }
        copy(&mut self.bytes[start..end], record);
        self.ends.push(end);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::record::{Encoder, Value};

    fn value() -> impl Strategy<Value = (u8, i64, Vec<u8>)> {
        let number = (any::<i64>(), 0..64u32).prop_map(|(number, shift)| number >> shift);
        let length = prop_oneof![0..70usize, 8180..8200usize];
        let text = (any::<u8>(), length).prop_map(|(byte, length)| vec![byte; length]);
        (0..6u8, number, text)
    }

    fn as_value((kind, number, bytes): &(u8, i64, Vec<u8>)) -> Value<'_> {
        match kind {
            0 => Value::Null,
            1 | 2 => Value::Integer(*number),
            3 => Value::Real(*number as f64 / 2.0),
            4 => Value::Blob(bytes),
            _ => Value::Text(bytes),
        }
    }

    proptest! {
        #[test]
        fn records_are_those_of_an_encoder(
            rows in prop::collection::vec(prop::collection::vec(value(), 0..140), 0..12), given_up in any::<bool>(),
        ) {
            let (mut records, mut expected) = (Records::default(), Vec::new());
            for row in &rows {
                let values: Vec<Value> = row.iter().map(as_value).collect();
                let bytes = row.iter().map(|(_, _, text)| text.len()).sum();
                if given_up {
                    let mut row = records.begin(values.len(), bytes);
                    values.iter().take(3).for_each(|value| row.value(value));
                }
                let mut made = records.begin(values.len(), bytes);
                values.iter().for_each(|value| made.value(value));
                let made = made.end().unwrap();
                records.add(made);
                let mut record = Vec::new();
                Encoder::default().append(values.into_iter(), &mut record).unwrap();
                expected.push(record);
            }
            prop_assert_eq!(records.count(), rows.len());
            prop_assert!(records.iter().eq(expected.iter().map(Vec::as_slice)));
            for (place, record) in expected.iter().enumerate() {
                let (start, end) = records.bounds(place);
                prop_assert_eq!(&records.all()[start..end], record);
            }
            records.clear();
            prop_assert_eq!(records.iter().count(), 0);
        }
    }
}
