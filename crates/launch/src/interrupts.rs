//! Ctrl-C and termination: the run stops soon, keeps what is finished and cleans up.

use std::fmt;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result, bail};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Wakes a thread that waits for something other than a signal. It must not block.
type Wake = Box<dyn Fn() + Send>;

/// Records whether a signal asked the run to stop.
#[derive(Clone, Default)]
pub struct Interrupts {
    /// The signal that came first; 0 while there was none.
    signal: Arc<AtomicI32>,
    /// The callback of the thread that waits for a runner and must wake at once.
    waiter: Arc<Mutex<Option<Wake>>>,
}

impl Interrupts {
    /// Catches SIGINT, SIGTERM and SIGHUP from now on. A second signal ends the process at once. A signal that was ignored
    /// when dyno started stays ignored, as `nohup` and shells ask for work in the background.
    pub fn listen() -> Result<Interrupts> {
        let interrupts = Interrupts::default();
        let caught = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|&signal| !is_ignored(signal));
        let mut signals = Signals::new(caught).context("cannot listen for signals")?;
        let heard = interrupts.clone();
        thread::spawn(move || {
            for signal in signals.forever() {
                if heard.signal.swap(signal, Ordering::SeqCst) != 0 {
                    // Runners die with this process; the scratch folder is swept by the next run.
                    std::process::exit(128 + signal);
                }
                let waiter = heard.waiter.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(wake) = waiter.as_ref() {
                    wake();
                }
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

    /// Has `wake` called when a signal comes. One that came before does not call it: look for it afterwards.
    pub fn notify(&self, wake: impl Fn() + Send + 'static) {
        *self.waiter.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(wake));
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
