//! Writes sorted data in parts, on several threads.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::Result;

/// Things that come in any order and go on in theirs.
pub struct Reorder<T> {
    turn: u64,
    waiting: BTreeMap<u64, T>,
}

impl<T> Default for Reorder<T> {
    fn default() -> Reorder<T> {
        Reorder { turn: 0, waiting: BTreeMap::new() }
    }
}

impl<T> Reorder<T> {
    /// Takes what has such a turn, of which all have one from 0 on.
    pub fn add(&mut self, turn: u64, thing: T) {
        self.waiting.insert(turn, thing);
    }

    /// The result whose turn it is, if it has come.
    pub fn next(&mut self) -> Option<T> {
        let next = self.waiting.remove(&self.turn)?;
        self.turn += 1;
        Some(next)
    }
}

/// Does the work on each part, on `threads` threads at most, and joins the results in the order of the parts. The work
/// receives the part's index.
///
/// # Errors
/// An error that ended a thread's work, or results that cannot be joined: all other threads end after their current
/// part.
pub fn in_parts<P, T>(
    parts: P,
    threads: usize,
    work: impl Fn(u64, P::Item) -> Result<T> + Sync,
    join: impl FnMut(T) -> Result<()> + Send,
) -> Result<()>
where
    P: ExactSizeIterator + Send,
    T: Send,
{
    let helpers = threads.min(parts.len()).saturating_sub(1);
    let parts = Mutex::new((0..).zip(parts));
    let joined = Mutex::new((Reorder::default(), join));
    let has_failed = AtomicBool::new(false);
    let thread = || -> Result<()> {
        while !has_failed.load(Ordering::Relaxed) {
            let next = parts.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((place, part)) = next else { return Ok(()) };
            let outcome = work(place, part).and_then(|done| {
                let (waiting, join) = &mut *joined.lock().unwrap_or_else(PoisonError::into_inner);
                waiting.add(place, done);
                while let Some(next) = waiting.next() {
                    join(next)?;
                }
                Ok(())
            });
            if outcome.is_err() {
                has_failed.store(true, Ordering::Relaxed);
                return outcome;
            }
        }
        Ok(())
    };
    thread::scope(|scope| {
        // If no thread can be started, this one does the work.
        let start =
            |number| thread::Builder::new().name(format!("writer {number}")).spawn_scoped(scope, thread);
        let helpers: Vec<_> = (0..helpers).filter_map(|number| start(number).ok()).collect();
        let own = thread();
        let crash = |_| Err(anyhow::anyhow!("a writer crashed, which is a fault of dyno"));
        helpers.into_iter().fold(own, |outcome, helper| {
            let other = helper.join().unwrap_or_else(crash);
            outcome.and(other)
        })
    })
}
