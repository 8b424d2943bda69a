//! The table of loads.

use std::fmt::Write;

use dyno_verdict::statistics::paired_ratio;

use crate::clients::cells;
use crate::comparison::Comparison;
use crate::verdict::Verdict;

/// The loads compared with their references, and the worst verdict.
pub fn compare(comparisons: &[Comparison], rows: u64) -> (String, Verdict) {
    let mut text = format!("\n**{rows} rows of 3 columns of 8 bytes**\n\n");
    text +=
        "| load | beside | its ms | dyno/it | 95 % interval | its CPU ms | dyno/it | 95 % interval | aim |\n";
    text += "|---|---|--:|--:|:-:|--:|--:|:-:|---|\n";
    let mut worst = Verdict::Reached;
    for comparison in comparisons {
        let Some(load) = comparison.load else { continue };
        let (clock, cpu) = (&comparison.pairs[0], &comparison.cpu[0]);
        // psql does not report its CPU time.
        let cpu = if load.is_psqls() { &Vec::new() } else { cpu };
        let Some(ratio) = paired_ratio(&clock.iter().flatten().copied().collect::<Vec<_>>()) else {
            continue;
        };
        let verdict = Verdict::of(&ratio, load.aim);
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "| {} {} | {} | {} | {} | {}: {} |",
            comparison.label,
            load.variant.unwrap_or("insert-rows"),
            load.other,
            cells(clock),
            cells(cpu),
            load.aim,
            verdict.text()
        );
        worst = worst.max(verdict);
    }
    (text, worst)
}
