//! A record that is made value by value where it lies: what an [`Encoder`](crate::Encoder) makes of the same values,
//! without looking at each of them twice.

use crate::error::Error;
use crate::payload::LONGEST;
use crate::record::Value;
use crate::varint;

/// Bytes that may be written behind a value, so that short ones are copied without asking how short.
const SLACK: usize = 16;

/// The most bytes of a type's number, of any text that SQLite takes, and of a number.
const LONGEST_TYPE: usize = 5;
const LONGEST_NUMBER: usize = 8;

/// The type's number of an integer and how many bytes that takes, by how many of its highest bits are the sign's, of
/// negative ones behind the others. 0 and 1 are types of their own, without bytes.
const INTEGERS: [(u8, u8); 130] = {
    let mut types = [(6, 8); 130];
    let mut same = 1;
    while same <= 64 {
        let bytes = 65usize.saturating_sub(same).div_ceil(8);
        let found = [(1, 1), (1, 1), (2, 2), (3, 3), (4, 4), (5, 6), (5, 6), (6, 8), (6, 8)][bytes];
        (types[same], types[65 + same]) = (found, found);
        same += 1;
    }
    (types[64], types[63]) = ((8, 0), (9, 0));
    types
};

/// The same of an integer without a sign, by its leading zeros among 32 bits; then the bits that it leaves of 64.
const SMALL: [(u8, u8, u8); 33] = {
    let mut types = [(5, 6, 16); 33];
    let mut zeros = 1;
    while zeros <= 32 {
        let (kind, length) = INTEGERS[32 + zeros];
        types[zeros] = (kind, length, 64u8.wrapping_sub(8 * length) % 64);
        zeros += 1;
    }
    types
};

/// The type's number of an integer and how many bytes it takes.
// Without a branch, which 0 and 1 would take at random.
#[inline(always)]
pub fn integer_type(number: i64) -> (u8, u8) {
    let sign = number >> 63;
    let same = (number ^ sign).leading_zeros() as usize;
    INTEGERS[same + (sign & 65) as usize]
}

/// A record to which values come, one after another. It counts once what began it has taken what [`Row::end`] gives.
pub struct Row<'a> {
    /// From the record's first byte on: a byte for the header's length, one for each type, then the values.
    bytes: &'a mut [u8],
    /// The offset of the next value.
    at: usize,
    values: usize,
    /// The types' numbers that take more than a byte, each with the value's place.
    long: &'a mut Vec<(usize, u64)>,
}

/// The bytes of values, behind which others come.
pub struct Body<'a> {
    bytes: &'a mut [u8],
    /// The offset of the next value.
    at: u32,
}

impl Body<'_> {
    /// The offset behind the values that were put.
    #[inline(always)]
    pub fn end(&self) -> u32 {
        self.at
    }

    /// Puts a small whole number and returns its type.
    #[inline(always)]
    pub fn small(&mut self, number: u32) -> u8 {
        let (kind, length, free) = SMALL[number.leading_zeros() as usize];
        let first = u64::from(number).wrapping_shl(free.into());
        let at = self.at as usize;
        self.bytes[at..at + 8].copy_from_slice(&first.to_be_bytes());
        self.at += u32::from(length);
        kind
    }

    /// Puts the text from `from` to `to` and returns its type, if it is short and other text follows it.
    #[inline(always)]
    pub fn short_text(&mut self, text: &[u8], from: usize, to: usize) -> Option<u8> {
        let length = to - from;
        let first = text.get(from..from + SLACK)?;
        if length > SLACK {
            return None;
        }
        let at = self.at as usize;
        self.bytes[at..at + SLACK].copy_from_slice(first);
        self.at += length as u32;
        Some(13 + 2 * length as u8)
    }
}

/// A record that is complete where its row was begun: how many bytes it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct Made(pub(crate) usize);

/// The most bytes that a record needs while it is made, for `values` values whose texts have `bytes` bytes.
#[inline(always)]
pub const fn most(values: usize, bytes: usize) -> usize {
    (LONGEST_TYPE + LONGEST_NUMBER) * (values + 1) + bytes + SLACK
}

impl<'a> Row<'a> {
    /// A record of `values` values at the beginning of `bytes`, which must be as long as [`most`] says.
    #[inline(always)]
    pub(crate) fn new(bytes: &'a mut [u8], values: usize, long: &'a mut Vec<(usize, u64)>) -> Row<'a> {
        long.clear();
        Row { bytes, at: 1 + values, values: 0, long }
    }
}

impl Row<'_> {
    /// The next value is no value.
    #[inline(always)]
    pub fn null(&mut self) {
        self.put_short(0);
    }

    /// The next value is a whole number.
    #[inline(always)]
    pub fn integer(&mut self, number: i64) {
        let (kind, length) = integer_type(number);
        self.put_short(kind);
        let first = number.wrapping_shl(64 - 8 * u32::from(length));
        self.bytes[self.at..self.at + 8].copy_from_slice(&first.to_be_bytes());
        self.at += usize::from(length);
    }

    /// The next value is a number. In a column with an affinity see [`Value::in_real`](crate::Value::in_real).
    #[inline(always)]
    pub fn real(&mut self, number: f64) {
        self.put_short(7);
        self.bytes[self.at..self.at + 8].copy_from_slice(&number.to_be_bytes());
        self.at += 8;
    }

    /// The types of the next `count` values and the place of their bytes, for values that are put there one after
    /// another before [`Row::take`].
    // Types and bytes are apart so that a loop checks no bounds of the types.
    #[inline(always)]
    pub fn room(&mut self, count: usize) -> (&mut [u8], Body<'_>) {
        let first = 1 + self.values;
        let (head, rest) = self.bytes.split_at_mut(first + count);
        let at = (self.at - head.len()) as u32;
        (&mut head[first..], Body { bytes: rest, at })
    }

    /// Takes the first `values` of the `count` values of [`Row::room`], whose bytes end at `end`.
    #[inline(always)]
    pub fn take(&mut self, values: usize, count: usize, end: u32) {
        self.at = end as usize + 1 + self.values + count;
        self.values += values;
    }

    /// The next value is the text from `from` to `to`.
    #[inline(always)]
    pub fn text(&mut self, text: &[u8], from: usize, to: usize) {
        self.put_type(13 + 2 * (to - from) as u64);
        self.put_bytes(text, from, to);
    }

    /// The next value.
    #[inline]
    pub fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.null(),
            Value::Integer(number) => self.integer(*number),
            Value::Real(number) => self.real(*number),
            Value::Text(text) => self.text(text, 0, text.len()),
            Value::Blob(bytes) => {
                self.put_type(12 + 2 * bytes.len() as u64);
                self.put_bytes(bytes, 0, bytes.len());
            }
        }
    }

    #[inline(always)]
    fn put_bytes(&mut self, text: &[u8], from: usize, to: usize) {
        let length = to - from;
        match text[from..].first_chunk::<SLACK>() {
            // The next value overwrites the surplus.
            Some(first) if length <= SLACK => {
                self.bytes[self.at..self.at + SLACK].copy_from_slice(first);
            }
            _ => self.bytes[self.at..self.at + length].copy_from_slice(&text[from..to]),
        }
        self.at += length;
    }

    #[inline(always)]
    fn put_type(&mut self, kind: u64) {
        if kind > 0x7f {
            self.long.push((self.values, kind));
        }
        self.put_short(kind as u8);
    }

    /// Puts a type's number that takes a byte.
    #[inline(always)]
    fn put_short(&mut self, kind: u8) {
        self.values += 1;
        self.bytes[self.values] = kind;
    }

    /// Ends the record; all its values must have been added.
    ///
    /// # Errors
    /// It is longer than SQLite takes.
    #[inline(always)]
    pub fn end(self) -> Result<Made, Error> {
        let mut length = self.at;
        self.bytes[0] = (1 + self.values) as u8;
        // The header takes more than a byte for its length or for a type.
        if self.values >= 0x7f || !self.long.is_empty() {
            length += lengthen(self.bytes, length, self.values, self.long);
        }
        if length as u64 > LONGEST {
            return Err(Error::RowTooLong(length as u64));
        }
        Ok(Made(length))
    }
}

/// Moves the values of a record behind a header that takes more than a byte for each, and says how many more.
// Nothing is given the row itself, so that its fields need not lie in memory.
#[cold]
fn lengthen(bytes: &mut [u8], length: usize, values: usize, long: &[(usize, u64)]) -> usize {
    let more: usize = long.iter().map(|&(_, kind)| varint::length(kind) - 1).sum();
    let own = values + more;
    // The header's length counts itself.
    let header = own + if own < 0x7f { 1 } else { varint::length(own as u64 + 2) };
    let body = 1 + values;
    bytes.copy_within(body..length, header);
    // From the last type to the first: each moves to where nothing is read any more.
    let (mut at, mut long) = (header, long.iter().rev().peekable());
    for value in (0..values).rev() {
        let kind = match long.next_if(|&&(place, _)| place == value) {
            Some(&(_, kind)) => kind,
            None => bytes[1 + value].into(),
        };
        at -= varint::length(kind);
        varint::put(&mut bytes[at..], kind);
    }
    varint::put(bytes, header as u64);
    header - body
}
