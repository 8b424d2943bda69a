//! The two readings of the clock, with the counters just outside them.

use std::time::Instant;

use dyno_gauge::Gauge;
use dyno_protocol::{Cost, Sample, Section};

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

        let (spent, by_server) = self.gauge.after(&before);
        let section = Section {
            nanoseconds: u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX),
            client: told(spent),
            server: by_server.map(told),
        };
        (result, Sample { section, ..Sample::default() })
    }
}

fn told(cost: dyno_gauge::Cost) -> Cost {
    Cost {
        user_ns: cost.user_ns,
        system_ns: cost.system_ns,
        wait_ns: cost.wait_ns,
        device_read_bytes: cost.device_read_bytes,
        device_written_bytes: cost.device_written_bytes,
        peak_memory_bytes: cost.peak_memory_bytes,
    }
}
