//! Lets one through at a time.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// A thread that wants to pass waits until no other holds a [`OwnedGuard`].
#[derive(Debug, Default)]
pub struct OwnedMutex {
    is_taken: Mutex<bool>,
    freed: Condvar,
}

/// The right to be the only one, until it is dropped, also by another thread.
#[derive(Debug)]
pub struct OwnedGuard(Arc<OwnedMutex>);

impl OwnedMutex {
    /// Waits for it.
    pub fn pass(gate: &Arc<OwnedMutex>) -> OwnedGuard {
        let mut is_taken = gate.is_taken.lock().unwrap_or_else(PoisonError::into_inner);
        while *is_taken {
            is_taken = gate.freed.wait(is_taken).unwrap_or_else(PoisonError::into_inner);
        }
        *is_taken = true;
        OwnedGuard(gate.clone())
    }
}

impl Drop for OwnedGuard {
    fn drop(&mut self) {
        *self.0.is_taken.lock().unwrap_or_else(PoisonError::into_inner) = false;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn there_is_one_pass_at_a_time() {
        let (gate, inside, passed) = (Arc::default(), AtomicU64::new(0), AtomicU64::new(0));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let _pass = OwnedMutex::pass(&gate);
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        thread::yield_now();
                        inside.fetch_sub(1, Ordering::SeqCst);
                        passed.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(passed.into_inner(), 800);
    }
}
