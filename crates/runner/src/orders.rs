//! The lines on standard input after the job: turns, and the orders to clients that are some of several processes.

use std::cell::RefCell;
use std::io::{self, BufRead};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use dyno_protocol::{ClientOrder, ClientsReady, Event, SliceGrant, Waiting};
use serde::de::DeserializeOwned;

use crate::system_clock::monotonic;

/// The source of turns and orders.
pub struct OrderSource<'a> {
    input: RefCell<&'a mut dyn BufRead>,
    send: &'a dyn Fn(&Event) -> io::Result<()>,
}

impl<'a> OrderSource<'a> {
    /// Orders come from `input`, and events are sent by `send`.
    pub fn new(input: &'a mut dyn BufRead, send: &'a dyn Fn(&Event) -> io::Result<()>) -> OrderSource<'a> {
        OrderSource { input: RefCell::new(input), send }
    }

    /// Reports how far the test is, and waits for a turn.
    ///
    /// # Errors
    /// The input has ended, or says something else.
    pub fn turn(&self, waiting: Waiting) -> Result<SliceGrant> {
        let turn: SliceGrant = self.ask(&Event::Waiting(waiting), "turn")?;
        ensure!(turn.operations > 0, "a turn of no operations was given");
        Ok(turn)
    }

    /// Reports that the clients of this process are ready, and waits for the order to begin. dyno compares the clocks
    /// meanwhile. Returns the moment at which they begin; it has passed where the order came late.
    ///
    /// # Errors
    /// The input has ended, or says something else.
    pub fn begin(&self) -> Result<Instant> {
        loop {
            match self.ask(&Event::Ready(ClientsReady { clock_ns: monotonic() }), "order")? {
                ClientOrder::Clock => {}
                ClientOrder::Begin { at_ns } => return Ok(instant_of(at_ns)),
                ClientOrder::GoOn => bail!("the order to go on came before the clients began"),
            }
        }
    }

    /// Reports that the clients of this process are done, and waits until those of all processes are.
    ///
    /// # Errors
    /// The input has ended, or says something else.
    pub fn end(&self) -> Result<()> {
        let order: ClientOrder = self.ask(&Event::Done {}, "order")?;
        ensure!(order == ClientOrder::GoOn, "another order came where the clients are done");
        Ok(())
    }

    fn ask<T: DeserializeOwned>(&self, event: &Event, what: &str) -> Result<T> {
        (self.send)(event).context("cannot write to standard output")?;
        let mut line = String::new();
        let read = self.input.borrow_mut().read_line(&mut line);
        read.with_context(|| format!("cannot read the next {what} from standard input"))?;
        ensure!(!line.is_empty(), "standard input ended where the next {what} was expected");
        serde_json::from_str(&line)
            .with_context(|| format!("the line '{}' is no {what}", line.trim_end().escape_debug()))
    }
}

/// A reading of the system's monotonic clock as an instant. One that has passed stays in the past: the clients of all
/// processes have one schedule, and what was due before the order came has waited since.
fn instant_of(at_ns: u64) -> Instant {
    let (now, now_ns) = (Instant::now(), monotonic());
    let left = Duration::from_nanos(at_ns.saturating_sub(now_ns));
    let passed = Duration::from_nanos(now_ns.saturating_sub(at_ns));
    now.checked_sub(passed).unwrap_or(now) + left
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    /// The moment at which clients begin that are ordered to begin at a reading of the clock.
    fn begun(at_ns: u64) -> Instant {
        let mut input = Cursor::new(format!("{{\"order\":\"begin\",\"at_ns\":{at_ns}}}\n"));
        OrderSource::new(&mut input, &|_| Ok(())).begin().unwrap()
    }

    #[test]
    fn clients_whose_order_comes_late_keep_the_schedule_of_the_others() {
        let second = Duration::from_secs(1);
        let (before, before_ns) = (Instant::now(), monotonic());
        let (late, early) = (begun(before_ns - 1_000_000_000), begun(before_ns + 3_600_000_000_000));
        let took = before.elapsed();
        assert!(late <= before - second + took && late >= before - second - took, "{took:?}");
        assert!(early >= before + 3_599 * second, "{took:?}");
    }
}
