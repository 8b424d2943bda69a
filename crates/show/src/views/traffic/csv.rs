//! The traffic of a contender's operations in a test, as columns. They are empty where the test has several classes,
//! whose operations differ, and where passes did not agree.

use dyno_verdict::{CountRange, TrafficShare, TrafficTest, Verdict};

use crate::csv_column::Column;

/// The columns of a contender in a test, by their places.
pub fn columns(verdict: &Verdict, contender: usize, test: usize) -> Vec<Column> {
    let id = &verdict.tests[test].id;
    let tests: Vec<&TrafficTest> =
        verdict.views.traffic.iter().filter(|traffic| traffic.test == *id).collect();
    let line = match tests[..] {
        [one] => one.lines.iter().find(|line| line.contender == contender),
        _ => None,
    };
    let share = line.and_then(|line| line.each.as_ref());
    let read = share.filter(|_| line.is_some_and(|line| line.unread.is_none()));
    let exact = |share: Option<&TrafficShare>, count: fn(&TrafficShare) -> CountRange| {
        share.and_then(|share| count(share).exact()).into()
    };
    vec![
        ("executed_each", exact(read, |share| share.executed)),
        ("round_trips_each", exact(share, |share| share.round_trips)),
        ("sends_each", exact(share, |share| share.sends)),
        ("sent_bytes_each", exact(share, |share| share.sent_bytes)),
        ("received_bytes_each", exact(share, |share| share.received_bytes)),
        ("prepares_each", exact(read, |share| share.prepares)),
    ]
}
