//! Stalls: the times in which no operation of many clients succeeded.

use dyno_protocol::Tick;

/// A second in which less than this share of the usual was done is part of a stall, in files that say no more of it.
const STALLED: f64 = 0.1;
/// A gap between operations is a stall where it is at least this long, in nanoseconds,
const STALL: u64 = 100_000_000;
/// and where this many operations usually end in the same time: chance makes no such gap.
const MISSING: f64 = 20.0;
/// The resolution of gaps, in nanoseconds: the runner reports in which hundredths of a second operations ended.
const HUNDREDTH: u64 = 10_000_000;

/// The duration of each stall of a trial, in nanoseconds, given the usual operations per second. `seconds` are its seconds,
/// each with its end and its operations; they decide where the runner has not reported when operations succeeded.
pub(super) fn stalls(ticks: &[Tick], seconds: impl Iterator<Item = (u64, f64)>, usual: f64) -> Vec<u64> {
    match gaps(ticks) {
        Some(gaps) => gaps.into_iter().filter(|gap| is_stall(*gap, usual)).collect(),
        None => slow_seconds(seconds, usual),
    }
}

/// Returns true if a time without a success is a stall, given the usual operations per second.
fn is_stall(gap: u64, usual: f64) -> bool {
    gap >= STALL && usual * gap as f64 / 1e9 >= MISSING
}

/// The times in which no operation succeeded, in nanoseconds; none if the runner has not reported them.
fn gaps(ticks: &[Tick]) -> Option<Vec<u64>> {
    ticks.iter().find_map(Tick::succeeded)?;
    let (mut gaps, mut gap, mut start) = (Vec::new(), 0, 0);
    for tick in ticks {
        let succeeded = tick.succeeded().unwrap_or(0);
        let lasted = tick.ended_ns.saturating_sub(start);
        for hundredth in 0..lasted.div_ceil(HUNDREDTH).min(100) {
            if succeeded >> hundredth & 1 == 0 {
                gap += HUNDREDTH.min(lasted - hundredth * HUNDREDTH);
            } else if gap > 0 {
                gaps.push(std::mem::take(&mut gap));
            }
        }
        start = tick.ended_ns;
    }
    gaps.push(gap);
    Some(gaps)
}

/// The duration of each stall of a trial by its seconds alone, in nanoseconds.
fn slow_seconds(seconds: impl Iterator<Item = (u64, f64)>, usual: f64) -> Vec<u64> {
    let mut found = Vec::new();
    let mut began = None;
    let mut before = 0;
    for (ended_ns, per_second) in seconds {
        let is_slow = per_second < STALLED * usual;
        if is_slow && began.is_none() {
            began = Some(before);
        }
        if !is_slow && let Some(began) = began.take() {
            found.push(before - began);
        }
        before = ended_ns;
    }
    found.extend(began.map(|began| before - began));
    found
}
