//! The patience of a thread: how long it waits for a node's answer, and the leader whose replacement ends the wait.

use std::cell::{Cell, RefCell};
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// The time between looks whether another node leads.
const LOOK: Duration = Duration::from_millis(5);

thread_local! {
    /// The moment by which the operation under way must be answered.
    static DEADLINE: Cell<Option<Instant>> = const { Cell::new(None) };
    /// The leader that the thread works with.
    static LEADER: RefCell<Option<Leader>> = const { RefCell::new(None) };
}

/// The node that leads, as a client knew it, and the node that does now.
#[derive(Debug, Clone)]
pub struct Leader {
    node: usize,
    now: Arc<AtomicUsize>,
}

impl Leader {
    /// The one that leads now.
    pub fn of(now: &Arc<AtomicUsize>) -> Leader {
        Leader { node: now.load(Ordering::Relaxed), now: now.clone() }
    }

    /// Its node.
    pub fn node(&self) -> usize {
        self.node
    }

    /// True once another node leads.
    pub fn is_replaced(&self) -> bool {
        self.now.load(Ordering::Relaxed) != self.node
    }
}

/// The waits of this thread end when the leader is replaced.
pub fn end_with(leader: &Leader) {
    LEADER.set(Some(leader.clone()));
}

/// The next operation of this thread must be answered within this time.
pub fn limit(time: Duration) {
    DEADLINE.set(Some(Instant::now() + time));
}

/// Waits for a socket. Returns false if the time is over, or another node leads.
pub fn is_ready(socket: BorrowedFd<'_>, events: PollFlags) -> bool {
    loop {
        let left = DEADLINE.get().map_or(Duration::MAX, |end| end.saturating_duration_since(Instant::now()));
        let timeout = PollTimeout::try_from(left.min(LOOK)).unwrap_or(PollTimeout::ZERO);
        let mut sockets = [PollFd::new(socket, events)];
        if !matches!(poll(&mut sockets, timeout), Ok(0)) {
            return true;
        }
        let is_replaced = LEADER.with_borrow(|leader| leader.as_ref().is_some_and(Leader::is_replaced));
        if left <= LOOK || is_replaced {
            return false;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;
    use std::thread;

    use super::*;

    #[test]
    fn a_wait_ends_when_another_node_leads() {
        let (here, _there) = UnixStream::pair().unwrap();
        let now = Arc::new(AtomicUsize::new(0));
        let leader = Leader::of(&now);
        limit(Duration::from_secs(60));
        let begin = Instant::now();
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(20));
                now.store(1, Ordering::Relaxed);
            });
            end_with(&leader);
            assert!(!is_ready(here.as_fd(), PollFlags::POLLIN));
        });
        assert!(begin.elapsed() < Duration::from_secs(30), "{:?}", begin.elapsed());
        assert!(leader.is_replaced() && Leader::of(&now).node() == 1);
    }

    #[test]
    fn a_wait_ends_with_its_time_or_an_answer() {
        let (here, _there) = UnixStream::pair().unwrap();
        limit(Duration::from_millis(20));
        let begin = Instant::now();
        assert!(!is_ready(here.as_fd(), PollFlags::POLLIN));
        assert!(begin.elapsed() >= Duration::from_millis(15), "{:?}", begin.elapsed());
        assert!(is_ready(here.as_fd(), PollFlags::POLLOUT));
    }
}
