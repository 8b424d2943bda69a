//! The driver tax: every driver of an engine relative to its lowest-level one, as a percentage.

use dyno_verdict::{AddedTime, Against, Verdict};

use crate::figure;
use crate::grid::Grid;
use crate::plain::plain;
use crate::table_options::TableOptions;
use crate::units::signed_percent;
use crate::views::against::families;

/// A table for each engine of which several drivers ran with the same settings, where it is asked for.
pub fn tables(verdict: &Verdict, options: TableOptions) -> Vec<String> {
    let asked = families(&verdict.views.drivers).filter(|_| options.tax);
    asked.map(|family| plain(&grid(verdict, family))).collect()
}

fn grid(verdict: &Verdict, family: &[Against]) -> Grid {
    let mut header = vec![String::new(), format!("over {}", verdict.label(family[0].over))];
    header.extend(verdict.tests.iter().map(|test| test.id.clone()));
    let rows = family.iter().map(|driver| {
        let row = [String::new(), verdict.label(driver.contender).to_owned()];
        row.into_iter().chain(driver.tests.iter().map(tax)).collect()
    });
    Grid { header, rows: rows.collect() }
}

/// `+12% (+10% … +14%)`; marked where it is no difference.
fn tax(added: &Option<AddedTime>) -> String {
    let Some(added @ AddedTime { ratio, .. }) = added else { return "–".into() };
    let ends = ratio.interval;
    let interval =
        ends.map(|ends| format!(" ({} … {})", signed_percent(ends.low), signed_percent(ends.high)));
    let mark = figure::mark_of_added(added);
    format!("{}{}{mark}", signed_percent(ratio.ratio), interval.unwrap_or_default())
}
