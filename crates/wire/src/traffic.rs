//! Counts what a recording holds within some windows of time.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::decode::{Ask, Conversation, Obstacle, WireProtocol};
use crate::inspect::PeerRole;
use crate::pattern::without_values;
use crate::recording::{RecordedRead, Recording};

/// The traffic of all connections in a window of time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Traffic {
    /// The number of times that the client waited: it sent something, and received something before it sent more.
    pub round_trips: u64,
    /// The number of times that it sent bytes: writes in quick succession count as one.
    pub sends: u64,
    /// The bytes that it sent.
    pub sent_bytes: u64,
    /// The bytes that it received.
    pub received_bytes: u64,
    /// The number of statements that it had prepared.
    pub prepares: u64,
    /// The statements that it had executed.
    pub statements: Vec<SentText>,
    /// The reason that a connection could not be read; then there are no prepares and no statements of it.
    pub obstacle: Option<Obstacle>,
}

/// A statement as the server saw it, and how often. Where a text differs from another by values and comments
/// alone, both count as the first of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentText {
    /// The text.
    pub text: Arc<str>,
    /// The number of times that it was executed.
    pub count: u64,
    /// The text without values and comments.
    pattern: String,
}

impl Traffic {
    /// The number of statements that the client had executed.
    pub fn executed(&self) -> u64 {
        self.statements.iter().map(|statement| statement.count).sum()
    }

    /// The traffic beyond that of another window, which is a part of the same work.
    #[must_use]
    pub fn beyond(&self, part: &Traffic) -> Traffic {
        let statements = self.statements.iter().map(|statement| {
            let same = part.statements.iter().find(|known| known.pattern == statement.pattern);
            let count = statement.count.saturating_sub(same.map_or(0, |known| known.count));
            SentText { count, ..statement.clone() }
        });
        Traffic {
            round_trips: self.round_trips.saturating_sub(part.round_trips),
            sends: self.sends.saturating_sub(part.sends),
            sent_bytes: self.sent_bytes.saturating_sub(part.sent_bytes),
            received_bytes: self.received_bytes.saturating_sub(part.received_bytes),
            prepares: self.prepares.saturating_sub(part.prepares),
            statements: statements.filter(|statement| statement.count > 0).collect(),
            obstacle: self.obstacle.max(part.obstacle),
        }
    }
}

/// Counts and forgets what was recorded: what clients sent within each window of the monotonic clock, in nanoseconds,
/// with what they received for it. Windows follow one another. `None` if there was more than a recording holds.
pub fn count(
    recording: &Recording,
    protocol: WireProtocol,
    windows: &[RangeInclusive<u64>],
) -> Option<Vec<Traffic>> {
    let mut counting: Vec<Counting> = windows.iter().map(|_| Counting::default()).collect();
    for reads in recording.take()? {
        count_connection(&reads, protocol, windows, &mut counting);
    }
    Some(counting.into_iter().map(|counting| counting.traffic).collect())
}

/// The counts of a window while it is read.
#[derive(Debug, Default)]
struct Counting {
    traffic: Traffic,
    /// The places of the statements, by their patterns.
    places: BTreeMap<String, usize>,
}

fn count_connection(
    reads: &[RecordedRead],
    protocol: WireProtocol,
    windows: &[RangeInclusive<u64>],
    counting: &mut [Counting],
) {
    let mut conversation = Conversation::new(protocol);
    let mut current = None;
    let mut awaits = false;
    for read in reads {
        let is_client = read.origin == PeerRole::Client;
        if is_client {
            current = windows.iter().position(|window| window.contains(&read.at_ns));
        }
        let asked = conversation.hear(read.origin, &read.bytes);
        if let Some(counting) = current.map(|window| &mut counting[window]) {
            counting.add(read, std::mem::replace(&mut awaits, is_client), asked, protocol);
            counting.traffic.obstacle = counting.traffic.obstacle.max(conversation.obstacle());
        } else {
            awaits = is_client;
        }
    }
}

impl Counting {
    fn add(&mut self, read: &RecordedRead, awaited: bool, asked: Vec<Ask>, protocol: WireProtocol) {
        let (traffic, bytes) = (&mut self.traffic, read.bytes.len() as u64);
        match read.origin {
            PeerRole::Client => {
                traffic.sends += 1;
                traffic.sent_bytes += bytes;
            }
            PeerRole::Server => {
                traffic.round_trips += u64::from(awaited);
                traffic.received_bytes += bytes;
            }
        }
        for ask in asked {
            match ask {
                Ask::Prepare(_) => self.traffic.prepares += 1,
                Ask::Execute(text) => self.execute(text, protocol),
            }
        }
    }

    fn execute(&mut self, text: Arc<str>, protocol: WireProtocol) {
        let statements = &mut self.traffic.statements;
        let pattern = without_values(&text, protocol);
        let place = *self.places.entry(pattern.clone()).or_insert(statements.len());
        match statements.get_mut(place) {
            Some(statement) => statement.count += 1,
            None => statements.push(SentText { text, count: 1, pattern }),
        }
    }
}

#[cfg(test)]
mod tests;
