//! The cost of encryption, in percent.

use dyno_verdict::{AddedTime, Verdict};

use crate::figure;
use crate::grid::Grid;
use crate::plain::with_texts;
use crate::table_options::TableOptions;
use crate::units;

/// The tables; empty if no contender encrypts.
pub fn tables(verdict: &Verdict, _options: TableOptions) -> Vec<String> {
    grid(verdict).map(|grid| with_texts(&grid)).into_iter().collect()
}

/// The additional time of encrypted contenders over the same engines unencrypted; `None` without such pairs.
fn grid(verdict: &Verdict) -> Option<Grid> {
    let overheads = &verdict.views.overheads;
    if overheads.is_empty() {
        return None;
    }
    let label = |index: usize| verdict.contenders[index].label.replace(':', "\n:").replace(',', "\n,");
    let mut header = vec![String::new(), "more time than unencrypted".to_owned()];
    header.extend(overheads.iter().map(|overhead| {
        let mark = if overhead.same_level { "" } else { "‡ " };
        format!("{}\n{mark}over {}", label(overhead.contender), label(overhead.over))
    }));
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (place, test) in verdict.tests.iter().enumerate() {
        let mut row = vec![test.id.clone(), test.title.clone()];
        row.extend(overheads.iter().map(|overhead| percent(overhead.tests[place].as_ref())));
        rows.push(row);
    }
    let mut row = vec![String::new(), "geometric mean, without opening".to_owned()];
    row.extend(overheads.iter().map(|overhead| percent(overhead.geometric_mean.as_ref())));
    rows.push(row);
    Some(Grid { header, rows })
}

/// `+12% (+10…+14)`; marked where it is no difference.
fn percent(added: Option<&AddedTime>) -> String {
    let Some(added @ AddedTime { ratio, .. }) = added else { return "–".into() };
    let interval = ratio.interval.map(|interval| {
        format!(" ({}…{})", units::signed_percent(interval.low), units::signed_percent(interval.high))
    });
    let mark = figure::mark_of_added(added);
    format!("{}{}{mark}", units::signed_percent(ratio.ratio), interval.unwrap_or_default())
}
