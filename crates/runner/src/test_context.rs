//! The state with which the tests of a trial are done.

use dyno_protocol::Job;

use crate::clock::Clock;
use crate::orders::OrderSource;
use crate::{Answer, Engine};

/// The session, engine, clock and memory with which tests are done.
pub struct TestContext<'a, E: Engine> {
    /// The one client. It goes before the engine does.
    pub session: E::Session,
    pub engine: E,
    /// The job of the trial.
    pub job: &'a Job,
    pub clock: Clock<'a>,
    /// The lines that dyno sends after the job.
    pub orders: &'a OrderSource<'a>,
    pub answer: Answer,
    /// Kept from test to test, see [`crate::Statements::load`].
    pub ends: Vec<usize>,
    /// True if every operation is timed separately.
    pub latency: bool,
}
