//! How long single operations take.

/// The longest duration that is told apart from longer ones: one hour, in nanoseconds.
const LONGEST: u64 = 3_600_000_000_000;

/// A histogram of durations with three significant digits, whose memory is reserved when it is made.
#[derive(Debug)]
pub struct Histogram(hdrhistogram::Histogram<u64>);

impl Default for Histogram {
    fn default() -> Histogram {
        let histogram = hdrhistogram::Histogram::new_with_bounds(1, LONGEST, 3);
        Histogram(histogram.expect("the bounds are constants that are fine"))
    }
}

impl Histogram {
    /// Counts a duration.
    #[inline]
    pub fn record(&mut self, nanoseconds: u64) {
        self.0.saturating_record(nanoseconds);
    }

    /// Durations, ascending, each with how many were as long.
    pub fn counts(&self) -> impl Iterator<Item = (u64, u64)> {
        self.0.iter_recorded().map(|value| (value.value_iterated_to(), value.count_at_value()))
    }
}
