//! Rows as lines, for servers that split them.

use std::slice::ChunksExact;

use dyno_inputs::Slice;

use crate::Load;

/// Rows as lines of cells with tabs between them: what both COPY and LOAD DATA read by default. Nothing is escaped,
/// because cells are letters and digits.
#[derive(Debug)]
pub struct Lines<'a> {
    load: &'a Load<'a>,
    rows: ChunksExact<'a, u8>,
    /// The length of a line.
    line: usize,
    /// The end of a line that did not fit.
    rest: Vec<u8>,
}

impl<'a> Lines<'a> {
    /// Rows of a load, or some of them.
    pub fn new(load: &'a Load<'a>, rows: Slice<'a>) -> Lines<'a> {
        let line = rows.width() + load.columns.len();
        Lines { load, rows: rows.iter(), line, rest: Vec::new() }
    }

    /// Writes whole lines while they fit, or a piece of one where none does, and returns how many bytes
    /// that were; none at the end.
    pub fn read(&mut self, out: &mut [u8]) -> usize {
        if !self.rest.is_empty() {
            return self.piece(out);
        }
        if out.len() < self.line {
            let Some(row) = self.rows.next() else { return 0 };
            let mut whole = vec![0; self.line];
            self.write(row, &mut whole);
            self.rest = whole;
            return self.piece(out);
        }
        let mut length = 0;
        for out in out.chunks_exact_mut(self.line) {
            let Some(row) = self.rows.next() else { break };
            self.write(row, out);
            length += out.len();
        }
        length
    }

    fn piece(&mut self, out: &mut [u8]) -> usize {
        let length = out.len().min(self.rest.len());
        out[..length].copy_from_slice(&self.rest[..length]);
        self.rest.drain(..length);
        length
    }

    #[inline]
    fn write(&self, row: &'a [u8], line: &mut [u8]) {
        let mut at = 0;
        for cell in self.load.cells(row) {
            line[at..at + cell.len()].copy_from_slice(cell);
            at += cell.len();
            line[at] = b'\t';
            at += 1;
        }
        line[at - 1] = b'\n';
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inserts::tests::with_load;

    fn lines(load: &Load, buffer: usize) -> String {
        let mut lines = Lines::new(load, load.rows);
        let (mut text, mut buffer) = (Vec::new(), vec![0; buffer]);
        loop {
            match lines.read(&mut buffer) {
                0 => return String::from_utf8(text).unwrap(),
                length => text.extend_from_slice(&buffer[..length]),
            }
        }
    }

    #[test]
    fn rows_are_lines_whatever_the_buffer() {
        for buffer in [1, 5, 7, 8, 15, 100] {
            let text = with_load(None, |load| lines(load, buffer));
            assert_eq!(text, "aa\tbbb\ncc\tddd\nee\tfff\n", "a buffer of {buffer}");
        }
    }
}
