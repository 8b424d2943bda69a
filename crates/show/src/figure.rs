//! The text of a cell: its figure, its ratio to the baseline, and their marks.

use dyno_record::{Better, Quantity};
use dyno_verdict::statistics::{Difference, Ratio};
use dyno_verdict::{AddedTime, Cell, CellStanding};

use super::views::sustained::words;
use super::{measure, units};

/// The amount of detail in a contender's columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Median, spread, ratio and its interval.
    Interval,
    /// Median, spread and ratio.
    Ratio,
}

/// `312 ms ±3%` or `1.23M/s ±3%` with its marks.
pub fn figure(quantity: &Quantity, cell: &Cell) -> String {
    if let Some(outcome) = &cell.sustained {
        return format!("{}{}", words::outcome(outcome), marks(cell));
    }
    let Some(summary) = &cell.figures.summary else { return missing(cell) };
    let spread = match (quantity, summary.spread) {
        // Counts that never differ are exact.
        (Quantity::Count { .. }, Some(0.0)) => String::new(),
        (_, Some(spread)) if summary.median > 0.0 => {
            format!(" ±{}", units::percent(spread / summary.median))
        }
        _ => String::new(),
    };
    let bound = if cell.standing == CellStanding::AtLeast { "≥ " } else { "" };
    format!("{bound}{}{spread}{}", measure::text(quantity, summary.median), marks(cell))
}

fn missing(cell: &Cell) -> String {
    if matches!(cell.standing, CellStanding::Missing(_)) { "failed".into() } else { "–".into() }
}

/// The marks of a figure: worked out, wrong, hiding what clients waited, of the trials that did not fail, fastest.
pub fn marks(cell: &Cell) -> String {
    let mark = match cell.standing {
        CellStanding::Wrong(_) | CellStanding::Disputed(_) => " ✗",
        CellStanding::Uneven(_) => " §",
        CellStanding::WeakGenerator(_) => " ⊘",
        _ if cell.failed => " !",
        _ if cell.fastest => " *",
        _ => "",
    };
    format!("{}{mark}", if cell.figures.extrapolated { " ~" } else { "" })
}

/// The mark of a comparison that shows no difference: close, or open.
pub fn mark_of(difference: Option<Difference>) -> &'static str {
    match difference {
        Some(difference) if difference.is_open() => OPEN,
        Some(Difference::None(_)) => CLOSE,
        _ => "",
    }
}

/// The mark of a part of the price of encryption, a driver or settings.
pub fn mark_of_added(added: &AddedTime) -> &'static str {
    match (added.is_difference, added.is_close) {
        (true, _) => "",
        (false, true) => CLOSE,
        (false, false) => OPEN,
    }
}

/// No difference, and any that exists lies within the margin.
const CLOSE: &str = " ≈";

/// The samples do not decide.
const OPEN: &str = " ?";

/// `2.29× (2.10–2.41)`, marked if no difference is shown.
///
/// A ratio of rates is in words, `2.29× slower (2.10–2.41)`: readers would take a ratio of times for one of
/// rates.
pub fn ratio_of(quantity: &Quantity, cell: &Cell, detail: Detail) -> String {
    match (&cell.standing, &cell.ratio) {
        (CellStanding::Wrong(_), _) => "wrong".into(),
        (CellStanding::Disputed(_), _) => "disputed".into(),
        (CellStanding::NotEncrypted, _) => "not encrypted".into(),
        (CellStanding::NotIsolated, _) => "not isolated".into(),
        (CellStanding::WeakGenerator(_), _) => "–".into(),
        (_, ratio) if !quantity.scatters() => counts_ratio(ratio.as_ref(), cell.difference),
        (_, None) => "–".into(),
        (_, Some(ratio)) => {
            let mark = mark_of(cell.difference);
            format!("{}{mark}", in_words(ratio, detail, quantity.better() == Better::Higher))
        }
    }
}

/// A ratio of counts: a small difference as it is, since each is one. Counts that do not repeat have no interval, and
/// there is no ratio to a count of zero.
pub fn counts_ratio(ratio: Option<&Ratio>, difference: Option<Difference>) -> String {
    const SMALL: f64 = 0.1;
    let Some(ratio) = ratio else {
        return match difference {
            Some(Difference::Slower) => "more".into(),
            Some(Difference::None(_)) => OPEN.trim_start().into(),
            Some(Difference::Faster) | None => "–".into(),
        };
    };
    let more = ratio.ratio - 1.0;
    let text = match ratio.ratio {
        1.0 => "equal".to_owned(),
        _ if more.abs() < SMALL => format!("{:+.3} %", more * 100.0),
        _ => units::ratio(ratio.ratio),
    };
    if ratio.interval.is_some() { text } else { format!("{text} ?") }
}

/// A ratio of times as it is or, where more is better, in words.
pub fn in_words(ratio: &Ratio, detail: Detail, words: bool) -> String {
    match words {
        false => with_interval(ratio, detail),
        true => {
            let (word, larger) =
                if ratio.ratio < 1.0 { ("faster", ratio.inverse()) } else { ("slower", *ratio) };
            let text = with_interval(&larger, detail);
            match text.split_once(' ') {
                Some((figure, interval)) => format!("{figure} {word} {interval}"),
                None => format!("{text} {word}"),
            }
        }
    }
}

/// `2.29× (2.10–2.41)`.
pub fn with_interval(ratio: &Ratio, detail: Detail) -> String {
    let text = units::ratio(ratio.ratio);
    match ratio.interval.filter(|_| detail == Detail::Interval) {
        Some(interval) => {
            format!("{text} ({}–{})", units::significant(interval.low), units::significant(interval.high))
        }
        None => text,
    }
}
