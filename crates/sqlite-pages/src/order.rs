//! The order of records in an index: of most it is told by a number that is kept beside them, so that sorting need not
//! read the records.

use std::cmp::Ordering;

use crate::record::{Value, Values, compare};

/// A record in memory.
#[derive(Debug, Clone, Copy, Default)]
pub struct Entry {
    /// The beginning of its first value, as a [`Prefix`] has it.
    pub bits: u128,
    /// Where it lies, which is also the order in which records came.
    pub start: usize,
    /// Its length in bytes.
    pub length: u32,
    /// Whether no other value has the same bits.
    pub is_whole: bool,
}

impl Entry {
    /// Has the order begin with such a value.
    #[inline]
    pub fn set(&mut self, prefix: Prefix) {
        (self.bits, self.is_whole) = (prefix.bits, prefix.is_whole);
    }

    fn record<'r>(&self, records: &'r [u8]) -> &'r [u8] {
        &records[self.start..self.start + self.length as usize]
    }
}

/// Puts records in the order of their first `keys` values; equal ones stay in the order in which they came.
pub fn arrange(entries: &mut [Entry], records: &[u8], keys: usize) {
    from_value(entries, records, 0, keys, &mut Vec::new());
}

/// The same where all values before the one at `place` are equal, and the prefixes are of that one.
fn from_value(entries: &mut [Entry], records: &[u8], place: usize, keys: usize, room: &mut Vec<Entry>) {
    by_bits(entries, room);
    for run in entries.chunk_by_mut(|one, other| one.bits == other.bits) {
        let Entry { bits, is_whole, .. } = run[0];
        if run.len() == 1 || is_whole && place + 1 == keys {
            continue;
        }
        if !is_whole {
            run.sort_by(|one, other| by_values(one.record(records), other.record(records), keys));
            continue;
        }
        for entry in run.iter_mut() {
            entry.set(Prefix::of(Values::of(entry.record(records)).nth(place + 1)));
        }
        from_value(run, records, place + 1, keys, room);
        run.iter_mut().for_each(|entry| entry.set(Prefix { bits, is_whole }));
    }
}

/// Puts entries in the order of their bits. Where few bytes of those differ, as in whole numbers of one range, they
/// are dealt out byte by byte, from the lowest on.
fn by_bits(entries: &mut [Entry], room: &mut Vec<Entry>) {
    const FEW: usize = 64;
    const BYTES: usize = 8;
    let Some(first) = entries.first() else { return };
    let differing = entries.iter().fold(0, |bits, entry| bits | (entry.bits ^ first.bits));
    let shifts: Vec<u32> = (0..128).step_by(8).filter(|shift| (differing >> shift) as u8 != 0).collect();
    if entries.len() < FEW || shifts.len() > BYTES {
        entries.sort_unstable_by_key(|entry| (entry.bits, entry.start));
        return;
    }
    room.resize(entries.len().max(room.len()), Entry::default());
    let room = &mut room[..entries.len()];
    for shift in shifts {
        let byte = |entry: &Entry| usize::from((entry.bits >> shift) as u8);
        let mut places = [0; 256];
        entries.iter().for_each(|entry| places[byte(entry)] += 1);
        let mut before = 0;
        for place in &mut places {
            before += std::mem::replace(place, before);
        }
        for entry in &*entries {
            let place = &mut places[byte(entry)];
            room[*place] = *entry;
            *place += 1;
        }
        entries.copy_from_slice(room);
    }
}

/// The beginning of a value as a number that never turns the order round.
#[derive(Debug, Clone, Copy)]
pub struct Prefix {
    /// Two bits for what it is, the rest of what it says.
    pub bits: u128,
    /// Whether no other value has the same bits.
    pub is_whole: bool,
}

impl Default for Prefix {
    /// No value, which is as good as NULL.
    fn default() -> Prefix {
        Prefix { bits: 0, is_whole: true }
    }
}

impl Prefix {
    /// Of a value; none is as good as NULL.
    #[inline]
    pub fn of(value: Option<Value>) -> Prefix {
        match value {
            None | Some(Value::Null) => Prefix::default(),
            Some(Value::Integer(whole)) => {
                let near = whole as f64;
                // What rounding took away: 512 at most.
                let rest = i128::from(whole) - near as i128;
                Prefix { bits: 1 << 126 | number(near) << 16 | (rest + 0x8000) as u128, is_whole: true }
            }
            Some(Value::Real(real)) => {
                Prefix { bits: 1 << 126 | number(real) << 16 | 0x8000, is_whole: !real.is_nan() }
            }
            Some(Value::Text(text)) => Prefix::of_bytes(2, text),
            Some(Value::Blob(bytes)) => Prefix::of_bytes(3, bytes),
        }
    }

    /// Fifteen bytes, then how many there are: of two with the same beginning the shorter one comes first.
    #[inline]
    fn of_bytes(class: u128, bytes: &[u8]) -> Prefix {
        const TAKEN: usize = 15;
        let mut start = [0; 16];
        let count = bytes.len().min(TAKEN);
        start[..count].copy_from_slice(&bytes[..count]);
        let length = bytes.len().min(TAKEN + 1) as u128;
        // The last of the sixteen bytes is zero: below two bits for the class there is room for the length.
        let bits = class << 126 | u128::from_be_bytes(start) >> 2 | length;
        Prefix { bits, is_whole: bytes.len() <= TAKEN }
    }
}

/// The bits of a double such that they are in its order; 0 and -0 are equal.
#[inline]
fn number(number: f64) -> u128 {
    let bits = if number == 0.0 { 0 } else { number.to_bits() };
    (if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }).into()
}

/// The order of two records by their first values.
pub fn by_values(one: &[u8], other: &[u8], keys: usize) -> Ordering {
    let pairs = Values::of(one).zip(Values::of(other)).take(keys);
    pairs.map(|(one, other)| compare(&one, &other)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}
