//! The traffic between contenders and their servers for an operation, in runs that counted it.

use std::collections::BTreeMap;

use dyno_record::{ContenderRecord, Run, SentStatement, TrafficCounts, TrafficRecord};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The traffic of one class of a test, or of a test without classes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrafficTest {
    /// The test, by its id.
    pub test: String,
    /// The class; absent of tests without classes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// For each contender shown whose traffic was counted.
    pub lines: Vec<TrafficLine>,
}

/// The traffic of one contender.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrafficLine {
    /// The contender, by its position in the run.
    pub contender: usize,
    /// The operations of which these are the means: of a test without classes as many as it reports.
    pub operations: u64,
    /// An operation's share; absent where nothing was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub each: Option<TrafficShare>,
    /// The statements of all of these operations in one pass, in the order in which each was first executed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statements: Vec<SentStatement>,
    /// The reason that statements and preparations could not be read; their shares then mean nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<String>,
    /// The reason that a pass counted nothing. Where a share is there, it is of the other pass alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// True of one pass that was not repeated, since dyno was interrupted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unrepeated: bool,
}

impl TrafficLine {
    /// The round trips of an operation, where both passes counted the same.
    pub(super) fn round_trips(&self) -> Option<f64> {
        let is_repeated = self.failed.is_none() && !self.unrepeated;
        self.each.as_ref().filter(|_| is_repeated)?.round_trips.exact()
    }
}

/// An operation's share of each count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrafficShare {
    /// Statements executed.
    pub executed: CountRange,
    /// The number of times that the client waited for the server.
    pub round_trips: CountRange,
    /// The number of times that it sent bytes.
    pub sends: CountRange,
    /// Bytes that it sent.
    pub sent_bytes: CountRange,
    /// Bytes that it received.
    pub received_bytes: CountRange,
    /// Statements prepared.
    pub prepares: CountRange,
}

/// A count in the passes that counted it: the lowest and the highest, equal where all agree.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CountRange {
    /// The lowest.
    pub low: f64,
    /// The highest.
    pub high: f64,
}

impl CountRange {
    /// The count, where all passes agree.
    pub fn exact(&self) -> Option<f64> {
        (self.low == self.high).then_some(self.low)
    }
}

/// The traffic of the tests shown, in their order.
pub(super) fn traffic(run: &Run) -> Vec<TrafficTest> {
    let mut lines: BTreeMap<(&str, Option<&str>), Vec<TrafficLine>> = BTreeMap::new();
    let mut order = Vec::new();
    for (contender, record) in run.shown_contenders().flat_map(|(index, contender)| records(index, contender))
    {
        let key = (record.test.as_str(), record.class.as_deref());
        if !order.contains(&key) {
            order.push(key);
        }
        lines.entry(key).or_default().push(line(contender, record));
    }
    let place = |test: &str| run.tests.iter().position(|known| known.id == test);
    order.sort_by_key(|(test, _)| place(test));
    let tests = order.into_iter().map(|key| TrafficTest {
        test: key.0.to_owned(),
        class: key.1.map(str::to_owned),
        lines: lines.remove(&key).unwrap_or_default(),
    });
    tests.collect()
}

fn records(index: usize, contender: &ContenderRecord) -> impl Iterator<Item = (usize, &TrafficRecord)> {
    contender.traffic.iter().map(move |record| (index, record))
}

fn line(contender: usize, record: &TrafficRecord) -> TrafficLine {
    TrafficLine {
        contender,
        operations: record.operations,
        each: share(record),
        statements: record.statements.clone(),
        unread: record.unread.clone(),
        failed: record.failed.clone(),
        unrepeated: record.passes.len() == 1 && record.failed.is_none(),
    }
}

fn share(record: &TrafficRecord) -> Option<TrafficShare> {
    let range = |count: fn(&TrafficCounts) -> u64| {
        let counts = record.passes.iter().map(count);
        let each = |count: u64| count as f64 / record.operations.max(1) as f64;
        Some(CountRange { low: each(counts.clone().min()?), high: each(counts.max()?) })
    };
    Some(TrafficShare {
        executed: range(|counts| counts.executed)?,
        round_trips: range(|counts| counts.round_trips)?,
        sends: range(|counts| counts.sends)?,
        sent_bytes: range(|counts| counts.sent_bytes)?,
        received_bytes: range(|counts| counts.received_bytes)?,
        prepares: range(|counts| counts.prepares)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_exact_where_passes_agree_and_a_range_where_not() {
        let counts = |sends| TrafficCounts { round_trips: 350, sends, ..TrafficCounts::default() };
        let passes = vec![counts(100), counts(125)];
        let record = TrafficRecord { operations: 50, passes, ..TrafficRecord::default() };
        let share = share(&record).unwrap();
        assert_eq!(share.round_trips.exact(), Some(7.0));
        assert_eq!((share.sends.exact(), share.sends.low, share.sends.high), (None, 2.0, 2.5));
        let failed = TrafficRecord { failed: Some("no".into()), ..TrafficRecord::default() };
        assert_eq!(line(3, &failed).each, None);
        // One pass that was counted is shown.
        let passes = vec![counts(100)];
        let once = TrafficRecord { operations: 50, passes, failed: Some("no".into()), ..failed };
        assert_eq!(line(3, &once).each.unwrap().sends.exact(), Some(2.0));
        // So is one that was interrupted before the other; neither predicts anything.
        let interrupted = TrafficRecord { failed: None, ..once.clone() };
        let shown = [line(3, &once), line(3, &interrupted), line(3, &record)];
        assert_eq!(shown.each_ref().map(|line| line.unrepeated), [false, true, false]);
        assert_eq!(shown.map(|line| line.round_trips()), [None, None, Some(7.0)]);
    }
}
