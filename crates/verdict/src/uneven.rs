//! Clients that wait for one another issue nothing meanwhile. Where a few of them do nearly all operations and the
//! others wait, nearly all operations are quick, and nearly every client waits long: a percentile of operations then
//! hides the waiting. It reflects the waiting of clients only if no more than half of their time lies beyond it. Open
//! arrivals have no such gap: their operations are due whether or not clients wait.

use dyno_protocol::quantile;
use dyno_record::{Load, Run, TestRecord};

use crate::disturbance::Disturbances;
use crate::figures::used;

/// The least share of operations of which this is asked. Beyond a smaller one lies half of the time of most distributions:
/// 85 % beyond the median of an exponential one, 33 % beyond 90 %, 6 % beyond 99 %.
const LEAST: f64 = 0.9;

/// The percentage of a contender's client time that went into operations of a class that took longer than `share` of
/// them in their trial. None where that is at most half, where there was one client, and where operations arrived at a
/// given rate.
pub(crate) fn beyond(
    run: &Run,
    disturbances: &Disturbances,
    contender: usize,
    test: &TestRecord,
    class: &str,
    share: f64,
) -> Option<u32> {
    let is_closed =
        test.load == Some(Load::Closed) && test.clients.as_ref().is_some_and(|asked| asked.clients > 1);
    if !is_closed || share < LEAST {
        return None;
    }
    let samples = used(run, disturbances, contender, &test.id);
    let classes =
        samples.flat_map(|sample| &sample.sample.classes).filter(|reported| reported.class == class);
    let (mut all, mut slow) = (0.0, 0.0);
    for reported in classes {
        let Some(response) = reported.waited() else { continue };
        let Some(limit) = quantile(&response, share, reported.failed) else { continue };
        for value in response.iter_recorded() {
            let time = value.value_iterated_to() as f64 * value.count_at_value() as f64;
            all += time;
            slow += if value.value_iterated_to() > limit { time } else { 0.0 };
        }
    }
    (slow > all / 2.0).then(|| (slow / all * 100.0).round() as u32)
}
