//! Differences and their causes in sentences.

use dyno_record::{Neutralised, Suspect, UntriedSuspect};
use dyno_verdict::statistics::{Interval, MIN_BLOCKS};
use dyno_verdict::{Causes, ExplainedDifference, Explains, SuspectShare, Verdict};

use crate::units;

/// `sqlite takes 12.3 ms longer than sqlite:nosync in test 2 (11.9 ms to 12.8 ms).`
pub fn difference(causes: &Causes, found: &ExplainedDifference) -> String {
    let Causes { contender, baseline, .. } = causes;
    let place = match &found.test {
        Some(test) => format!("in test {test}"),
        None => "in all tests together".to_owned(),
    };
    let interval = found.interval.filter(|_| !found.shares.is_empty());
    let Some(interval) = interval else {
        let advice = match found.blocks < MIN_BLOCKS {
            true => format!(" {} blocks are too few to show any: take {MIN_BLOCKS} or more.", found.blocks),
            false => String::new(),
        };
        return format!(
            "No difference is shown between {contender} and {baseline} {place}, so nothing is to be explained.{advice}"
        );
    };
    let (first, second) = match found.difference_ns > 0.0 {
        true => (contender, baseline),
        false => (baseline, contender),
    };
    let ends = [interval.low.abs(), interval.high.abs()];
    format!(
        "{first} takes {} longer than {second} {place} ({} to {}).",
        units::duration(found.difference_ns.abs()),
        units::duration(ends[0].min(ends[1])),
        units::duration(ends[0].max(ends[1]))
    )
}

/// `Flushes and other work of the disk explain 98% (96 to 100) of it.`
pub fn share(found: &SuspectShare) -> String {
    let (subject, explain, hide) = match found.suspect {
        Suspect::Disk => ("Flushes and other work of the disk", "explain", "hide"),
        Suspect::Cache => ("The size of the cache", "explains", "hides"),
        Suspect::Processors => ("The number of processors", "explains", "hides"),
        Suspect::Network => ("The way between clients and servers", "explains", "hides"),
    };
    let (Some(value), Some(interval)) = (found.share, found.interval) else {
        let width = match found.interval {
            Some(interval) => format!("the interval is {}%", range(interval)),
            None => "too few blocks have all four trials".to_owned(),
        };
        return format!("{subject}: cannot be determined; {width}.");
    };
    let percents = percents(value, interval);
    match found.explains {
        Explains::Some => format!("{subject} {explain} {percents} of it."),
        Explains::Hides => {
            let more = self::percents(-value, Interval { low: -interval.high, high: -interval.low });
            format!("{subject} {hide} a part: without that, the difference is {more} larger.")
        }
        Explains::NotShown | Explains::CannotBeTold => {
            format!("{subject}: not shown to matter, {percents} of it.")
        }
    }
}

/// `The number of processors was not tried: …`
pub fn not_tried(left: &UntriedSuspect) -> String {
    let subject = match left.suspect {
        Suspect::Disk => "The disk",
        Suspect::Cache => "The size of the cache",
        Suspect::Processors => "The number of processors",
        Suspect::Network => "The way between clients and servers",
    };
    format!("{subject} was not tried: {}.", left.why)
}

/// `92% (88 to 95)`
pub fn percents(value: f64, interval: Interval) -> String {
    format!("{}% ({})", number(value), range(interval))
}

fn range(interval: Interval) -> String {
    format!("{} to {}", number(interval.low), number(interval.high))
}

/// A share as a whole number of percent.
fn number(share: f64) -> String {
    let percent = (share * 100.0).round();
    if percent < 0.0 { format!("−{:.0}", -percent) } else { format!("{:.0}", percent.abs()) }
}

/// The conditions of the experiment, and the meaning of the shares.
pub fn notes(verdict: &Verdict) -> Vec<String> {
    let Some(causes) = &verdict.views.causes else { return Vec::new() };
    let done: Vec<String> = causes.tried.iter().map(|how| done(causes, how)).collect();
    let mut notes = Vec::new();
    if !done.is_empty() {
        notes.push(format!("Causes: in further trials of each block, {}", done.join("; ")));
    }
    if causes.differences.iter().any(|found| !found.shares.is_empty()) {
        notes.push(
            "A share is the part of the difference that is gone where the suspect is neutralised for both, with its 95% \
             interval. Shares need not add up to 100%: causes overlap, and others were not tried"
                .to_owned(),
        );
    }
    notes
}

fn done(causes: &Causes, how: &Neutralised) -> String {
    match how {
        Neutralised::Disk { folder } => {
            format!("the databases of both were in memory ({folder}), where a flush is free")
        }
        Neutralised::Cache { bytes } => {
            let [contender, baseline] = bytes.map(|bytes| units::bytes(bytes as f64));
            let Causes { contender: first, baseline: second, .. } = causes;
            format!("the cache was {contender} for {first} and {baseline} for {second}, four times as much")
        }
        Neutralised::Processors { cpu } => {
            format!("runners and servers might use CPU {cpu} too")
        }
        Neutralised::Network { added_ns: 0 } => {
            "clients reached a server at a URL through its socket in the file system".to_owned()
        }
        Neutralised::Network { added_ns } => {
            format!("dyno did not delay round trips by {}", units::duration(*added_ns as f64))
        }
    }
}
