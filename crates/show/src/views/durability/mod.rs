//! The findings of `dyno prove` on contenders: a sentence for each below the tables, and columns. Their cards on the
//! page have the same sentence.

mod csv;
pub mod words;

use dyno_verdict::Verdict;

use super::parts::{NOTHING, Parts};

/// The parts of the view.
pub const PARTS: Parts = Parts { columns: csv::columns, notes, ..NOTHING };

fn notes(verdict: &Verdict) -> Vec<String> {
    let about = |contender| words::about(verdict, contender);
    let shown = verdict.shown_contenders();
    shown.filter_map(|(index, record)| Some(format!("Proved: {}: {}", record.label, about(index)?))).collect()
}
