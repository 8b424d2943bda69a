//! The two readings of the clock, with the counters just outside them.

use std::time::Instant;

use dyno_gauge::Gauge;
use dyno_protocol::{Sample, Section};

/// Times sections of one trial.
pub struct Clock {
    gauge: Gauge,
}

impl Clock {
    /// Opens the counters of this process, and of the server of a main process.
    pub fn new(server: Option<u32>) -> Clock {
        Clock { gauge: Gauge::open(server) }
    }

    /// Does the work and returns what it came to and what it cost: the sample's section.
    #[inline]
    pub fn time<T>(&self, work: impl FnOnce() -> T) -> (T, Sample) {
        let before = self.gauge.before();

        let clock = Instant::now();
        let result = work();
        let elapsed = clock.elapsed();

        let (client, server) = self.gauge.after(&before);
        let nanoseconds = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        let section = Section { nanoseconds, client, server };
        (result, Sample { section, ..Sample::default() })
    }
}
