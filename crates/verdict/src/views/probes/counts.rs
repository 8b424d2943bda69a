//! The histories in which an anomaly is a row that cannot be.

use std::collections::BTreeMap;

use dyno_protocol::Value;

use super::anomaly::{Anomaly, FoundAnomaly};

/// Each row is the number that a transaction read and made one more of: none can be read by two.
pub fn lost_updates(history: &[Vec<Value>]) -> Vec<FoundAnomaly> {
    let mut readers: BTreeMap<i64, u64> = BTreeMap::new();
    for row in history {
        *readers.entry(number(row, 0)).or_default() += 1;
    }
    let lost = readers.values().map(|readers| readers - 1).sum();
    let shows = readers
        .iter()
        .find(|(_, readers)| **readers > 1)
        .map(|(read, readers)| format!("{readers} transactions read {read}, and each wrote {}", read + 1));
    found(Anomaly::LostUpdate, lost, shows)
}

/// The sum of both accounts.
const TOGETHER: i64 = 100;

/// Each row is what a transaction read of two accounts, between which money moves.
pub fn read_skew(history: &[Vec<Value>]) -> Vec<FoundAnomaly> {
    let skewed = |row: &&Vec<Value>| number(row, 0) + number(row, 1) != TOGETHER;
    let shows = history.iter().find(skewed).map(|row| {
        let (a, b) = (number(row, 0), number(row, 1));
        format!("a transaction read {a} of one account and {b} of the other, which always hold {TOGETHER} together")
    });
    found(Anomaly::ReadSkew, history.iter().filter(skewed).count() as u64, shows)
}

/// Each row is who left (0: a transaction that only looked), and how many that transaction saw on call: one stays, so
/// never none.
pub fn write_skew(history: &[Vec<Value>]) -> Vec<FoundAnomaly> {
    let is_empty = |row: &&Vec<Value>| number(row, 1) == 0;
    let shows = history.iter().find(is_empty).map(|_| {
        "each of two left because it had read that the other was on call: then a transaction found none on call"
            .to_owned()
    });
    found(Anomaly::WriteSkew, history.iter().filter(is_empty).count() as u64, shows)
}

fn found(anomaly: Anomaly, count: u64, shows: Option<String>) -> Vec<FoundAnomaly> {
    shows.map(|shows| (anomaly, count, shows)).into_iter().collect()
}

/// A number of a row; one that is none is no anomaly of its own and counts as -1.
fn number(row: &[Value], place: usize) -> i64 {
    match row.get(place) {
        Some(Value::Integer(number)) => *number,
        _ => -1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(rows: &[&[i64]]) -> Vec<Vec<Value>> {
        rows.iter().map(|row| row.iter().map(|number| Value::Integer(*number)).collect()).collect()
    }

    #[test]
    fn a_number_that_two_read_is_a_lost_update() {
        assert!(lost_updates(&rows(&[&[0], &[1], &[2]])).is_empty());
        let found = lost_updates(&rows(&[&[0], &[1], &[1], &[1], &[2]]));
        let shows = "3 transactions read 1, and each wrote 2".to_owned();
        assert_eq!(found, [(Anomaly::LostUpdate, 2, shows)]);
    }

    #[test]
    fn sums_and_empty_shifts_are_skews() {
        assert!(read_skew(&rows(&[&[50, 50], &[41, 59]])).is_empty());
        assert_eq!(read_skew(&rows(&[&[50, 50], &[41, 50]]))[0].1, 1);
        assert!(write_skew(&rows(&[&[1, 2], &[0, 1]])).is_empty());
        assert_eq!(write_skew(&rows(&[&[1, 2], &[2, 2], &[0, 0], &[0, 0]]))[0].1, 2);
    }
}
