//! Sends events: one JSON object a line, each flushed before the next thing happens.

use std::io::{self, Write};

use dyno_protocol::{Event, Value};

use crate::Answer;

/// Most rows that one `answer` event holds.
const ROWS: usize = 1000;
/// An `answer` event ends after the row with which its text and blobs reach this many bytes, so that
/// a reader's memory depends on its largest row and not on how many there are.
const BYTES: usize = 1 << 18;

/// The stream of events.
pub struct Events<W> {
    out: W,
    /// A whole line before it is written, so that a panic never leaves half of one.
    line: Vec<u8>,
}

impl<W: Write> Events<W> {
    /// Events are written to `out`.
    pub fn new(out: W) -> Events<W> {
        Events { out, line: Vec::with_capacity(4096) }
    }

    /// Sends one event.
    pub fn send(&mut self, event: &Event) -> io::Result<()> {
        self.line.clear();
        serde_json::to_writer(&mut self.line, event)?;
        self.line.push(b'\n');
        self.out.write_all(&self.line)?;
        self.out.flush()
    }

    /// Sends the rows of an answer in as many events as they need; none where there is no row.
    pub fn send_answer(&mut self, test: &str, answer: &Answer) -> io::Result<()> {
        let mut kept = answer.kept().peekable();
        while kept.peek().is_some() {
            let mut bytes = 0;
            let mut rows = Vec::new();
            while rows.len() < ROWS
                && bytes < BYTES
                && let Some(row) = kept.next()
            {
                bytes += row.iter().map(size).sum::<usize>();
                rows.push(row);
            }
            self.send(&Event::Answer { test: test.to_owned(), rows })?;
        }
        Ok(())
    }
}

/// The approximate size of a value in an event, in bytes.
fn size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Integer(_) | Value::Real(_) => 8,
        Value::Text(text) => text.len(),
        Value::Blob { blob } => blob.len(),
    }
}

#[cfg(test)]
mod tests {
    use dyno_protocol::Sink;

    use super::*;

    fn sizes(answer: &Answer) -> Vec<usize> {
        let mut out = Vec::new();
        Events::new(&mut out).send_answer("3", answer).unwrap();
        let text = String::from_utf8(out).unwrap();
        text.lines()
            .map(|line| match serde_json::from_str(line).unwrap() {
                Event::Answer { test, rows } if test == "3" => rows.len(),
                other => panic!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn a_long_answer_comes_in_pieces() {
        let mut answer = Answer::new();
        answer.begin(true);
        assert!(sizes(&answer).is_empty());
        for number in 0..2500 {
            answer.integer(number);
            answer.end_row();
        }
        assert_eq!(sizes(&answer), [1000, 1000, 500]);
    }

    #[test]
    fn wide_rows_make_small_pieces() {
        let mut answer = Answer::new();
        answer.begin(true);
        for _ in 0..5 {
            answer.text(&[b'x'; BYTES / 2 + 1]);
            answer.end_row();
        }
        assert_eq!(sizes(&answer), [2, 2, 1]);
    }
}
