//! How long single operations take, where the job asks for it.

use std::time::Instant;

use dyno_gauge::Histogram;

/// Watches operations within a timed section.
pub trait Watch {
    /// Does one operation.
    fn operation<T>(&mut self, work: impl FnOnce() -> T) -> T;
}

/// Watches nothing and costs nothing.
#[derive(Debug)]
pub struct Unwatched;

impl Watch for Unwatched {
    #[inline(always)]
    fn operation<T>(&mut self, work: impl FnOnce() -> T) -> T {
        work()
    }
}

/// Reads the clock before and after each operation. Memory is reserved before the clock starts.
#[derive(Debug, Default)]
pub struct Latency(Histogram);

impl Latency {
    /// Durations in nanoseconds, ascending, each with how many operations took so long.
    pub fn counts(&self) -> Vec<(u64, u64)> {
        self.0.counts().collect()
    }
}

impl Watch for Latency {
    #[inline]
    fn operation<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let clock = Instant::now();
        let result = work();
        self.0.record(clock.elapsed().as_nanos() as u64);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_is_counted_once() {
        let mut latency = Latency::default();
        for _ in 0..100 {
            assert_eq!(latency.operation(|| 7), 7);
        }
        let counts = latency.counts();
        assert_eq!(counts.iter().map(|(_, count)| count).sum::<u64>(), 100);
        assert!(counts.is_sorted_by(|a, b| a.0 < b.0));
    }
}
