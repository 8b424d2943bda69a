//! The rows that a server was sent, so that its errors can name lines of the file.

/// The rows of one stream, in order: the lines of the file on which they begin, and the numbers of their records.
#[derive(Debug, Default)]
pub struct Sent {
    rows: u64,
    lines: Numbers,
    records: Numbers,
}

/// A number for each row. It mostly goes up by as much as before: the first row of such a run, its number, and the step.
#[derive(Debug, Default)]
struct Numbers(Vec<(u64, u64, u64)>);

impl Sent {
    /// Some more rows.
    pub fn add(&mut self, lines: &[u64], records: &[u64]) {
        for (&line, &record) in lines.iter().zip(records) {
            self.lines.add(self.rows, line);
            self.records.add(self.rows, record);
            self.rows += 1;
        }
    }

    /// The line and the record of a row that the server counts from 1.
    pub fn row(&self, row: u64) -> Option<(u64, u64)> {
        let row = row.checked_sub(1).filter(|row| *row < self.rows)?;
        Some((self.lines.of(row)?, self.records.of(row)?))
    }
}

impl Numbers {
    fn add(&mut self, row: u64, number: u64) {
        match self.0.last_mut() {
            Some((first, start, step)) if *start + (row - *first) * *step == number => {}
            Some((first, start, step)) if row - *first == 1 && number >= *start => *step = number - *start,
            _ => self.0.push((row, number, 1)),
        }
    }

    fn of(&self, row: u64) -> Option<u64> {
        let run = self.0.partition_point(|(first, _, _)| *first <= row).checked_sub(1)?;
        let (first, start, step) = self.0[run];
        Some(start + (row - first) * step)
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
    fn rows_have_the_lines_and_records_that_they_were_sent_with() {
        let mut sent = Sent::default();
        let lines = [2, 3, 4, 5, 7, 10, 11, 11, 11, 13, 15, 17, 1, 1];
        let records = [0, 1, 2, 3, 4, 6, 7, 8, 9, 20, 21, 22, 23, 24];
        sent.add(&lines[..3], &records[..3]);
        sent.add(&lines[3..], &records[3..]);
        let found: Vec<_> = (1..=14).filter_map(|row| sent.row(row)).collect();
        assert_eq!(found, lines.into_iter().zip(records).collect::<Vec<_>>());
        assert_eq!((sent.row(0), sent.row(15)), (None, None));
    }

    #[test]
    fn rows_on_one_line_or_some_lines_apart_take_little_memory() {
        for step in 0..3 {
            let mut sent = Sent::default();
            (0..1000).for_each(|row| sent.add(&[1 + row * step], &[row]));
            assert_eq!(
                (sent.lines.0.len(), sent.records.0.len(), sent.row(1000)),
                (1, 1, Some((1 + 999 * step, 999)))
            );
        }
    }

    #[test]
    fn a_number_is_taken_out_of_a_message() {
        let found = number_behind("wrong (COPY t, line 12, column d: x)", ", line ");
        assert_eq!(found, Some((12, "wrong (COPY t, column d: x)".to_owned())));
        assert_eq!(number_behind("wrong at row 7", " at row "), Some((7, "wrong".to_owned())));
        assert_eq!(number_behind("wrong", " at row "), None);
    }
}
