//! The kernel's counts of an ordinary trial; the runner writes it down (`crates/gauge/src/counting.rs`).

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::EventCounts;

/// The counts of each section, in their order.
pub(super) fn sections(file: &Path) -> Result<Vec<EventCounts>> {
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    Ok(text.lines().map(read).collect())
}

/// A line such as `page_faults=12 context_switches=3`.
fn read(line: &str) -> EventCounts {
    let counts = line.split(' ').filter_map(|count| {
        let (event, count) = count.split_once('=')?;
        Some((event.to_owned(), count.parse().ok()?))
    });
    counts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_section() {
        let counts = [("page_faults".to_owned(), 12), ("context_switches".to_owned(), 3)];
        assert_eq!(read("page_faults=12 context_switches=3"), EventCounts::from(counts));
    }
}
