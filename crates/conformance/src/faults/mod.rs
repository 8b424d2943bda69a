//! Failures on the way to a server, as a driver's user meets them: the connection is cut in the middle of a
//! commit, the server restarts, falls silent, or ends a statement that takes too long.
//!
//! A runner commits rows one after another, each as a separate test, on a private server; in one of the commits
//! something fails. Then the table is read: what was acknowledged must be there, and nothing twice. Nothing here is
//! timed.

mod injector;
mod table;
mod writes;

use anyhow::{Result, bail, ensure};
use dyno_engine::{Contender, Protocol};
use dyno_lab::scratch::Scratch;
use dyno_lab::trial::TrialOptions;

use super::duty::Needs;

pub use table::FaultTable;
pub use writes::{DriverOutcome, FaultFinding};

/// Something that fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DriverFault {
    /// The server stops and starts again while the client has no transaction; the client's next request finds the old
    /// connection closed.
    Restart,
    /// The connection is cut, and the client's COMMIT has not reached the server.
    CutBefore,
    /// The connection is cut after the COMMIT has reached the server and before its answer has reached the client.
    CutAfter,
    /// The connection stays open, the COMMIT reaches the server, and no answer comes any more.
    Silence,
    /// A statement takes longer than the server's limit for statements.
    Timeout,
}

impl DriverFault {
    /// All of them, in the order in which they are tried.
    pub const ALL: [DriverFault; 5] = [
        DriverFault::Restart,
        DriverFault::CutBefore,
        DriverFault::CutAfter,
        DriverFault::Silence,
        DriverFault::Timeout,
    ];

    /// Its name in a table.
    pub fn name(self) -> &'static str {
        match self {
            DriverFault::Restart => "restart",
            DriverFault::CutBefore => "cut before commit",
            DriverFault::CutAfter => "cut after commit",
            DriverFault::Silence => "silence",
            DriverFault::Timeout => "timeout",
        }
    }
}

/// Tries every fault with each contender's driver. One that cannot be tried to its end does not stop the others; after a
/// signal no further fault is tried.
pub fn try_faults(contenders: &[Contender], scratch: &Scratch, conduct: &TrialOptions) -> FaultTable {
    let line = |contender: &Contender| {
        let findings = DriverFault::ALL.map(|fault| {
            let tried = conduct.interrupts.check();
            let tried = tried.and_then(|()| writes::try_fault(contender, fault, scratch, conduct));
            tried.unwrap_or_else(|error| {
                FaultFinding::without_writes(fault, DriverOutcome::Untried(format!("{error:#}")))
            })
        });
        (contender.label.clone(), findings.to_vec())
    };
    FaultTable { lines: contenders.iter().map(line).collect() }
}

/// Checks that faults can be tried with these contenders.
///
/// # Errors
/// One has no private server, or its driver executes no statements.
pub fn check(contenders: &[Contender]) -> Result<()> {
    contenders.iter().try_for_each(check_one)
}

fn check_one(contender: &Contender) -> Result<()> {
    let label = &contender.label;
    ensure!(
        contender.engine.is_server(),
        "--faults cuts the connection to a server of PostgreSQL's or MySQL's protocol, and {label} has none: name a driver of \
         PostgreSQL or MariaDB"
    );
    ensure!(
        contender.url.is_none(),
        "--faults starts a server and restarts it, and {label} is a server that is running already: leave the URL out"
    );
    if let Some(below) = &contender.driver.texts_by {
        bail!(
            "--faults has a driver execute texts, and those of {label} go to {below} past it: name {}/{below}",
            contender.engine.name
        );
    }
    match Needs::Models(&["statements"]).lacking(contender).or_else(|| contender.missing()) {
        Some(why) => bail!("{label}: {why}"),
        None => Ok(()),
    }
}

/// The statements that a server ends because they take too long, in its dialect; `None` where such a limit cannot be
/// set for a session, or ends no statement with an error.
fn slow_statements(contender: &Contender) -> Option<[&'static str; 2]> {
    match (contender.engine.speaks?, contender.engine.name.as_str()) {
        (Protocol::Postgres, _) => Some(["SET statement_timeout = 300", "SELECT pg_sleep(5)"]),
        (Protocol::MySql, "mariadb") => Some(["SET max_statement_time = 0.3", "SELECT SLEEP(5)"]),
        (Protocol::MySql, _) => None,
    }
}
