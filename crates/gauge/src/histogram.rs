//! Durations of single operations.

use dyno_protocol::{Response, empty_histogram};

/// A histogram of durations with three significant digits, whose memory is reserved when it is made.
#[derive(Debug)]
pub struct Histogram(hdrhistogram::Histogram<u64>);

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram::with_digits(3)
    }
}

impl Histogram {
    /// A histogram with this number of significant digits, 1 to 5.
    ///
    /// # Panics
    /// `digits` is not in this range.
    pub fn with_digits(digits: u8) -> Histogram {
        Histogram(empty_histogram(digits))
    }

    /// Counts all that another one has counted.
    pub fn add(&mut self, other: &Histogram) {
        // All have the same bounds, and what one has counted the other can.
        let _ = self.0.add(&other.0);
    }

    /// Forgets what was counted.
    pub fn clear(&mut self) {
        self.0.reset();
    }

    /// Counts a duration.
    #[inline]
    pub fn record(&mut self, nanoseconds: u64) {
        self.0.saturating_record(nanoseconds);
    }

    /// Counts a duration many times.
    pub fn record_many(&mut self, nanoseconds: u64, count: u64) {
        self.0.saturating_record_n(nanoseconds, count);
    }

    /// Calls for each duration that was counted, as exactly as it is known, with how many times it was.
    pub fn each(&self, mut call: impl FnMut(u64, u64)) {
        self.0.iter_recorded().for_each(|step| call(step.value_iterated_to(), step.count_at_value()));
    }

    /// The number of durations.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// All that was counted, as text.
    pub fn response(&self) -> Response {
        Response::of(&self.0)
    }
}
