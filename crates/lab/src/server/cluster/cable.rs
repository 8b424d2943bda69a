//! A cable that delays: a thread of dyno passes on what each of its two ends receives, once it is due.

use std::collections::VecDeque;
use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::prctl;

use super::tap::Tap;

/// The longest frame: a segment that the receiver's kernel cuts, with all headers.
const LONGEST_FRAME: usize = 80 << 10;
/// The number of bytes under way in one direction above which frames wait in the device, which drops what it has no
/// room for.
const CAPACITY: usize = 16 << 20;

/// A cable. Dropped, its ends and its thread are gone.
#[derive(Debug)]
pub struct DelayingCable {
    shared: Arc<Shared>,
    passing: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    node: Tap,
    switch: Tap,
    /// The time that each direction adds.
    delay: Duration,
    is_pulled: AtomicBool,
    /// Readable when the cable is to end.
    end: EventFd,
}

impl DelayingCable {
    /// A cable between two devices, which adds `delay` in each direction.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn new(node: Tap, switch: Tap, delay: Duration) -> Result<DelayingCable> {
        let end = EventFd::from_flags(EfdFlags::EFD_CLOEXEC)?;
        let shared = Arc::new(Shared { node, switch, delay, is_pulled: AtomicBool::new(false), end });
        let passing = thread::Builder::new().name("cable".to_owned()).spawn({
            let shared = Arc::clone(&shared);
            move || shared.pass()
        });
        Ok(DelayingCable { shared, passing: Some(passing.context("cannot start the thread of a cable")?) })
    }

    /// Pulls it, or plugs it in again. The node's kernel sees that, and what is under way is lost.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn set_pulled(&self, is_pulled: bool) -> Result<()> {
        self.shared.is_pulled.store(is_pulled, Ordering::Release);
        self.shared.node.set_carrier(!is_pulled).context("cannot pull a cable")
    }
}

impl Drop for DelayingCable {
    fn drop(&mut self) {
        let _ = self.shared.end.write(1);
        if let Some(passing) = self.passing.take() {
            let _ = passing.join();
        }
    }
}

impl Shared {
    /// Passes frames on until the cable ends or a device is gone.
    fn pass(&self) {
        // Without it the kernel may wake the thread 50 µs late.
        let _ = prctl::set_timerslack(1);
        let (mut out, mut back) = (Direction::default(), Direction::default());
        let mut buffer = vec![0; LONGEST_FRAME];
        while self.wait(&out, &back).unwrap_or(false) {
            let is_pulled = self.is_pulled.load(Ordering::Acquire);
            for (direction, from, to) in
                [(&mut out, &self.node, &self.switch), (&mut back, &self.switch, &self.node)]
            {
                if direction.take_in(from, self.delay, &mut buffer).is_err() {
                    return;
                }
                if is_pulled {
                    *direction = Direction::default();
                }
                direction.let_out(to);
            }
        }
    }

    /// Waits until there is something to do. Returns false if that is to end.
    fn wait(&self, out: &Direction, back: &Direction) -> nix::Result<bool> {
        let due = [out, back].into_iter().filter_map(Direction::due).min();
        let left = due.map(|due| due.saturating_duration_since(Instant::now()).into());
        let asked = |direction: &Direction| match direction.has_room() {
            true => PollFlags::POLLIN,
            false => PollFlags::empty(),
        };
        let mut ends = [
            PollFd::new(self.node.as_fd(), asked(out)),
            PollFd::new(self.switch.as_fd(), asked(back)),
            PollFd::new(self.end.as_fd(), PollFlags::POLLIN),
        ];
        match ppoll(&mut ends, left, None) {
            // A signal of dyno's was handled by this thread.
            Err(Errno::EINTR) => return Ok(true),
            polled => polled?,
        };
        let gone = PollFlags::POLLERR | PollFlags::POLLHUP;
        let is_gone = ends.iter().any(|end| end.revents().is_some_and(|events| events.intersects(gone)));
        Ok(!is_gone && ends[2].any() != Some(true))
    }
}

/// The frames under way in one direction, each with the moment at which it arrives.
#[derive(Debug, Default)]
struct Direction {
    frames: VecDeque<(Instant, Vec<u8>)>,
    bytes: usize,
}

impl Direction {
    /// The moment at which the next one arrives.
    fn due(&self) -> Option<Instant> {
        self.frames.front().map(|(due, _)| *due)
    }

    fn has_room(&self) -> bool {
        self.bytes < CAPACITY
    }

    /// Takes in all frames that a device has sent.
    fn take_in(&mut self, from: &Tap, delay: Duration, buffer: &mut [u8]) -> io::Result<()> {
        while self.has_room()
            && let Some(length) = from.read(buffer)?
        {
            self.bytes += length;
            self.frames.push_back((Instant::now() + delay, buffer[..length].to_vec()));
        }
        Ok(())
    }

    /// Passes on all frames that are due.
    fn let_out(&mut self, to: &Tap) {
        while let Some((due, _)) = self.frames.front()
            && *due <= Instant::now()
            && let Some((_, frame)) = self.frames.pop_front()
        {
            self.bytes -= frame.len();
            to.write(&frame);
        }
    }
}
