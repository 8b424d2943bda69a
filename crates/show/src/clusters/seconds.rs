//! The commits of a try over time, as a drawing: bars of a tenth of a second or more, and the fault among them.

use dyno_record::FaultTry;
use serde::Serialize;

use crate::units::{duration, rate, whole};

/// The size of the bars' field, in units of the drawing.
const WIDE: f64 = 900.0;
const HIGH: f64 = 120.0;
/// The most bars of a drawing: of longer tries a bar is of several tenths of a second.
const MOST_BARS: usize = 450;
/// The most marks of time below it.
const MOST_TICKS: f64 = 12.0;

/// The drawing of a try.
#[derive(Debug, Serialize)]
pub struct TryChart {
    title: String,
    /// The description for screen readers.
    label: String,
    caption: String,
    width: f64,
    height: f64,
    /// The rate of the highest bar.
    most: String,
    bars: Vec<Bar>,
    spans: Vec<Span>,
    /// The place of the fault, and its name.
    fault: f64,
    fault_name: &'static str,
    ticks: Vec<Tick>,
}

/// The commits of a part of a second.
#[derive(Debug, Serialize)]
struct Bar {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
    words: String,
}

/// A time in which something was so.
#[derive(Debug, Serialize)]
struct Span {
    class: &'static str,
    x: f64,
    width: f64,
    words: String,
}

/// A mark of time.
#[derive(Debug, Serialize)]
struct Tick {
    x: f64,
    text: String,
}

impl TryChart {
    /// Draws a try; `place` counts those of a contender by this fault from zero.
    pub fn new(place: usize, tried: &FaultTry) -> TryChart {
        let scale = Scale { end_ms: tried.end_ms.max(1) as f64, at_ms: tried.at_ms as f64 };
        let (bars, most) = bars(tried, scale);
        let fault_name = tried.fault.name();
        TryChart {
            title: format!("{fault_name}, try {}", place + 1),
            label: format!("Commits acknowledged over time, and the fault {fault_name} among them"),
            caption: caption(tried),
            width: WIDE,
            height: HIGH,
            most: rate(most),
            bars,
            spans: spans(tried, scale),
            fault: scale.x(scale.at_ms),
            fault_name,
            ticks: ticks(scale),
        }
    }
}

/// The moments of a try, from its first operation on.
#[derive(Debug, Clone, Copy)]
struct Scale {
    end_ms: f64,
    at_ms: f64,
}

impl Scale {
    fn x(self, millis: f64) -> f64 {
        tenth(WIDE * millis.min(self.end_ms) / self.end_ms)
    }

    /// A moment as it is from the fault.
    fn since_fault(self, millis: f64) -> String {
        let away = millis - self.at_ms;
        let sign = if away < 0.0 { "−" } else { "+" };
        format!("{sign}{}", duration(away.abs() * 1e6))
    }
}

/// A place in a drawing: no eye sees more digits.
fn tenth(place: f64) -> f64 {
    (place * 10.0).round() / 10.0
}

/// The bars, and the rate of the highest.
fn bars(tried: &FaultTry, scale: Scale) -> (Vec<Bar>, f64) {
    let of_each = tried.tenths.len().div_ceil(MOST_BARS).max(1);
    let rates: Vec<f64> = tried.tenths.chunks(of_each).map(in_a_second).collect();
    let most = rates.iter().copied().fold(1.0, f64::max);
    let bar = |(place, &done): (usize, &f64)| {
        let millis = (place * of_each * 100) as f64;
        let (x, height) = (scale.x(millis), tenth(HIGH * done / most));
        Bar {
            x,
            y: tenth(HIGH - height),
            width: tenth(scale.x(millis + of_each as f64 * 100.0) - x),
            height,
            words: format!("{}: {}", scale.since_fault(millis), rate(done)),
        }
    };
    (rates.iter().enumerate().map(bar).collect(), most)
}

fn in_a_second(tenths: &[u32]) -> f64 {
    f64::from(tenths.iter().sum::<u32>()) * 10.0 / tenths.len() as f64
}

/// The times of an outage, of a fail-over and of the commits that were lost.
fn spans(tried: &FaultTry, scale: Scale) -> Vec<Span> {
    let span = |class, [from, to]: [u64; 2], words: &str| {
        let x = scale.x(from as f64);
        // A moment is to be seen too.
        Span { class, x, width: tenth((scale.x(to as f64) - x).max(1.5)), words: words.to_owned() }
    };
    let outage = tried.outage.as_ref();
    let off = outage.map(|outage| span("off", [tried.at_ms, outage.back_ms[0]], "the power is off"));
    let back = outage.map(|outage| span("back", outage.back_ms, "the nodes start"));
    let failover = tried.failover_ms.map(|times| span("back", times, "a replica becomes the leader"));
    let lost = tried.lost_between_ms.map(|times| {
        let words = format!("the {} commits that were lost were acknowledged here", whole(tried.lost));
        span("lost", times, &words)
    });
    [off, back, failover, lost].into_iter().flatten().collect()
}

/// Marks at whole seconds from the fault on.
fn ticks(scale: Scale) -> Vec<Tick> {
    let step = (scale.end_ms / 1000.0 / MOST_TICKS).ceil().max(1.0);
    let first = (-scale.at_ms / 1000.0 / step).ceil() as i64;
    let last = ((scale.end_ms - scale.at_ms) / 1000.0 / step).floor() as i64;
    let tick = |number: i64| {
        let seconds = number as f64 * step;
        Tick { x: scale.x(scale.at_ms + seconds * 1000.0), text: format!("{seconds} s").replace('-', "−") }
    };
    (first..=last).map(tick).collect()
}

fn caption(tried: &FaultTry) -> String {
    let lost = match tried.lost {
        0 => "no acknowledged commit was lost".to_owned(),
        lost => format!("{} of {} acknowledged commits were lost", whole(lost), whole(tried.acknowledged)),
    };
    let stall = match tried.goes_on {
        true => format!("the longest time without a commit was {}", duration(tried.stall_ms as f64 * 1e6)),
        false => "no commit was acknowledged again".to_owned(),
    };
    let failover =
        tried.failover_ms.map_or("", |_| " The shaded time is that in which a replica became the leader.");
    let outage = tried
        .outage
        .as_ref()
        .map_or("", |_| " In the dark time the power was off, in the shaded one the nodes started.");
    let line = if tried.lost > 0 { " The line at the top is over the commits that were lost." } else { "" };
    format!("After the fault {lost}; {stall}.{failover}{outage}{line}")
}

#[cfg(test)]
mod tests {
    use dyno_record::NodeFault;

    use super::*;

    fn tried(tenths: Vec<u32>, at_ms: u64) -> FaultTry {
        FaultTry {
            fault: NodeFault::Partition,
            at_ms,
            led: None,
            failover_ms: Some([at_ms + 1000, at_ms + 1100]),
            outage: None,
            end_ms: tenths.len() as u64 * 100,
            tenths,
            stall_ms: 1200,
            goes_on: true,
            acknowledged: 1000,
            failed: 0,
            unknown: 0,
            unknown_found: 0,
            lost: 7,
            missing: 0,
            lost_between_ms: Some([at_ms + 100, at_ms + 900]),
            shown_by: None,
            failed_found: 0,
            compared: vec![2, 3],
            troubles: Vec::new(),
        }
    }

    #[test]
    fn the_fault_stands_among_the_seconds() {
        let chart = TryChart::new(0, &tried([vec![10; 20], vec![0; 10], vec![5; 20]].concat(), 2000));
        assert_eq!((chart.fault, chart.bars.len()), (WIDE * 0.4, 50));
        let heights = [0, 19, 20, 29, 30].map(|place: usize| chart.bars[place].height);
        assert_eq!(heights, [HIGH, HIGH, 0.0, 0.0, HIGH / 2.0]);
        assert_eq!(chart.bars[20].x, chart.fault);
        let ticks: Vec<&str> = chart.ticks.iter().map(|tick| tick.text.as_str()).collect();
        assert_eq!(ticks, ["−2 s", "−1 s", "0 s", "1 s", "2 s", "3 s"]);
        let classes: Vec<(&str, f64)> = chart.spans.iter().map(|span| (span.class, span.x)).collect();
        assert_eq!(classes, [("back", WIDE * 0.6), ("lost", WIDE * 0.42)]);
    }

    #[test]
    fn a_long_try_has_no_more_bars_than_can_be_seen() {
        let chart = TryChart::new(0, &tried(vec![4; 2000], 100_000));
        assert!(chart.bars.len() <= MOST_BARS && chart.ticks.len() <= MOST_TICKS as usize + 1);
        assert!(chart.bars.iter().all(|bar| bar.height == HIGH));
    }
}
