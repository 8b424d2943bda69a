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
    /// meanwhile. Returns the moment at which they begin.
    ///
    /// # Errors
    /// The input has ended, or says something else.
    pub fn begin(&self) -> Result<Instant> {
        loop {
            match self.ask(&Event::Ready(ClientsReady { clock_ns: monotonic() }), "order")? {
                ClientOrder::Clock => {}
                ClientOrder::Begin { at_ns } => {
                    let left = at_ns.saturating_sub(monotonic());
                    return Ok(Instant::now() + Duration::from_nanos(left));
                }
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
