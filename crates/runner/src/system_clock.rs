//! The system's clock: moments that other processes read too, and durations as samples report them.

use std::time::{Duration, Instant};

use nix::time::{ClockId, clock_gettime};

/// Makes what began then take longer, by a share of what it took.
#[inline]
pub fn spin(began: Instant, slowdown: f64) {
    if slowdown > 0.0 {
        let until = began + began.elapsed().mul_f64(1.0 + slowdown);
        while Instant::now() < until {}
    }
}

/// The reading of the system's monotonic clock, in nanoseconds; other processes read the same clock.
pub fn monotonic() -> u64 {
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(0, |now| nanoseconds(now.into()))
}

/// A duration as samples report it.
pub fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
