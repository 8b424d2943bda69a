//! The rows that a server was sent, so that its errors can name lines of the file.

/// The share of an import's memory in which all streams together keep where their rows come from.
const SHARE: usize = 16;

/// The rows of one stream, in order: the lines of the file on which they begin, and the numbers of their records. Those of
/// rows that find no more room are not known.
#[derive(Debug)]
pub struct Sent {
    rows: u64,
    /// The rows whose lines and records are known.
    known: u64,
    lines: Numbers,
    records: Numbers,
    /// Bytes that the numbers may take.
    room: usize,
}

/// A number for each row. It mostly goes up by as much as before, so the rows for which it does are kept together.
#[derive(Debug, Default)]
struct Numbers {
    /// All stretches but the last. Of each three numbers of a few bytes: how far its first row and that row's number are
    /// behind those of the stretch before, and its step.
    kept: Vec<u8>,
    /// The last of them.
    before: Stretch,
    last: Option<Stretch>,
}

/// Rows whose numbers go up by the same step.
#[derive(Debug, Clone, Copy, Default)]
struct Stretch {
    first: u64,
    number: u64,
    step: u64,
}

impl Sent {
    /// No rows yet, of one of several streams of an import that may take `memory` bytes.
    pub fn new(memory: usize, streams: usize) -> Sent {
        let (lines, records) = (Numbers::default(), Numbers::default());
        Sent { rows: 0, known: 0, lines, records, room: memory / SHARE / streams.max(1) }
    }

    /// Some more rows.
    pub fn add(&mut self, lines: &[u64], records: &[u64]) {
        for (&line, &record) in lines.iter().zip(records) {
            if self.known == self.rows && self.bytes() < self.room {
                self.lines.add(self.rows, line);
                self.records.add(self.rows, record);
                self.known += 1;
            }
            self.rows += 1;
        }
    }

    /// The line and the record of a row that the server counts from 1.
    pub fn row(&self, row: u64) -> Option<(u64, u64)> {
        let row = row.checked_sub(1).filter(|row| *row < self.known)?;
        Some((self.lines.of(row)?, self.records.of(row)?))
    }

    fn bytes(&self) -> usize {
        self.lines.kept.len() + self.records.kept.len()
    }
}

impl Numbers {
    fn add(&mut self, row: u64, number: u64) {
        match &mut self.last {
            Some(last) if last.of(row) == number => {}
            Some(last) if row - last.first == 1 && number >= last.number => last.step = number - last.number,
            _ => {
                self.keep();
                self.last = Some(Stretch { first: row, number, step: 1 });
            }
        }
    }

    /// Puts the last stretch behind the others.
    fn keep(&mut self) {
        let Some(last) = self.last else { return };
        put(&mut self.kept, last.first - self.before.first);
        put(&mut self.kept, folded(last.number.wrapping_sub(self.before.number)));
        put(&mut self.kept, last.step);
        self.before = last;
    }

    fn of(&self, row: u64) -> Option<u64> {
        if let Some(last) = self.last.filter(|last| last.first <= row) {
            return Some(last.of(row));
        }
        let (mut rest, mut next, mut found) = (self.kept.as_slice(), Stretch::default(), None);
        while !rest.is_empty() {
            next = Stretch {
                first: next.first + take(&mut rest),
                number: next.number.wrapping_add(unfolded(take(&mut rest))),
                step: take(&mut rest),
            };
            if next.first > row {
                break;
            }
            found = Some(next);
        }
        found.map(|stretch| stretch.of(row))
    }
}

impl Stretch {
    /// The number of a row that is not before the first.
    fn of(self, row: u64) -> u64 {
        self.number.wrapping_add((row - self.first).wrapping_mul(self.step))
    }
}

/// A difference as a number that is small where the difference is near zero, above or below.
fn folded(difference: u64) -> u64 {
    (difference << 1) ^ ((difference as i64) >> 63) as u64
}

/// The difference of such a number.
fn unfolded(number: u64) -> u64 {
    (number >> 1) ^ (number & 1).wrapping_neg()
}

/// Puts a number in bytes of which each but the last has its highest bit set, the lowest seven bits first.
fn put(to: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}

/// Takes such a number from the beginning of the bytes.
fn take(from: &mut &[u8]) -> u64 {
    let (mut number, mut shift) = (0, 0);
    while let Some((&byte, rest)) = from.split_first() {
        *from = rest;
        number |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte <= 0x7f {
            break;
        }
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_the_lines_and_records_that_they_were_sent_with() {
        let mut sent = Sent::new(1 << 20, 2);
        let far = 7 << 40;
        let lines = [2, 3, 4, 5, 7, 10, 11, 11, 11, 13, 15, 17, 1, 1, far | 3, far | 5, u64::MAX, 0, 2];
        let records = [0, 1, 2, 3, 4, 6, 7, 8, 9, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29];
        sent.add(&lines[..3], &records[..3]);
        sent.add(&lines[3..], &records[3..]);
        let found: Vec<_> = (1..=19).filter_map(|row| sent.row(row)).collect();
        assert_eq!(found, lines.into_iter().zip(records).collect::<Vec<_>>());
        assert_eq!((sent.row(0), sent.row(20)), (None, None));
    }

    #[test]
    fn rows_on_one_line_or_some_lines_apart_take_little_memory() {
        for step in 0..3 {
            let mut sent = Sent::new(1 << 20, 1);
            (0..1000).for_each(|row| sent.add(&[1 + row * step], &[row]));
            assert_eq!((sent.bytes(), sent.row(1000)), (0, Some((1 + 999 * step, 999))));
        }
    }

    #[test]
    fn rows_take_no_more_memory_than_they_may_and_those_beyond_it_are_not_known() {
        let mut random = fastrand::Rng::with_seed(3);
        let (mut line, mut lines, mut sent) = (1, Vec::new(), Sent::new(1 << 16, 4));
        for row in 0..10_000 {
            line += random.u64(1..300);
            sent.add(&[line], &[row]);
            lines.push((line, row));
        }
        let found: Vec<_> = (1..=10_000).map_while(|row| sent.row(row)).collect();
        assert!(found.len() > 300 && found == lines[..found.len()], "{} rows", found.len());
        assert!((found.len()..10_000).all(|row| sent.row(row as u64 + 1).is_none()));
        // The last stretch may take a few bytes more.
        assert!(sent.bytes() <= (1 << 16) / SHARE / 4 + 60, "{} bytes", sent.bytes());
    }
}
