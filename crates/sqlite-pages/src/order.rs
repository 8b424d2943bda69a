//! Records in memory, and their order in an index.
//!
//! Sorting compares one number per record: the bits in which the beginnings of values differ, above the record's place
//! among those that came. If those bits are equal, the next ones follow, then the next value; the records themselves
//! are compared only if a long text begins as another one does.

use std::cmp::Ordering;

use crate::prefix::Prefix;
use crate::radix;
use crate::record::{Values, compare};
use crate::records::Records;

/// Records in memory.
#[derive(Debug, Default)]
pub struct Held {
    pub records: Records,
    /// Of the first value of each.
    pub prefixes: Vec<Prefix>,
}

/// Bytes of memory that a record takes besides its content: its prefix and its end.
pub const BESIDE: usize = size_of::<Prefix>() + size_of::<usize>();

impl Held {
    /// The size of these records, in bytes.
    pub fn bytes(&self) -> usize {
        self.records.bytes() + self.prefixes.len() * BESIDE
    }

    /// A record.
    #[inline]
    pub fn record(&self, place: usize) -> &[u8] {
        let (start, end) = self.records.bounds(place);
        &self.records.all()[start..end]
    }

    /// Forgets all of them.
    pub fn clear(&mut self) {
        self.records.clear();
        self.prefixes.clear();
    }

    /// The records in the order of their first `keys` values; equal ones stay in the order in which they came.
    pub fn arranged(&mut self, keys: usize) -> Held {
        let mut arranged = Held::default();
        for place in self.order(keys) {
            arranged.records.push(self.record(place as usize));
            arranged.prefixes.push(self.prefixes[place as usize]);
        }
        arranged
    }

    /// The places of the records in that order.
    fn order(&mut self, keys: usize) -> Vec<u64> {
        let count = self.prefixes.len() as u64;
        let mut places: Vec<u64> = (0..count).collect();
        let mut order = Order { held: self, keys, low: 64 - count.leading_zeros(), room: Vec::new() };
        if count > 0 {
            order.by_prefixes(&mut places, 0);
        }
        let low = order.low;
        places.iter_mut().for_each(|key| *key = place(*key, low) as u64);
        places
    }
}

/// The place in a key, which reserves `low` low bits for it.
#[inline]
fn place(key: u64, low: u32) -> usize {
    (key & ((1 << low) - 1)) as usize
}

/// Records that are being put in order.
struct Order<'a> {
    held: &'a mut Held,
    keys: usize,
    /// Bits of a key that are the record's place.
    low: u32,
    /// Room for as many keys again.
    room: Vec<u64>,
}

impl Order<'_> {
    fn prefix(&self, key: u64) -> Prefix {
        self.held.prefixes[place(key, self.low)]
    }

    /// Orders records whose values before `value` are equal, and whose prefixes are of that one.
    fn by_prefixes(&mut self, run: &mut [u64], value: usize) {
        let first = self.prefix(run[0]).bits();
        let (mut least, mut most, mut differing) = (first, first, 0);
        for &key in &*run {
            let bits = self.prefix(key).bits();
            (least, most, differing) = (least.min(bits), most.max(bits), differing | (bits ^ first));
        }
        if differing == 0 {
            return self.by_what_follows(run, value);
        }
        // Below these bits all are equal.
        let equal = differing.trailing_zeros();
        let width = 128 - ((most - least) >> equal).leading_zeros();
        let taken = width.min(64 - self.low);
        let shift = equal + width - taken;
        for key in &mut *run {
            let bits = ((self.prefix(*key).bits() - least) >> shift) as u64;
            *key = bits << self.low | place(*key, self.low) as u64;
        }
        radix::sort(run, &mut self.room, self.low, taken);
        let low = self.low;
        for same in run.chunk_by_mut(|one, other| one >> low == other >> low).filter(|same| same.len() > 1) {
            if taken < width { self.by_prefixes(same, value) } else { self.by_what_follows(same, value) }
        }
    }

    /// Orders records whose prefixes are equal.
    fn by_what_follows(&mut self, run: &mut [u64], value: usize) {
        let prefix = self.prefix(run[0]);
        if !prefix.is_whole() {
            let (held, low, keys) = (&*self.held, self.low, self.keys);
            let record = |key: &u64| held.record(place(*key, low));
            // It keeps equal ones as they are: as they came.
            run.sort_by(|one, other| by_values(record(one), record(other), keys));
        } else if value + 1 < self.keys {
            self.set(run, |record| Prefix::of(Values::of(record).nth(value + 1)));
            self.by_prefixes(run, value + 1);
            self.set(run, |_| prefix);
        }
    }

    fn set(&mut self, run: &[u64], prefix: impl Fn(&[u8]) -> Prefix) {
        for &key in run {
            let place = place(key, self.low);
            self.held.prefixes[place] = prefix(self.held.record(place));
        }
    }
}

/// The order of two records by their first values.
pub fn by_values(one: &[u8], other: &[u8], keys: usize) -> Ordering {
    let pairs = Values::of(one).zip(Values::of(other)).take(keys);
    pairs.map(|(one, other)| compare(&one, &other)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}
