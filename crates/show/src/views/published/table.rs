//! Published figures next to today's medians, in seconds.

use dyno_verdict::Verdict;

use crate::grid::Grid;
use crate::plain::with_texts;
use crate::table_options::TableOptions;
use crate::{measure, notes, units, wrapped};

/// The message if there are no published figures.
const NONE_PUBLISHED: &str = "The suite has no published figures for these parameters.";

/// The table, where it is asked for.
pub fn tables(verdict: &Verdict, options: TableOptions) -> Vec<String> {
    if !options.published {
        return Vec::new();
    }
    let Some(grid) = grid(verdict) else {
        // A ladder shows its published figures itself.
        let is_said = verdict.views.ladders.is_empty();
        return is_said.then(|| NONE_PUBLISHED.to_owned()).into_iter().collect();
    };
    let about =
        "Seconds: this run's figures and the published ones, which are of other hardware and other versions.";
    vec![format!(
        "{}\n\n{}\n\n{}",
        wrapped(about, "", "  "),
        with_texts(&grid),
        notes::paragraph(&sources(verdict))
    )]
}

/// The sources of published figures.
pub fn sources(verdict: &Verdict) -> Vec<String> {
    let sources = verdict.about.suite.sources().iter().map(|source| {
        let link = source.link.as_ref().map(|link| format!(", {link}")).unwrap_or_default();
        format!("Published: {}: {}{link}", source.source, source.hardware)
    });
    sources.collect()
}

fn grid(verdict: &Verdict) -> Option<Grid> {
    let mut systems: Vec<&String> = verdict.tests.iter().flat_map(|test| test.published.keys()).collect();
    systems.sort();
    systems.dedup();
    if systems.is_empty() {
        return None;
    }
    let mut header = vec![String::new(), "test".to_owned()];
    header.extend(verdict.shown_contenders().map(|(_, contender)| format!("{}\ntoday", contender.label)));
    header.extend(systems.iter().map(|system| format!("{system}\npublished")));
    let rows = verdict.tests.iter().map(|test| {
        let mut row = vec![test.id.clone(), test.title.clone()];
        row.extend(test.cells.iter().map(|cell| match &cell.figures.summary {
            Some(summary) => units::significant(measure::seconds(summary.median)),
            None => "–".into(),
        }));
        row.extend(systems.iter().map(|system| match test.published.get(*system) {
            Some(seconds) => format!("{seconds:.3}"),
            None => "–".into(),
        }));
        row
    });
    Some(Grid { header, rows: rows.collect() })
}
