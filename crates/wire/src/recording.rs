//! Records what went through a proxy: each read of it, with its moment on the system's monotonic clock.

use std::sync::{Mutex, MutexGuard, PoisonError};

use nix::time::{ClockId, clock_gettime};

use crate::inspect::{Inspector, Passage, PeerRole};

/// The most bytes that a recording holds.
const CAPACITY: usize = 256 << 20;

/// All that went through a proxy, up to a number of bytes.
#[derive(Debug, Default)]
pub struct Recording {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    connections: Vec<Vec<RecordedRead>>,
    bytes: usize,
    is_over: bool,
}

/// The bytes of one read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RecordedRead {
    /// `CLOCK_MONOTONIC`, in nanoseconds.
    pub at_ns: u64,
    pub origin: PeerRole,
    pub bytes: Vec<u8>,
}

impl Recording {
    /// Forgets all that was recorded, and gives the connections: in each, what was read in the order in which the
    /// client sent and received it. `None` if there was more than a recording holds.
    pub(crate) fn take(&self) -> Option<Vec<Vec<RecordedRead>>> {
        let kept = std::mem::take(&mut *self.lock());
        (!kept.is_over).then_some(kept.connections)
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inspector for Recording {
    fn inspect(&self, connection: u64, origin: PeerRole, bytes: &[u8]) -> Passage {
        let mut kept = self.lock();
        if kept.is_over || kept.bytes + bytes.len() > CAPACITY {
            *kept = Kept { is_over: true, ..Kept::default() };
            return Passage::Pass;
        }
        kept.bytes += bytes.len();
        let place = connection as usize;
        if kept.connections.len() <= place {
            kept.connections.resize_with(place + 1, Vec::new);
        }
        kept.connections[place].push(RecordedRead { at_ns: now_ns(), origin, bytes: bytes.to_vec() });
        Passage::Pass
    }
}

fn now_ns() -> u64 {
    // The clock is always there.
    let Ok(now) = clock_gettime(ClockId::CLOCK_MONOTONIC) else { return 0 };
    now.tv_sec().cast_unsigned() * 1_000_000_000 + now.tv_nsec().cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_are_kept_by_connection_and_in_order() {
        let recording = Recording::default();
        for (connection, origin, bytes) in
            [(0, PeerRole::Client, "a"), (1, PeerRole::Client, "b"), (0, PeerRole::Server, "c")]
        {
            assert_eq!(recording.inspect(connection, origin, bytes.as_bytes()), Passage::Pass);
        }
        let connections = recording.take().unwrap();
        let text = |read: &RecordedRead| (read.origin, String::from_utf8(read.bytes.clone()).unwrap());
        let texts: Vec<Vec<_>> = connections.iter().map(|reads| reads.iter().map(text).collect()).collect();
        assert_eq!(
            texts,
            [
                vec![(PeerRole::Client, "a".into()), (PeerRole::Server, "c".into())],
                vec![(PeerRole::Client, "b".into())]
            ]
        );
        assert!(connections[0][0].at_ns <= connections[0][1].at_ns);
        assert_eq!(recording.take(), Some(Vec::new()));
    }

    #[test]
    fn more_than_fits_is_reported_and_not_cut_short() {
        let recording = Recording::default();
        recording.inspect(0, PeerRole::Client, b"first");
        let large = vec![0; CAPACITY];
        assert_eq!(recording.inspect(0, PeerRole::Server, &large), Passage::Pass);
        assert_eq!(recording.inspect(0, PeerRole::Client, b"last"), Passage::Pass);
        assert_eq!(recording.take(), None);
        assert_eq!(recording.take(), Some(Vec::new()));
    }
}
