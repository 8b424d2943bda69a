//! An engine made of nothing, whose clients say what they do. What a statement's first word is, it does.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Error, anyhow};
use dyno_protocol::{Hello, Job, MixWork, Purpose, Sink};

use crate::mix::{Connector, Prepared, Statement, Values, statements};
use crate::{Engine, NoStore, Rows, Session};

/// The actions of all clients, in order.
#[derive(Default)]
pub struct Log {
    pub lines: Mutex<Vec<String>>,
    tries: AtomicU64,
}

/// The engine.
#[derive(Default)]
pub struct Toy(pub Arc<Log>);

/// A client of it.
pub struct Client(Arc<Log>);

/// Its statements.
pub struct ReportingExecutor<'s> {
    log: &'s Log,
    statements: Vec<Statement>,
}

impl Engine for Toy {
    type Session = Client;

    fn open(_: &Job) -> anyhow::Result<(Self, Hello)> {
        Err(anyhow!("it is open"))
    }

    fn session(&mut self) -> anyhow::Result<Client> {
        Ok(Client(self.0.clone()))
    }

    fn connector(&self) -> anyhow::Result<Box<Connector<'static, Client>>> {
        let log = self.0.clone();
        Ok(Box::new(move || {
            log.lines.lock().unwrap().push("connect".into());
            Ok(Client(log.clone()))
        }))
    }

    fn close(self) -> anyhow::Result<()> {
        Ok(())
    }
}

impl Rows for Client {}

impl Session for Client {
    type Store<'s> = NoStore;
    type Prepared<'s> = ReportingExecutor<'s>;

    fn prepare(&mut self, mix: &MixWork) -> anyhow::Result<ReportingExecutor<'_>> {
        Ok(ReportingExecutor { log: &self.0, statements: statements(mix, |place| format!("${place}")) })
    }

    fn step_aside(&mut self, meanwhile: &mut dyn FnMut()) -> anyhow::Result<()> {
        self.0.lines.lock().unwrap().push("aside".into());
        meanwhile();
        Ok(())
    }

    fn close(self) -> anyhow::Result<()> {
        self.0.lines.lock().unwrap().push("leave".into());
        Ok(())
    }
}

impl ReportingExecutor<'_> {
    fn report(&self, what: &str) {
        self.log.lines.lock().unwrap().push(what.to_owned());
    }
}

impl Prepared for ReportingExecutor<'_> {
    fn run<S: Sink>(&mut self, statement: usize, values: &Values, sink: &mut S) -> anyhow::Result<()> {
        let Statement { sql, parameters, .. } = &self.statements[statement];
        match sql.split('$').next().unwrap_or_default() {
            "panic" => panic!("the toy broke"),
            "fail" => return Err(anyhow!("no such toy")),
            "sleep" => std::thread::sleep(Duration::from_millis(5)),
            // A piece of work of a millisecond of a processor.
            "spin" => {
                let cpu = || nix::time::clock_gettime(nix::time::ClockId::CLOCK_THREAD_CPUTIME_ID).unwrap();
                let until = cpu() + nix::sys::time::TimeSpec::new(0, 1_000_000);
                while cpu() < until {}
                return Ok(());
            }
            "hang" => std::thread::sleep(Duration::from_millis(600)),
            "busy" => return Err(anyhow!("busy")),
            // Two rows of a number and words.
            "rows" => {
                for number in 0..2 {
                    sink.integer(number);
                    sink.text(b"some words");
                    sink.end_row();
                }
            }
            // Two of three tries fail as busy.
            "crowded" if self.log.tries.fetch_add(1, Ordering::Relaxed) % 3 != 2 => {
                return Err(anyhow!("busy"));
            }
            _ => {}
        }
        let values: Vec<String> =
            parameters.iter().map(|source| format!("{:?}", values.get(*source))).collect();
        self.report(&format!("{sql} {}", values.join(" ")));
        Ok(())
    }

    fn begin(&mut self, purpose: Purpose) -> anyhow::Result<()> {
        self.report(&format!("begin {purpose:?}"));
        Ok(())
    }

    fn commit(&mut self) -> anyhow::Result<()> {
        self.report("commit");
        Ok(())
    }

    fn rollback(&mut self) -> anyhow::Result<()> {
        self.report("rollback");
        Ok(())
    }

    fn is_retryable(&self, error: &Error) -> bool {
        error.to_string() == "busy"
    }
}
