//! Ctrl-C and termination: the run stops soon, keeps what is finished and cleans up.

use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::process::Message;

/// Knows whether somebody asked the run to stop.
#[derive(Debug, Clone, Default)]
pub struct Interrupts {
    /// The signal that came first; 0 while there was none.
    signal: Arc<AtomicI32>,
    /// Who waits for a runner and wants to hear at once.
    waiter: Arc<Mutex<Option<Sender<Message>>>>,
}

impl Interrupts {
    /// Catches SIGINT, SIGTERM and SIGHUP from now on. A second signal ends the process at once.
    pub fn listen() -> Result<Interrupts> {
        let interrupts = Interrupts::default();
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).context("cannot listen for signals")?;
        let heard = interrupts.clone();
        thread::spawn(move || {
            for signal in signals.forever() {
                if heard.signal.swap(signal, Ordering::SeqCst) != 0 {
                    // Runners die with this process; the scratch folder is swept by the next run.
                    std::process::exit(128 + signal);
                }
                let waiter = heard.waiter.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(waiter) = waiter.as_ref() {
                    let _ = waiter.send(Message::Interrupted);
                }
            }
        });
        Ok(interrupts)
    }

    /// The signal that asked to stop, if one did.
    pub fn signal(&self) -> Option<i32> {
        Some(self.signal.load(Ordering::SeqCst)).filter(|&signal| signal != 0)
    }

    /// Sends [`Message::Interrupted`] to `waiter` when a signal comes, or now if one has come.
    pub(super) fn tell(&self, waiter: Sender<Message>) {
        if self.signal().is_some() {
            let _ = waiter.send(Message::Interrupted);
        }
        *self.waiter.lock().unwrap_or_else(PoisonError::into_inner) = Some(waiter);
    }
}
