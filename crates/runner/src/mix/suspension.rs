//! A client's waits. A client that shares its thread is suspended meanwhile, so that the thread drives others; one that
//! has a thread sleeps in it.

use std::cell::Cell;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::ptr::NonNull;
use std::thread;
use std::time::{Duration, Instant};

use corosensei::Yielder;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::epoll::EpollFlags;

/// The event that a suspended client waits for.
#[derive(Debug, Clone, Copy)]
pub enum Suspension {
    /// Its socket is ready for one of these.
    Socket(RawFd, EpollFlags),
    /// This moment has come.
    Until(Instant),
    /// All clients of the thread have met, or ended.
    Meeting,
}

/// The coroutine of a client, as the client sees it.
pub type ClientYielder = Yielder<(), Suspension>;

thread_local! {
    /// The running client of this thread, if it shares the thread.
    static RUNNING: Cell<Option<NonNull<ClientYielder>>> = const { Cell::new(None) };
}

/// Lets a client live in its coroutine.
pub fn live<R>(yielder: &ClientYielder, life: impl FnOnce() -> R) -> R {
    /// Forgets the client when it ends, also where it panics.
    struct Ended;
    impl Drop for Ended {
        fn drop(&mut self) {
            RUNNING.set(None);
        }
    }
    RUNNING.set(Some(NonNull::from(yielder)));
    let _ended = Ended;
    life()
}

/// Suspends the running client. Returns false, at once, if it has its thread to itself.
#[inline]
fn suspend(until: Suspension) -> bool {
    let Some(yielder) = RUNNING.take() else { return false };
    // SAFETY: `live` has set it for the client that runs now, and forgets it before the yielder goes.
    unsafe { yielder.as_ref() }.suspend(until);
    RUNNING.set(Some(yielder));
    true
}

/// Waits until a socket is ready for one of these events. It may return early: the caller looks whether there is anything.
#[inline]
pub fn wait_for_socket(socket: BorrowedFd<'_>, events: PollFlags) {
    let mut flags = EpollFlags::empty();
    flags.set(EpollFlags::EPOLLIN, events.contains(PollFlags::POLLIN));
    flags.set(EpollFlags::EPOLLOUT, events.contains(PollFlags::POLLOUT));
    if !suspend(Suspension::Socket(socket.as_raw_fd(), flags)) {
        // A signal ends it early.
        let _ = poll(&mut [PollFd::new(socket, events)], PollTimeout::NONE);
    }
}

/// Waits until a moment, if the client shares its thread. Returns false, at once, if it does not.
pub fn suspend_until(moment: Instant) -> bool {
    suspend(Suspension::Until(moment))
}

/// Sleeps for a time.
pub fn sleep(time: Duration) {
    if !suspend(Suspension::Until(Instant::now() + time)) {
        thread::sleep(time);
    }
}

/// Sleeps until a moment.
pub fn sleep_until(moment: Instant) {
    sleep(moment.saturating_duration_since(Instant::now()));
}

/// Waits until all clients of the thread have met. The client shares its thread.
pub fn meet() {
    suspend(Suspension::Meeting);
}
