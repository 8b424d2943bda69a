//! Several clients on one thread: each has a stack and runs until it waits, and then another one runs.
//!
//! A client waits for its socket, for a moment, or for the others. One `epoll` instance watches all sockets; a timer in it
//! ends the thread's sleep in time for the next planned moment. Nothing is allocated while clients work.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io;
use std::os::fd::{BorrowedFd, RawFd};
use std::time::{Duration, Instant};
use std::vec;

use corosensei::stack::DefaultStack;
use corosensei::{CoroutineResult, ScopedCoroutine, ScopedCoroutineRef};
use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};

use super::client::EARLY;
use super::suspension::{ClientYielder, Suspension, live};

/// The size of a client's stack, in bytes. The kernel provides only the pages that are used.
const STACK: usize = 512 << 10;
/// The event of the timer; those of clients are their positions.
const TIMER: u64 = u64::MAX;

type Client<'c, R> = ScopedCoroutine<'c, (), Suspension, R, DefaultStack>;
type ClientRef<'s, R> = ScopedCoroutineRef<'s, (), Suspension, R, DefaultStack>;

/// The clients of a thread.
pub struct Scheduler<'s, R> {
    clients: Vec<Scheduled<'s, R>>,
    epoll: Epoll,
    timer: TimerFd,
    /// The moment for which the timer is set.
    alarm: Option<Instant>,
    /// The moments that clients wait for, with their positions.
    moments: BinaryHeap<Reverse<(Instant, usize)>>,
    /// The positions of clients that can run.
    ready: VecDeque<usize>,
    events: Vec<EpollEvent>,
    /// The number of clients that wait for their sockets.
    at_sockets: usize,
}

/// A client of the thread.
struct Scheduled<'s, R> {
    coroutine: ClientRef<'s, R>,
    /// True while it waits for its socket.
    is_at_socket: bool,
    /// The socket, and the events for which it is watched.
    watched: Option<(RawFd, EpollFlags)>,
    result: Option<R>,
}

/// Gives each of these lives a stack and has `lead` run them. What has not ended by then is unwound. `lead` gets the error
/// where the system gives no stack, `epoll` instance or timer.
pub fn with_clients<'c, R: 'c, T>(
    lives: Vec<Box<dyn FnOnce() -> R + 'c>>,
    lead: impl FnOnce(io::Result<Scheduler<R>>) -> T,
) -> T {
    let client = |life: Box<dyn FnOnce() -> R + 'c>| {
        let body = move |yielder: &ClientYielder, ()| live(yielder, life);
        Ok(ScopedCoroutine::with_stack(DefaultStack::new(STACK)?, body))
    };
    match lives.into_iter().map(client).collect::<io::Result<Vec<Client<'c, R>>>>() {
        Ok(clients) => scoped(clients.into_iter(), Vec::new(), |clients| lead(Scheduler::new(clients))),
        Err(error) => lead(Err(error)),
    }
}

/// Opens the scope of one client within that of another.
fn scoped<'c, R, T>(
    mut closed: vec::IntoIter<Client<'c, R>>,
    open: Vec<ClientRef<'_, R>>,
    then: impl FnOnce(Vec<ClientRef<'_, R>>) -> T,
) -> T {
    match closed.next() {
        None => then(open),
        Some(client) => client.scope(|client| {
            let mut open: Vec<ClientRef<'_, R>> = open;
            open.push(client);
            scoped(closed, open, then)
        }),
    }
}

impl<'s, R> Scheduler<'s, R> {
    fn new(clients: Vec<ClientRef<'s, R>>) -> io::Result<Scheduler<'s, R>> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let timer =
            TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_CLOEXEC | TimerFlags::TFD_NONBLOCK)?;
        // Each time it is set it occurs once, whether or not it is read.
        epoll.add(&timer, EpollEvent::new(EpollFlags::EPOLLIN | EpollFlags::EPOLLET, TIMER))?;
        let count = clients.len();
        let scheduled = |coroutine| Scheduled { coroutine, is_at_socket: false, watched: None, result: None };
        Ok(Scheduler {
            clients: clients.into_iter().map(scheduled).collect(),
            epoll,
            timer,
            alarm: None,
            moments: BinaryHeap::with_capacity(count),
            ready: VecDeque::with_capacity(count),
            events: vec![EpollEvent::empty(); count + 1],
            at_sockets: 0,
        })
    }

    /// Runs all clients until each has come to a meeting, or has ended.
    ///
    /// # Errors
    /// The system refuses to watch a socket or to set the timer.
    pub fn run(&mut self) -> io::Result<()> {
        let alive = self.clients.iter().enumerate().filter(|(_, client)| client.result.is_none());
        self.ready.extend(alive.map(|(place, _)| place));
        loop {
            while let Some(place) = self.ready.pop_front() {
                self.resume(place)?;
            }
            if self.at_sockets == 0 && self.moments.is_empty() {
                return Ok(());
            }
            self.wait()?;
        }
    }

    /// The results of those that have ended.
    pub fn results(self) -> Vec<R> {
        self.clients.into_iter().filter_map(|client| client.result).collect()
    }

    /// Runs a client until it waits.
    #[inline]
    fn resume(&mut self, place: usize) -> io::Result<()> {
        match self.clients[place].coroutine.resume(()) {
            CoroutineResult::Yield(Suspension::Socket(socket, events)) => {
                self.watch(place, socket, events)?
            }
            CoroutineResult::Yield(Suspension::Until(moment)) => self.moments.push(Reverse((moment, place))),
            CoroutineResult::Yield(Suspension::Meeting) => {}
            CoroutineResult::Return(result) => self.clients[place].result = Some(result),
        }
        Ok(())
    }

    /// Has a client wait for its socket. A socket stays watched, so that this calls the system once a client and not once
    /// an operation.
    #[inline]
    fn watch(&mut self, place: usize, socket: RawFd, events: EpollFlags) -> io::Result<()> {
        let client = &mut self.clients[place];
        client.is_at_socket = true;
        self.at_sockets += 1;
        if client.watched == Some((socket, events)) {
            return Ok(());
        }
        let is_known = client.watched.is_some_and(|(known, _)| known == socket);
        client.watched = Some((socket, events));
        // SAFETY: the client keeps it open while it waits.
        let socket = unsafe { BorrowedFd::borrow_raw(socket) };
        let mut event = EpollEvent::new(events, place as u64);
        Ok(if is_known { self.epoll.modify(socket, &mut event) } else { self.epoll.add(socket, event) }?)
    }

    /// Waits until a client can run.
    fn wait(&mut self) -> io::Result<()> {
        let timeout = self.set_alarm()?;
        let count = match self.epoll.wait(&mut self.events, timeout) {
            Err(Errno::EINTR) => 0,
            count => count?,
        };
        for event in 0..count {
            match self.events[event].data() {
                TIMER => {}
                place => self.awake(place as usize)?,
            }
        }
        if self.moments.is_empty() {
            return Ok(());
        }
        let now = Instant::now();
        while let Some(&Reverse((moment, place))) = self.moments.peek()
            && moment <= now
        {
            self.moments.pop();
            self.ready.push_back(place);
        }
        Ok(())
    }

    /// Lets a client run whose socket is ready.
    #[inline]
    fn awake(&mut self, place: usize) -> io::Result<()> {
        let client = &mut self.clients[place];
        if client.is_at_socket {
            client.is_at_socket = false;
            self.at_sockets -= 1;
            self.ready.push_back(place);
        } else if let Some((socket, _)) = client.watched.take() {
            // The server says something that the client does not wait for, and would say it again at once.
            // SAFETY: a socket of which there are events is open.
            self.epoll.delete(unsafe { BorrowedFd::borrow_raw(socket) })?;
        }
        Ok(())
    }

    /// Sets the timer to the next moment that a client waits for. Returns how long to wait for sockets: not at all where that
    /// moment is so near that the kernel could be late in waking the thread.
    #[inline]
    fn set_alarm(&mut self) -> io::Result<EpollTimeout> {
        let Some(&Reverse((moment, _))) = self.moments.peek() else { return Ok(EpollTimeout::NONE) };
        let left =
            moment.saturating_duration_since(Instant::now()).saturating_sub(Duration::from_nanos(EARLY));
        if left.is_zero() {
            return Ok(EpollTimeout::ZERO);
        }
        if self.alarm != Some(moment) {
            self.timer.set(Expiration::OneShot(TimeSpec::from_duration(left)), TimerSetTimeFlags::empty())?;
            self.alarm = Some(moment);
        }
        Ok(EpollTimeout::NONE)
    }
}
