//! The acknowledged commits of a try in the course of time.

use std::time::Duration;

/// The length of a part of the series.
const TENTH: Duration = Duration::from_millis(100);

/// Acknowledged commits by tenths of a second.
pub fn tenths(acknowledged: &[Duration], end: Duration) -> Vec<u32> {
    let place = |at: Duration| (at.as_nanos() / TENTH.as_nanos()) as usize;
    let mut tenths = vec![0; place(end) + 1];
    for at in acknowledged {
        if let Some(count) = tenths.get_mut(place(*at)) {
            *count += 1;
        }
    }
    tenths
}

/// The longest time from a fault on in which nothing was acknowledged, and whether something was after it. The
/// acknowledgements are sorted.
pub fn stall(acknowledged: &[Duration], fault_at: Duration, end: Duration) -> (Duration, bool) {
    let mut last = fault_at;
    let mut longest = (Duration::ZERO, true);
    for &at in acknowledged.iter().filter(|at| **at >= fault_at) {
        longest = longest.max((at - last, true));
        last = at;
    }
    let rest = end.saturating_sub(last);
    if rest > longest.0 { (rest, false) } else { longest }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(times: &[u64]) -> Vec<Duration> {
        times.iter().map(|&time| Duration::from_millis(time)).collect()
    }

    #[test]
    fn a_stall_is_the_longest_silence_after_the_fault() {
        let of = |times: &[u64], end| {
            let (stall, goes_on) = stall(&ms(times), Duration::from_millis(100), Duration::from_millis(end));
            (stall.as_millis(), goes_on)
        };
        // Silence before the fault does not count.
        assert_eq!(of(&[10, 120, 150, 400, 410], 450), (250, true));
        assert_eq!(of(&[10, 120], 5000), (4880, false));
        assert_eq!(of(&[10], 500), (400, false));
    }

    #[test]
    fn acknowledgements_are_counted_by_tenths_of_a_second() {
        assert_eq!(tenths(&ms(&[0, 99, 100, 350]), Duration::from_millis(399)), [2, 1, 0, 1]);
    }
}
