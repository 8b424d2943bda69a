//! Response times of single operations, if the job asks for them.

use std::time::Instant;

use dyno_gauge::Histogram;
use dyno_protocol::Class;

/// Watches operations within a timed section.
pub trait OperationTimer {
    /// The moment at which an operation began.
    type Mark;

    /// Begins one.
    fn begin(&self) -> Self::Mark;

    /// Ends it.
    fn end(&mut self, mark: Self::Mark);

    /// Does one.
    #[inline(always)]
    fn operation<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let mark = self.begin();
        let result = work();
        self.end(mark);
        result
    }
}

/// Watches nothing and costs nothing.
#[derive(Debug)]
pub struct NoTimer;

impl OperationTimer for NoTimer {
    type Mark = ();

    #[inline(always)]
    fn begin(&self) {}

    #[inline(always)]
    fn end(&mut self, (): ()) {}
}

/// Reads the clock before and after each operation. Memory is reserved before the clock starts.
#[derive(Debug, Default)]
pub struct Latency(Histogram);

impl Latency {
    /// The number of operations timed.
    pub fn count(&self) -> u64 {
        self.0.count()
    }

    /// The response times of these operations, all of which succeeded.
    pub fn class(&self, name: &str) -> Class {
        Class { class: name.to_owned(), done: self.count(), response: self.0.response(), ..Class::default() }
    }
}

impl OperationTimer for Latency {
    type Mark = Instant;

    #[inline]
    fn begin(&self) -> Instant {
        Instant::now()
    }

    #[inline]
    fn end(&mut self, clock: Instant) {
        self.0.record(clock.elapsed().as_nanos() as u64);
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
        let class = latency.class("get");
        assert_eq!((class.class.as_str(), class.done), ("get", 100));
        assert_eq!(class.response.histogram().unwrap().unwrap().len(), 100);
    }
}
