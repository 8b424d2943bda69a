//! The rows that a server was sent, so that its errors can name lines of the file.

/// The lines of the file on which the rows of one stream begin, in order.
#[derive(Debug, Default)]
pub struct Sent {
    rows: u64,
    /// Rows on lines that follow one another: the first row, from 0, and its line.
    runs: Vec<(u64, u64)>,
}

impl Sent {
    /// Some more rows.
    pub fn add(&mut self, lines: &[u64]) {
        for &line in lines {
            let follows = |&(row, first): &(u64, u64)| first + (self.rows - row) == line;
            if !self.runs.last().is_some_and(follows) {
                self.runs.push((self.rows, line));
            }
            self.rows += 1;
        }
    }

    /// The line of a row that the server counts from 1.
    pub fn line(&self, row: u64) -> Option<u64> {
        let row = row.checked_sub(1).filter(|row| *row < self.rows)?;
        let run = self.runs.partition_point(|(first, _)| *first <= row).checked_sub(1)?;
        let (first, line) = self.runs[run];
        Some(line + row - first)
    }
}

/// The number behind a word of a message, and the message without both.
pub fn number_behind(message: &str, word: &str) -> Option<(u64, String)> {
    let (before, behind) = message.rsplit_once(word)?;
    let digits = behind.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(behind.len());
    let number = behind[..digits].parse().ok()?;
    Some((number, format!("{before}{}", &behind[digits..])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_the_lines_that_they_were_sent_with() {
        let mut sent = Sent::default();
        sent.add(&[2, 3, 4]);
        sent.add(&[5, 7, 10, 11]);
        let lines: Vec<Option<u64>> = (0..9).map(|row| sent.line(row)).collect();
        assert_eq!(lines, [None, Some(2), Some(3), Some(4), Some(5), Some(7), Some(10), Some(11), None]);
        assert_eq!(sent.runs.len(), 3);
    }

    #[test]
    fn a_number_is_taken_out_of_a_message() {
        let found = number_behind("wrong (COPY t, line 12, column d: x)", ", line ");
        assert_eq!(found, Some((12, "wrong (COPY t, column d: x)".to_owned())));
        assert_eq!(number_behind("wrong at row 7", " at row "), Some((7, "wrong".to_owned())));
        assert_eq!(number_behind("wrong", " at row "), None);
    }
}
