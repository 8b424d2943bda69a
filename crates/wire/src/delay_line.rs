//! Bytes on their way in one direction, each with the moment at which it is passed on.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The number of bytes under way in one direction above which no more are read: enough for 800 MB/s at 40 ms.
const CAPACITY: usize = 16 << 20;

/// A queue between the thread that reads from one end and the thread that writes to the other.
#[derive(Debug, Default)]
pub struct DelayLine {
    underway: Mutex<Underway>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Underway {
    chunks: VecDeque<(Instant, Vec<u8>)>,
    bytes: usize,
    /// When the end of the stream is passed on, once it has been read.
    end: Option<Instant>,
    is_broken: bool,
}

impl DelayLine {
    /// Adds bytes that are passed on at `due`; waits while there is no room. Returns false if nothing is passed on any more.
    pub fn put(&self, due: Instant, bytes: &[u8]) -> bool {
        let mut underway = self.lock();
        while underway.bytes >= CAPACITY && !underway.is_broken {
            underway = self.changed.wait(underway).unwrap_or_else(PoisonError::into_inner);
        }
        if underway.is_broken {
            return false;
        }
        let is_first = underway.chunks.is_empty();
        underway.bytes += bytes.len();
        underway.chunks.push_back((due, bytes.to_vec()));
        if is_first {
            self.changed.notify_all();
        }
        true
    }

    /// Ends the stream at `due`, after all that was put.
    pub fn end(&self, due: Instant) {
        self.lock().end = Some(due);
        self.changed.notify_all();
    }

    /// Drops what is under way, and refuses more.
    pub fn break_off(&self) {
        let mut underway = self.lock();
        underway.is_broken = true;
        underway.chunks.clear();
        self.changed.notify_all();
    }

    /// The next bytes, at the moment when they are due; `None` at the end of the stream.
    pub fn take(&self) -> Option<Vec<u8>> {
        let mut underway = self.lock();
        loop {
            let due = match (underway.chunks.front(), underway.end) {
                _ if underway.is_broken => return None,
                (Some((due, _)), _) => *due,
                (None, Some(due)) => due,
                (None, None) => {
                    underway = self.changed.wait(underway).unwrap_or_else(PoisonError::into_inner);
                    continue;
                }
            };
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let (_, bytes) = underway.chunks.pop_front()?;
                let was_full = underway.bytes >= CAPACITY;
                underway.bytes -= bytes.len();
                if was_full {
                    self.changed.notify_all();
                }
                return Some(bytes);
            }
            let waited = self.changed.wait_timeout(underway, left).unwrap_or_else(PoisonError::into_inner);
            underway = waited.0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Underway> {
        self.underway.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn bytes_come_out_in_order_and_no_earlier_than_due() {
        let line = DelayLine::default();
        let now = Instant::now();
        for place in 0..10_u8 {
            assert!(line.put(now + Duration::from_millis(5 * u64::from(place)), &[place]));
        }
        line.end(now + Duration::from_millis(60));
        for place in 0..10_u8 {
            assert_eq!(line.take(), Some(vec![place]));
            assert!(now.elapsed() >= Duration::from_millis(5 * u64::from(place)));
        }
        assert_eq!(line.take(), None);
        assert!(now.elapsed() >= Duration::from_millis(60));
    }

    #[test]
    fn a_full_line_waits_until_there_is_room() {
        let line = Arc::new(DelayLine::default());
        let chunk = vec![0; CAPACITY / 4];
        let now = Instant::now();
        for _ in 0..4 {
            assert!(line.put(now, &chunk));
        }
        let filling = thread::spawn({
            let line = Arc::clone(&line);
            move || line.put(now, b"more")
        });
        thread::sleep(Duration::from_millis(50));
        assert!(!filling.is_finished());
        assert_eq!(line.take().map(|bytes| bytes.len()), Some(CAPACITY / 4));
        assert!(filling.join().unwrap());
        line.break_off();
        assert_eq!(line.take(), None);
        assert!(!line.put(now, b"late"));
    }
}
