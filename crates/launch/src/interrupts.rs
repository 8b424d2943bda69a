//! Ctrl-C and termination: the run stops soon, keeps what is finished and cleans up.

use std::fmt;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Signals within this time are of one event, but for a Ctrl-C that is typed twice.
const ONE_EVENT: Duration = Duration::from_millis(500);

/// Wakes a thread that waits for something other than a signal. It must not block.
type Wake = Box<dyn Fn() + Send>;

/// Records whether a signal asked the run to stop.
#[derive(Clone, Default)]
pub struct Interrupts {
    /// The signal that came first; 0 while there was none.
    signal: Arc<AtomicI32>,
    /// The threads that wait and must wake at once.
    waiters: Arc<Mutex<Vec<Waiter>>>,
}

/// A thread that waits for something other than a signal.
struct Waiter {
    is_there: Weak<()>,
    wake: Wake,
}

/// Has a thread woken by a signal until it is dropped.
#[derive(Debug)]
#[must_use]
pub struct WakeGuard {
    _is_there: Arc<()>,
}

impl Interrupts {
    /// Catches SIGINT, SIGTERM and SIGHUP from now on. A second signal ends the process at once, unless it belongs to the
    /// first. A signal that was ignored
    /// when dyno started stays ignored, as `nohup` and shells ask for work in the background.
    ///
    /// All calls in a process return the same: a signal between two runs of one command ends the second.
    ///
    /// # Errors
    /// The signals cannot be caught.
    pub fn listen() -> Result<Interrupts> {
        static HEARD: Mutex<Option<Interrupts>> = Mutex::new(None);
        let mut heard = HEARD.lock().unwrap_or_else(PoisonError::into_inner);
        if heard.is_none() {
            *heard = Some(Interrupts::catch()?);
        }
        Ok(heard.clone().unwrap_or_default())
    }

    fn catch() -> Result<Interrupts> {
        let interrupts = Interrupts::default();
        let caught = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|&signal| !is_ignored(signal));
        let mut signals = Signals::new(caught).context("cannot listen for signals")?;
        let heard = interrupts.clone();
        thread::spawn(move || {
            let mut first: Option<(Instant, i32)> = None;
            for signal in signals.forever() {
                match first {
                    // A terminal that closes, or a program that ends its group, sends several signals at once.
                    Some((at, one)) if at.elapsed() < ONE_EVENT && (one, signal) != (SIGINT, SIGINT) => {
                        continue;
                    }
                    // Runners die with this process; the scratch folder is swept by the next run.
                    Some(_) => std::process::exit(128 + signal),
                    None => first = Some((Instant::now(), signal)),
                }
                heard.signal.store(signal, Ordering::SeqCst);
                heard.waiters().iter().for_each(|waiter| (waiter.wake)());
            }
        });
        Ok(interrupts)
    }

    /// The signal that asked to stop, if one did.
    pub fn signal(&self) -> Option<i32> {
        Some(self.signal.load(Ordering::SeqCst)).filter(|&signal| signal != 0)
    }

    /// For work that an interrupt ends like a failure.
    ///
    /// # Errors
    /// A signal asked the run to stop.
    pub fn check(&self) -> Result<()> {
        if self.signal().is_some() {
            bail!("interrupted");
        }
        Ok(())
    }

    /// Has `wake` called when a signal comes, until the guard is dropped. One that came before does not call it: look for it
    /// afterwards.
    pub fn notify(&self, wake: impl Fn() + Send + 'static) -> WakeGuard {
        let is_there = Arc::new(());
        self.waiters().push(Waiter { is_there: Arc::downgrade(&is_there), wake: Box::new(wake) });
        WakeGuard { _is_there: is_there }
    }

    /// Those that still wait.
    fn waiters(&self) -> MutexGuard<'_, Vec<Waiter>> {
        let mut waiters = self.waiters.lock().unwrap_or_else(PoisonError::into_inner);
        waiters.retain(|waiter| waiter.is_there.strong_count() > 0);
        waiters
    }
}

/// Returns whether a signal is ignored now; where the kernel does not say, it is not.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

impl fmt::Debug for Interrupts {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        to.debug_struct("Interrupts").field("signal", &self.signal()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use signal_hook::low_level::raise;

    use super::*;

    #[test]
    fn all_that_wait_are_woken_and_no_other() {
        let interrupts = Interrupts::default();
        let (sender, woken) = channel();
        let notified = |name: &'static str| {
            let sender = sender.clone();
            interrupts.notify(move || {
                let _ = sender.send(name);
            })
        };
        let (_first, gone, _second) = (notified("first"), notified("gone"), notified("second"));
        drop(gone);
        interrupts.waiters().iter().for_each(|waiter| (waiter.wake)());
        assert_eq!(woken.try_iter().collect::<Vec<_>>(), ["first", "second"]);
    }

    #[test]
    fn a_signal_between_two_runs_of_a_process_ends_the_second() {
        let first = Interrupts::listen().unwrap();
        let (sender, woken) = channel();
        let _waiter = first.notify(move || {
            let _ = sender.send(());
        });
        raise(SIGTERM).unwrap();
        woken.recv_timeout(Duration::from_secs(60)).unwrap();
        let second = Interrupts::listen().unwrap();
        assert_eq!(second.signal(), Some(SIGTERM));
        second.check().unwrap_err();
    }
}
