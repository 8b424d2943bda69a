//! Memory that a cursor fills with many pairs at once: what the manual calls
//! [bulk retrieval](https://docs.oracle.com/cd/E17276_01/html/programmer_reference/am_misc_bulk.html).
//!
//! The library writes keys and values from the memory's beginning, and from its end backwards four numbers for each pair:
//! where the key begins and how long it is, and the same of the value. A last number of all ones ends the list. `db.h`
//! walks it by the macros DB_MULTIPLE_INIT and DB_MULTIPLE_KEY_NEXT.

use crate::api::Dbt;

/// The library wants memory in multiples of this many bytes, and no less than a page of the database.
const UNIT: u32 = 1024;
/// The bytes of a number.
const WORD: u32 = size_of::<u32>() as u32;
/// The number that ends the list of pairs.
const END: u32 = u32::MAX;

/// The memory; empty until there is to be room.
#[derive(Default)]
pub struct Bulk {
    /// Numbers, because the library wants it aligned for them.
    words: Vec<u32>,
}

impl Bulk {
    /// The size of the memory in bytes.
    pub fn bytes(&self) -> u32 {
        // No more than `make_room` was asked for, which fits.
        self.words.len() as u32 * WORD
    }

    /// Grows the memory to at least this number of bytes. Its content is lost.
    pub fn make_room(&mut self, bytes: u32) {
        let bytes = bytes.div_ceil(UNIT).saturating_mul(UNIT);
        if bytes > self.bytes() {
            self.words = vec![0; (bytes / WORD) as usize];
        }
    }

    /// The memory, for the library to fill.
    pub fn dbt(&mut self) -> Dbt {
        Dbt::filling(self.words.as_mut_ptr().cast(), self.bytes())
    }

    /// The keys and values that the library has filled it with.
    #[inline]
    pub fn pairs(&self) -> BulkPairs<'_> {
        // SAFETY: numbers are bytes, and memory that was made with zeros is all initialised.
        let bytes = unsafe { std::slice::from_raw_parts(self.words.as_ptr().cast(), self.words.len() * 4) };
        BulkPairs { bytes, list: &self.words }
    }
}

/// Keys and values, in the order in which the cursor came by them.
pub struct BulkPairs<'b> {
    bytes: &'b [u8],
    /// The rest of the list, whose last number comes next.
    list: &'b [u32],
}

impl<'b> Iterator for BulkPairs<'b> {
    type Item = (&'b [u8], &'b [u8]);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if *self.list.last()? == END {
            return None;
        }
        let (rest, &[value_length, value, key_length, key]) = self.list.split_last_chunk()?;
        self.list = rest;
        let cell = |from: u32, length: u32| self.bytes.get(from as usize..)?.get(..length as usize);
        Some((cell(key, key_length)?, cell(value, value_length)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Memory as the library fills it.
    fn filled(pairs: &[(&[u8], &[u8])]) -> Bulk {
        let mut bulk = Bulk::default();
        bulk.make_room(1);
        let (mut bytes, mut list) = (Vec::new(), Vec::new());
        for cell in pairs.iter().flat_map(|&(key, value)| [key, value]) {
            list.extend([bytes.len() as u32, cell.len() as u32]);
            bytes.extend(cell);
        }
        list.push(END);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        let words = bytes.chunks_exact(4).map(|word| u32::from_ne_bytes(word.try_into().unwrap()));
        bulk.words.iter_mut().zip(words).for_each(|(to, word)| *to = word);
        bulk.words.iter_mut().rev().zip(list).for_each(|(to, word)| *to = word);
        bulk
    }

    #[test]
    fn pairs_are_read_in_their_order() {
        let pairs: [(&[u8], &[u8]); 3] = [(b"a", b"first"), (b"bc", b""), (b"d", b"last")];
        assert!(filled(&pairs).pairs().eq(pairs));
        assert_eq!(filled(&[]).pairs().count(), 0);
        assert_eq!(Bulk::default().pairs().count(), 0);
    }

    #[test]
    fn a_list_that_leads_outside_ends() {
        let mut bulk = filled(&[(b"a", b"first")]);
        *bulk.words.last_mut().unwrap() = 5000;
        assert_eq!(bulk.pairs().count(), 0);
    }

    #[test]
    fn memory_comes_in_units_and_never_shrinks() {
        let mut bulk = Bulk::default();
        for (asked, got) in [(1, 1024), (1025, 2048), (4, 2048), (64 << 10, 64 << 10)] {
            bulk.make_room(asked);
            assert_eq!(bulk.bytes(), got, "{asked}");
        }
    }
}
