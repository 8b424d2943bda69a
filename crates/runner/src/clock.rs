//! The two readings of the clock, with the counters just outside them.

use std::time::Instant;

use dyno_gauge::{Cost, Gauge};
use dyno_protocol::{Job, Sample, ServerCost};

/// Times sections of one trial.
pub struct Clock {
    gauge: Gauge,
}

impl Clock {
    /// Opens the counters of this process and of the job's server.
    pub fn new(job: &Job) -> Clock {
        Clock { gauge: Gauge::open(job.server.as_ref().and_then(|server| server.process)) }
    }

    /// Does the work and returns what it came to and what it cost: every field of the sample that a
    /// clock or the kernel tells.
    #[inline]
    pub fn time<T>(&self, work: impl FnOnce() -> T) -> (T, Sample) {
        let before = self.gauge.before();

        let clock = Instant::now();
        let result = work();
        let elapsed = clock.elapsed();

        let (spent, by_server) = self.gauge.after(&before);
        let sample = Sample {
            nanoseconds: u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX),
            user_ns: spent.user_ns,
            system_ns: spent.system_ns,
            wait_ns: spent.wait_ns,
            device_read_bytes: spent.device_read_bytes,
            device_written_bytes: spent.device_written_bytes,
            peak_memory_bytes: spent.peak_memory_bytes,
            server: by_server.map(of_server),
            ..Sample::default()
        };
        (result, sample)
    }
}

fn of_server(cost: Cost) -> ServerCost {
    ServerCost {
        user_ns: cost.user_ns,
        system_ns: cost.system_ns,
        wait_ns: cost.wait_ns,
        device_read_bytes: cost.device_read_bytes,
        device_written_bytes: cost.device_written_bytes,
        peak_memory_bytes: cost.peak_memory_bytes,
    }
}
