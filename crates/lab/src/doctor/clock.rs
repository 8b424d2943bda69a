//! Checks of the clock by which samples are measured.

use std::time::{Duration, Instant};

use dyno_record::Machine;

use super::Check;

/// A reading that costs more is a system call: the kernel does not trust the processor's counter.
const COSTLY: f64 = 200.0;
/// A coarser step shows in tests of a few microseconds.
const COARSE: Duration = Duration::from_micros(1);

pub(super) fn checks(machine: &Machine) -> Vec<Check> {
    vec![source(machine.clock_source.as_deref()), reading(cost_ns(), step())]
}

fn source(name: Option<&str>) -> Check {
    let subject = "clock";
    match name {
        Some(name @ ("tsc" | "arch_sys_counter" | "timebase" | "tod" | "riscv_clocksource")) => {
            Check::good(subject, format!("{name}, the processor's own counter"))
        }
        Some(name @ ("kvm-clock" | "hyperv_clocksource_tsc_page" | "xen")) => {
            Check::note(subject, name, "the host's clock: it may be corrected while a test runs")
        }
        Some(name) => Check::warning(
            subject,
            name,
            "a slow clock that the kernel falls back to when it does not trust the processor's counter; see \
             the kernel log for `clocksource`, and `tsc=reliable` of the kernel",
        ),
        None => Check::note(subject, "unknown", "the kernel does not report it; see the cost of a reading"),
    }
}

fn reading(cost_ns: f64, step: Duration) -> Check {
    let subject = "clock reading";
    let found = format!("{cost_ns:.0} ns a reading, steps of {} ns", step.as_nanos());
    if cost_ns > COSTLY || step > COARSE {
        let advice = "too slow or coarse for tests of a few microseconds; the clock source decides";
        return Check::warning(subject, found, advice);
    }
    Check::good(subject, found)
}

/// The median cost of one reading, in nanoseconds.
fn cost_ns() -> f64 {
    const BATCHES: usize = 51;
    const READINGS: u32 = 200;
    let mut costs: Vec<Duration> = (0..BATCHES)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..READINGS {
                std::hint::black_box(Instant::now());
            }
            start.elapsed()
        })
        .collect();
    costs.sort_unstable();
    costs[BATCHES / 2].as_nanos() as f64 / f64::from(READINGS)
}

/// The smallest step seen between readings that differ: no smaller than a reading's cost, and a
/// millisecond where no reading differs.
fn step() -> Duration {
    let mut smallest = Duration::MAX;
    let mut last = Instant::now();
    for _ in 0..2000 {
        let now = Instant::now();
        if now > last {
            smallest = smallest.min(now - last);
            last = now;
        }
    }
    smallest.min(Duration::from_millis(1))
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;

    #[test]
    fn clocks_are_judged_by_name_and_by_cost() {
        assert_eq!(source(Some("tsc")).level, Level::Good);
        assert_eq!(source(Some("kvm-clock")).level, Level::Note);
        assert_eq!(source(Some("hpet")).level, Level::Warning);
        assert_eq!(source(None).level, Level::Note);
        assert_eq!(reading(25.0, Duration::from_nanos(30)).level, Level::Good);
        assert_eq!(reading(700.0, Duration::from_nanos(700)).level, Level::Warning);
        assert_eq!(reading(25.0, Duration::from_millis(4)).level, Level::Warning);
    }

    #[test]
    fn the_clock_of_this_machine_can_be_measured() {
        assert!(cost_ns() > 0.0);
        assert!(step() > Duration::ZERO);
    }
}
