//! Background activity while clients are at work: counters of the machine and of the engine, which a thread of dyno
//! reads twice a second, and which are reported for each second of a section afterwards.
//!
//! Nothing of it is within a runner. The kernel's counters are files; of an engine's own work, dyno sees only what a
//! server reports over dyno's connection, or what files show that can be read without a lock.

mod machine;
mod upkeep;

use std::collections::BTreeMap;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use dyno_protocol::{Job, Sample, Work};
use dyno_record::{ActivitySample, Pressure};
use nix::time::{ClockId, clock_gettime};

use machine::Disk;
use upkeep::Upkeep;

/// The interval between readings of counters. Their counts between two readings are spread evenly.
const STEP: Duration = Duration::from_millis(500);

/// The counters at one moment.
#[derive(Debug, Clone, Default)]
struct Reading {
    /// The time on the system's monotonic clock, in nanoseconds.
    at_ns: u64,
    pressure: Option<Pressure>,
    disk_busy_ns: Option<u64>,
    upkeep: BTreeMap<String, u64>,
}

/// Counters that are being read.
pub struct ActivityMonitor {
    /// Dropped to end it.
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<Readings>>,
}

/// The readings taken while a trial ran.
#[derive(Debug, Clone, Default)]
pub struct Readings(Vec<Reading>);

impl ActivityMonitor {
    /// Begins to read, if a test of the job has seconds.
    pub fn begin(job: &Job) -> ActivityMonitor {
        let has_seconds = |work: &Work| matches!(work, Work::Mix(mix) if mix.lasts.is_some());
        if !job.tests.iter().any(|test| has_seconds(&test.work)) {
            return ActivityMonitor { end: None, thread: None };
        }
        let disk = Disk::below(&job.directory);
        let mut upkeep = Upkeep::of(job);
        let (end, ends) = mpsc::channel::<()>();
        let read = move |upkeep| Reading {
            upkeep,
            pressure: machine::pressure(),
            disk_busy_ns: disk.as_ref().and_then(Disk::busy_ns),
            at_ns: now(),
        };
        // On a busy machine a section may begin before the thread does.
        let mut readings = vec![read(BTreeMap::new())];
        let thread = thread::spawn(move || {
            let mut is_over = false;
            loop {
                readings.push(read(upkeep.read()));
                // One more at the end: a section may have ended after the last.
                if is_over {
                    return Readings(readings);
                }
                is_over = ends.recv_timeout(STEP) != Err(RecvTimeoutError::Timeout);
            }
        });
        ActivityMonitor { end: Some(end), thread: Some(thread) }
    }

    /// Ends the reading.
    pub fn end(mut self) -> Readings {
        self.end = None;
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

impl Readings {
    /// The seconds of a sample. None where its runner does not say when its section began.
    pub fn of(&self, sample: &Sample) -> Vec<ActivitySample> {
        let began = sample.section.began_ns;
        let (Some(first), Some(last)) = (self.0.first(), self.0.last()) else { return Vec::new() };
        let ended = began + sample.ticks.last().map_or(0, |tick| tick.ended_ns);
        if began < first.at_ns || ended > last.at_ns {
            return Vec::new();
        }
        let starts = std::iter::once(0).chain(sample.ticks.iter().map(|tick| tick.ended_ns));
        let seconds = starts.zip(&sample.ticks).map(|(start, tick)| (start, tick.ended_ns));
        seconds.map(|(start, end)| self.between(began + start, began + end, end)).collect()
    }

    fn between(&self, from: u64, to: u64, ended_ns: u64) -> ActivitySample {
        let spent = |counter: &dyn Fn(&Reading) -> Option<u64>| {
            let (before, after) = (self.at(from, counter)?, self.at(to, counter)?);
            Some(after.saturating_sub(before))
        };
        let of = |part: fn(&Pressure) -> u64| spent(&|reading: &Reading| reading.pressure.as_ref().map(part));
        let pressure = || {
            Some(Pressure {
                cpu_some_ns: of(|pressure| pressure.cpu_some_ns)?,
                memory_some_ns: of(|pressure| pressure.memory_some_ns)?,
                memory_full_ns: of(|pressure| pressure.memory_full_ns)?,
                io_some_ns: of(|pressure| pressure.io_some_ns)?,
                io_full_ns: of(|pressure| pressure.io_full_ns)?,
            })
        };
        let (before, after) = (self.last_before(from), self.last_before(to));
        let counted = after.upkeep.iter().filter_map(|(name, count)| {
            Some((name.clone(), count.saturating_sub(*before.upkeep.get(name)?)))
        });
        ActivitySample {
            ended_ns,
            pressure: pressure(),
            disk_busy_ns: spent(&|reading: &Reading| reading.disk_busy_ns),
            upkeep: counted.collect(),
        }
    }

    /// The value of a counter at a moment, interpolated between the readings around it.
    fn at(&self, moment: u64, counter: &dyn Fn(&Reading) -> Option<u64>) -> Option<u64> {
        let after = self.0.partition_point(|reading| reading.at_ns < moment);
        let (before, after) = (self.0.get(after.saturating_sub(1))?, self.0.get(after)?);
        let (low, high) = (counter(before)?, counter(after)?);
        let span = after.at_ns - before.at_ns;
        let share = if span == 0 { 0.0 } else { (moment.saturating_sub(before.at_ns)) as f64 / span as f64 };
        Some(low + (high.saturating_sub(low) as f64 * share).round() as u64)
    }

    /// The last reading before a moment, or the first.
    fn last_before(&self, moment: u64) -> &Reading {
        let after = self.0.partition_point(|reading| reading.at_ns <= moment);
        &self.0[after.saturating_sub(1)]
    }
}

/// Now, on the system's monotonic clock, in nanoseconds.
pub(crate) fn now() -> u64 {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).map(Duration::from).unwrap_or_default();
    u64::try_from(now.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use dyno_protocol::{Section, Tick};

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn a_second_has_its_part_of_what_was_counted() {
        // Every half second from second 10 on, a disk that is busy for a tenth of the time, and a checkpoint at 12.5.
        let reading = |place: u64| Reading {
            at_ns: 10 * SECOND + place * SECOND / 2,
            disk_busy_ns: Some(place * SECOND / 20),
            pressure: None,
            upkeep: [("checkpoints".to_owned(), 7 + u64::from(place >= 5))].into(),
        };
        let readings = Readings((0..10).map(reading).collect());
        let ticks = [1, 2, 3].map(|end| Tick { ended_ns: end * SECOND, ..Tick::default() });
        let sample = |began_ns: u64| Sample {
            section: Section { began_ns, ..Section::default() },
            ticks: ticks.to_vec(),
            ..Sample::default()
        };
        let reported = readings.of(&sample(10 * SECOND + SECOND / 5));
        let busy: Vec<u64> = reported.iter().map(|second| second.disk_busy_ns.unwrap()).collect();
        assert_eq!(busy, [SECOND / 10; 3]);
        let checkpoints: Vec<u64> = reported.iter().map(|second| second.upkeep["checkpoints"]).collect();
        assert_eq!(checkpoints, [0, 0, 1]);
        assert!(reported.iter().all(|second| second.pressure.is_none()));
        // Before the first reading, after the last, and where the runner says nothing.
        for began in [9 * SECOND, 12 * SECOND, 0] {
            assert!(readings.of(&sample(began)).is_empty(), "{began}");
        }
        assert!(Readings::default().of(&sample(SECOND)).is_empty());
    }
}
