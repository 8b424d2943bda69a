//! The clients of servers: which can be compared here, and their tables.
//!
//! A server's own time dwarfs its client's and varies with what else it has to do, so besides the time by
//! the clock stands the client's CPU time, which is all that dyno could waste. Both are clients of one
//! server, which no other process uses and which shares their processor.

use std::fmt::Write;

use dyno_engine::Contender;
use dyno_lab::server::Installation;
use dyno_verdict::statistics::{geometric_mean_ratio, median, paired_ratio};

use crate::comparison::Comparison;
use crate::verdict::{Verdict, interval};

/// Most that the geometric mean of the ratios may be, by the clock and in CPU time.
const AIM: f64 = 1.05;
/// The least CPU time of C's client, in nanoseconds, for a test's ratio to count: below that it is
/// mostly what reading the clock costs.
const LONG_NS: f64 = 1e6;

/// Returns true if a contender can be measured here; reports which cannot and why.
pub fn is_available(contender: &Contender) -> bool {
    let Some(engine) = contender.engine.server() else { return true };
    match Installation::find(&engine, &contender.build) {
        Ok(_) => true,
        Err(error) => {
            eprintln!("{} is left out: {error:#}", contender.label);
            false
        }
    }
}

/// dyno's client compared with C's, test by test, and the worst verdict.
pub fn compare(comparison: &Comparison, titles: &[String]) -> (String, Verdict) {
    let mut text = format!("\n**{}**\n\n", comparison.label);
    text += "| test | C ms | dyno/C | 95 % interval | C\u{2019}s CPU ms | dyno/C | 95 % interval |\n";
    text += "|---|--:|--:|:-:|--:|--:|:-:|\n";
    let mut long = Vec::new();
    for ((title, pairs), cpu) in titles.iter().zip(&comparison.pairs).zip(&comparison.cpu) {
        let cells = cells(pairs);
        // Writing to a String cannot fail.
        let _ = writeln!(text, "| {title} | {cells} | {} |", self::cells(cpu));
        if reference(cpu) >= LONG_NS {
            long.push(cpu.clone());
        }
    }
    let mut worst = Verdict::Reached;
    for (what, pairs) in
        [("by the clock", &comparison.pairs), ("in CPU time, tests of 1 ms and more of it", &long)]
    {
        let Some(mean) = geometric_mean_ratio(pairs) else { continue };
        let verdict = Verdict::of(&mean, AIM);
        let _ = writeln!(
            text,
            "\nGeometric mean of the ratios {what}: {:.4} ({}); at most {AIM}: {}.",
            mean.ratio,
            interval(&mean, 4),
            verdict.text()
        );
        worst = worst.max(verdict);
    }
    (text, worst)
}

/// C's median in milliseconds, the ratio and its interval.
pub fn cells(pairs: &[Option<(f64, f64)>]) -> String {
    let left: Vec<(f64, f64)> = pairs.iter().flatten().copied().collect();
    match paired_ratio(&left) {
        Some(ratio) => {
            format!("{:.2} | {:.3} | {}", reference(pairs) / 1e6, ratio.ratio, interval(&ratio, 3))
        }
        None => " | | ".to_owned(),
    }
}

/// C's median.
fn reference(pairs: &[Option<(f64, f64)>]) -> f64 {
    let times: Vec<f64> = pairs.iter().flatten().map(|pair| pair.1).collect();
    median(&times).unwrap_or(f64::NAN)
}
