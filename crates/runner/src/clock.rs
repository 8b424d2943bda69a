//! The two readings of the clock, with the counters just outside them.

use std::time::Instant;

use dyno_protocol::{Job, Sample};

use crate::counters::Counters;
use crate::server_cost::Server;

/// Times sections of one trial.
pub struct Clock {
    counters: Counters,
    server: Option<Server>,
}

impl Clock {
    /// Opens the counters of this process and of the job's server.
    pub fn new(job: &Job) -> Clock {
        let server = job.server.as_ref().and_then(|server| server.process).map(Server::new);
        Clock { counters: Counters::open(), server }
    }

    /// Does the work and returns what it came to and what it cost: every field of the sample that a
    /// clock or the kernel tells.
    #[inline]
    pub fn time<T>(&self, work: impl FnOnce() -> T) -> (T, Sample) {
        let server_before = self.server.as_ref().and_then(Server::before);
        let before = self.counters.before();

        let clock = Instant::now();
        let result = work();
        let elapsed = clock.elapsed();

        let after = self.counters.after();
        let peak_memory_bytes = self.counters.peak_bytes();
        let server =
            self.server.as_ref().zip(server_before).and_then(|(server, before)| server.since(&before));
        let sample = Sample {
            nanoseconds: u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX),
            user_ns: after.user_ns.saturating_sub(before.user_ns),
            system_ns: after.system_ns.saturating_sub(before.system_ns),
            wait_ns: after.wait_ns.saturating_sub(before.wait_ns),
            device_read_bytes: after.read_bytes.saturating_sub(before.read_bytes),
            device_written_bytes: after.written_bytes.saturating_sub(before.written_bytes),
            peak_memory_bytes,
            server,
            ..Sample::default()
        };
        (result, sample)
    }
}
