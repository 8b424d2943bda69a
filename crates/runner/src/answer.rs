//! The container into which a driver puts the values that it fetches: an arena that is allocated, and its pages
//! touched, before the first clock starts.
//!
//! A client that asks for rows reads their values, so fetching them belongs to the timed section; the
//! cost of keeping them is that of writing them to memory, a few nanoseconds a value.

use dyno_protocol::{Sink, Value};

/// Values that fit before the arena grows. Far more than the usual test returns, yet small compared with the needs of
/// an engine, because it is part of the peak memory that a sample reports.
const CELLS: usize = 1 << 16;
/// Rows that fit before the arena grows.
const ROWS: usize = 1 << 15;
/// Bytes of text and blobs that fit before the arena grows.
const BYTES: usize = 1 << 20;

/// A value; text and blobs give their length and lie in the byte buffer in the same order.
#[derive(Debug, Clone, Copy)]
enum AnswerCell {
    Null,
    Integer(i64),
    Real(f64),
    Text(usize),
    Blob(usize),
}

/// The rows of one test, in the order in which they were fetched.
#[derive(Debug, Default)]
pub struct Answer {
    cells: Vec<AnswerCell>,
    bytes: Vec<u8>,
    /// For each row the number of cells up to its end.
    ends: Vec<usize>,
    rows: u64,
    drop: bool,
}

impl Answer {
    /// An empty arena that has no memory yet, for what is read outside the clock.
    pub fn new() -> Answer {
        Answer::default()
    }

    /// An empty arena whose memory is resident. A process makes one of them and keeps it: to give
    /// back pieces of this size changes how glibc's malloc serves the engine from then on
    /// (`M_MMAP_THRESHOLD` in mallopt(3)), and dyno is to leave no such mark.
    pub(crate) fn resident() -> Answer {
        Answer {
            cells: resident(CELLS, AnswerCell::Integer(-1)),
            bytes: resident(BYTES, 0xff),
            ends: resident(ROWS, usize::MAX),
            ..Answer::default()
        }
    }

    /// Empties the arena. Without `keep`, rows are counted and the place of each is used again for
    /// the next: so a test whose answer is that of a check query may return any number of rows.
    pub(crate) fn begin(&mut self, keep: bool) {
        self.forget();
        self.ends.clear();
        self.rows = 0;
        self.drop = !keep;
    }

    /// Adds a whole row, outside the clock.
    pub(crate) fn row(&mut self, values: &[Value]) {
        for value in values {
            match value {
                Value::Null => self.null(),
                Value::Integer(number) => self.integer(*number),
                Value::Real(number) => self.real(*number),
                Value::Text(text) => self.text(text.as_bytes()),
                Value::Blob { blob } => self.text(blob.as_bytes()),
            }
        }
        self.end_row();
    }

    /// The number of rows fetched since the answer began, kept or not.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The rows that were kept.
    pub fn kept(&self) -> impl Iterator<Item = Vec<Value>> + '_ {
        let (mut cell, mut byte) = (0, 0);
        self.ends.iter().map(move |&end| {
            let cells = &self.cells[cell..end];
            cell = end;
            cells.iter().map(|cell| self.value(*cell, &mut byte)).collect()
        })
    }

    fn value(&self, cell: AnswerCell, byte: &mut usize) -> Value {
        let mut take = |length| {
            *byte += length;
            &self.bytes[*byte - length..*byte]
        };
        match cell {
            AnswerCell::Null => Value::Null,
            AnswerCell::Integer(value) => Value::Integer(value),
            AnswerCell::Real(value) => Value::from_real(value),
            AnswerCell::Text(length) => Value::from_text(take(length)),
            AnswerCell::Blob(length) => Value::from_bytes(take(length)),
        }
    }

    #[inline]
    fn forget(&mut self) {
        self.cells.clear();
        self.bytes.clear();
    }
}

impl Sink for Answer {
    #[inline]
    fn null(&mut self) {
        self.cells.push(AnswerCell::Null);
    }

    #[inline]
    fn integer(&mut self, value: i64) {
        self.cells.push(AnswerCell::Integer(value));
    }

    #[inline]
    fn real(&mut self, value: f64) {
        self.cells.push(AnswerCell::Real(value));
    }

    #[inline]
    fn text(&mut self, value: &[u8]) {
        self.bytes.extend_from_slice(value);
        self.cells.push(AnswerCell::Text(value.len()));
    }

    #[inline]
    fn blob(&mut self, value: &[u8]) {
        self.bytes.extend_from_slice(value);
        self.cells.push(AnswerCell::Blob(value.len()));
    }

    #[inline]
    fn end_row(&mut self) {
        self.rows += 1;
        if self.drop {
            self.forget();
        } else {
            self.ends.push(self.cells.len());
        }
    }
}

/// An empty vector whose whole capacity has been written to once, so that no page fault is left for
/// the timed section.
fn resident<T: Clone>(capacity: usize, filler: T) -> Vec<T> {
    let mut vector = vec![filler; capacity];
    // Without this the compiler could remove writes to memory that is never read.
    std::hint::black_box(&mut vector).clear();
    vector
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(answer: &mut Answer) {
        answer.integer(1);
        answer.text("één".as_bytes());
        answer.end_row();
        answer.null();
        answer.blob(&[0, 255]);
        answer.end_row();
        answer.real(f64::INFINITY);
        answer.text(b"");
        answer.end_row();
    }

    #[test]
    fn rows_come_back_as_they_were_put() {
        let mut answer = Answer::new();
        answer.begin(true);
        fill(&mut answer);
        let rows: Vec<_> = answer.kept().collect();
        assert_eq!(rows[0], [Value::Integer(1), Value::Text("één".into())]);
        assert_eq!(rows[1], [Value::Null, Value::Blob { blob: "00ff".into() }]);
        assert_eq!(rows[2], [Value::Text("inf".into()), Value::Text(String::new())]);
        assert_eq!(rows.len(), 3);
    }

    #[test]
    fn rows_that_are_not_kept_are_counted() {
        let mut answer = Answer::new();
        answer.begin(false);
        fill(&mut answer);
        assert_eq!((answer.rows(), answer.kept().count()), (3, 0));
        assert!(answer.bytes.is_empty() && answer.cells.is_empty());
        answer.begin(true);
        assert_eq!((answer.rows(), answer.kept().count()), (0, 0));
    }

    #[test]
    fn it_grows_beyond_what_was_reserved() {
        let mut answer = Answer::resident();
        answer.begin(true);
        for value in 0..(CELLS as i64 + 7) {
            answer.integer(value);
            answer.end_row();
        }
        assert_eq!(answer.kept().last(), Some(vec![Value::Integer(CELLS as i64 + 6)]));
    }
}
