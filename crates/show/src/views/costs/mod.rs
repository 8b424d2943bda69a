//! The resources that each test used besides time.

use dyno_verdict::Verdict;

use super::parts::{NOTHING, Parts};
use crate::grid::Grid;
use crate::plain::with_texts;
use crate::table_options::TableOptions;
use crate::units;

/// The parts of this view. The page and CSV have these figures next to the others.
pub const PARTS: Parts = Parts { tables, ..NOTHING };

/// A table for each contender, where it is asked for.
fn tables(verdict: &Verdict, options: TableOptions) -> Vec<String> {
    let asked = (0..verdict.shown_contenders().count()).filter(|_| options.costs);
    asked.map(|place| with_texts(&grid(verdict, place))).collect()
}

/// Of one contender, by its place among those shown.
fn grid(verdict: &Verdict, place: usize) -> Grid {
    let label = verdict.shown_contenders().nth(place).map_or("", |(_, contender)| contender.label.as_str());
    let header = ["", label, "time", "CPU user", "CPU system", "read", "written", "memory", "database"];
    let rows = verdict.tests.iter().map(|test| {
        let figures = &test.cells[place].figures;
        let mut row = vec![test.id.clone(), test.title.clone()];
        match (&figures.summary, &figures.costs) {
            (Some(summary), Some(costs)) => {
                row.extend([summary.median, costs.user_ns, costs.system_ns].map(units::duration));
                row.extend(
                    [
                        costs.device_read_bytes,
                        costs.device_written_bytes,
                        costs.peak_memory_bytes,
                        costs.database_bytes,
                    ]
                    .map(units::bytes),
                );
            }
            _ => row.extend(["–"; 7].map(String::from)),
        }
        row
    });
    Grid { header: header.map(String::from).to_vec(), rows: rows.collect() }
}
