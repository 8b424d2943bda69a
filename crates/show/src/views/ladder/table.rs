//! The ladder of a suite: each rung with its rate, what it gains over the rung it changes, what it survives, and a bar.

use std::collections::BTreeSet;

use dyno_record::FileRecord;
use dyno_verdict::{CellStanding, Ladder, RungVerdict, SafetyChange, Verdict};

use crate::figure;
use crate::grid::Grid;
use crate::headings;
use crate::plain::with_texts;
use crate::table_options::TableOptions;
use crate::views::published::table::sources;
use crate::{notes, units};

/// The width of the longest bar.
const BAR: usize = 12;

/// The ladders and their notes; nothing of a suite without rungs.
pub fn tables(verdict: &Verdict, options: TableOptions) -> Vec<String> {
    let ladders = &verdict.views.ladders;
    let mut parts: Vec<String> =
        ladders.iter().map(|ladder| with_texts(&grid(verdict, ladder, true))).collect();
    if !ladders.is_empty() {
        let bars = [BARS.to_owned()];
        parts.push(notes::paragraph(&[&bars[..], &legend(verdict, options.notes)].concat()));
    }
    parts
}

/// True if the ladders show everything: there are some, and every contender is a rung.
pub fn shows_all(verdict: &Verdict) -> bool {
    let ladders = &verdict.views.ladders;
    let is_rung = |index| ladders.iter().flat_map(|ladder| &ladder.rungs).any(|rung| rung.contender == index);
    !ladders.is_empty() && verdict.shown_contenders().all(|(index, _)| is_rung(index))
}

/// A ladder as rows of text; with bars for the terminal.
pub fn grid(verdict: &Verdict, ladder: &Ladder, bars: bool) -> Grid {
    let is_published = ladder.rungs.iter().any(|rung| rung.published.is_some());
    let title = verdict.test(&ladder.test).map_or("", |test| &test.title);
    let mut header = ["", if bars { "rung" } else { title }, "survives", "rows/s", "gain", "over"]
        .map(String::from)
        .to_vec();
    if bars {
        header.push(" ".repeat(BAR));
    }
    if is_published {
        header.push("published".into());
    }
    let longest = longest(verdict, ladder);
    let rows = ladder.rungs.iter().enumerate().map(|(index, rung)| {
        let mut row = vec![
            (index + 1).to_string(),
            rung.name.clone(),
            headings::level_name(&verdict.contenders[rung.contender]),
        ];
        row.extend([rate(verdict, ladder, rung), gain(rung), over(rung)]);
        if bars {
            row.push(bar(rung, rung.over.and_then(|over| ladder.rungs[over].rate), longest));
        }
        if is_published {
            row.push(rung.published.map_or("–".into(), units::rate));
        }
        row
    });
    Grid { header, rows: rows.collect() }
}

/// Refers to the other notes.
const MORE: &str = "`dyno show --notes [FILE]` adds what each rung changes and survives, and disturbances.";

/// The meaning of the bars.
const BARS: &str = "A bar is as long as the rate: █ as fast as the rung under 'over', ▒ gained, · lost; → goes on beyond the width.";

/// The meaning of the figures and the marks, and everything that went wrong. With `all`, also the change and the safety
/// of each rung, and the number of disturbed blocks.
fn legend(verdict: &Verdict, all: bool) -> Vec<String> {
    let rungs = || verdict.views.ladders.iter().flat_map(|ladder| &ladder.rungs);
    let mut lines: Vec<String> = verdict.about.suite.file.iter().map(imported).collect();
    lines.push(
        "Rows a second are those of the median time. A gain says how many times as fast a rung is as the rung whose \
         number is in the column 'over', with its 95% interval."
            .to_owned(),
    );
    lines.extend(notes::no_difference(
        rungs().filter_map(|rung| rung.difference),
        verdict.about.schedule.margin,
    ));
    if rungs().any(is_traded) {
        lines.push(
            "‡ the two rungs are not equally safe: the rung gains speed for safety, or pays for it".into(),
        );
    }
    lines.extend(notes::fastest_mark(verdict));
    lines.extend(notes::figure_marks(verdict));
    let safeties_of = verdict.shown_contenders().filter_map(|(_, contender)| contender.safety.as_ref());
    let caveats: BTreeSet<&String> = safeties_of.filter_map(|safety| safety.caveat.as_ref()).collect();
    lines.extend(caveats.into_iter().map(|caveat| format!("† {caveat}")));
    if let Some(ladder) = verdict.views.ladders.first().filter(|_| all) {
        lines.extend(rungs_of(verdict, ladder));
        lines.extend(safeties(verdict, ladder));
    }
    lines.extend(notes::versions(verdict));
    if rungs().any(|rung| rung.published.is_some()) {
        lines.extend(sources(verdict));
    }
    lines.extend(notes::left_out(verdict));
    lines.extend(if all {
        notes::disturbances(verdict)
    } else {
        notes::noisy(verdict).into_iter().collect()
    });
    lines.extend(notes::troubles(verdict));
    lines.extend((!all).then(|| MORE.to_owned()));
    lines
}

/// The user's file.
fn imported(file: &FileRecord) -> String {
    let FileRecord { path, records, bytes, crc32 } = file;
    let size = units::bytes(*bytes as f64);
    format!("Imported: {}, {records} records, {size}, CRC-32 {crc32:08x}.", path.display())
}

/// The change that each rung makes.
pub fn rungs_of(verdict: &Verdict, ladder: &Ladder) -> Vec<String> {
    let line = |(index, rung): (usize, &RungVerdict)| {
        let label = verdict.label(rung.contender);
        format!("{} {} ({label}): {}", index + 1, rung.name, rung.shows)
    };
    ladder.rungs.iter().enumerate().map(line).collect()
}

/// The safety of rungs, each level with the numbers of the rungs that have it.
fn safeties(verdict: &Verdict, ladder: &Ladder) -> Vec<String> {
    let mut known: Vec<(String, Vec<String>)> = Vec::new();
    for (index, rung) in ladder.rungs.iter().enumerate() {
        let contender = &verdict.contenders[rung.contender];
        if contender.harness {
            continue;
        }
        let (text, number) = (notes::safety(contender), (index + 1).to_string());
        match known.iter_mut().find(|(other, _)| *other == text) {
            Some((_, numbers)) => numbers.push(number),
            None => known.push((text, vec![number])),
        }
    }
    known.into_iter().map(|(text, numbers)| format!("{}: {text}", numbers.join(", "))).collect()
}

fn rate(verdict: &Verdict, ladder: &Ladder, rung: &RungVerdict) -> String {
    let cell = verdict.test(&ladder.test).and_then(|test| test.cell(rung.contender));
    let marks = cell.map(figure::marks).unwrap_or_default();
    rung.rate.map_or("failed".into(), |rate| format!("{}{marks}", units::rate(rate)))
}

/// `2.29×` with its marks.
pub fn short_gain(rung: &RungVerdict) -> String {
    gain_with(rung, figure::Detail::Ratio)
}

fn gain(rung: &RungVerdict) -> String {
    gain_with(rung, figure::Detail::Interval)
}

fn gain_with(rung: &RungVerdict, detail: figure::Detail) -> String {
    let Some(gain) = &rung.gain else {
        return if rung.over.is_some() { "–".into() } else { String::new() };
    };
    let traded = if is_traded(rung) { " ‡" } else { "" };
    format!("{}{}{traded}", figure::with_interval(gain, detail), figure::mark_of(rung.difference))
}

fn over(rung: &RungVerdict) -> String {
    rung.over.map_or(String::new(), |over| (over + 1).to_string())
}

fn is_traded(rung: &RungVerdict) -> bool {
    rung.gain.is_some() && matches!(rung.safety, Some(SafetyChange::Lower | SafetyChange::Higher))
}

/// The rate of the longest bar: the fastest rung's that inserts anything.
fn longest(verdict: &Verdict, ladder: &Ladder) -> f64 {
    let inserting = ladder.rungs.iter().filter(|rung| !verdict.contenders[rung.contender].harness);
    inserting.filter_map(|rung| rung.rate).fold(0.0, f64::max)
}

/// A bar as long as the rate: dark what the rung compared with has too, lighter what is gained over it, dotted what is
/// lost. One that is longer than there is room ends in an arrow.
fn bar(rung: &RungVerdict, other: Option<f64>, longest: f64) -> String {
    let Some(own) = rung.rate.filter(|_| {
        longest > 0.0 && !matches!(rung.standing, CellStanding::Wrong(_) | CellStanding::Disputed(_))
    }) else {
        return " ".repeat(BAR);
    };
    if own > longest {
        return format!("{}→", "█".repeat(BAR - 1));
    }
    let length = |rate: f64| ((rate / longest * BAR as f64).round() as usize).min(BAR);
    let (own, other) = (length(own).max(1), length(other.unwrap_or(own)));
    let dark = own.min(other.max(1));
    let dots = other.saturating_sub(own);
    format!(
        "{}{}{}{}",
        "█".repeat(dark),
        "▒".repeat(own - dark),
        "·".repeat(dots),
        " ".repeat(BAR - own - dots)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(own: f64, other: Option<f64>) -> String {
        let rung = RungVerdict {
            name: "r".into(),
            shows: String::new(),
            contender: 0,
            standing: CellStanding::Counts,
            rate: Some(own),
            interval: None,
            extrapolated: false,
            over: None,
            gain: None,
            difference: None,
            level: None,
            safety: None,
            published: None,
            published_gain: None,
        };
        bar(&rung, other, 120.0)
    }

    #[test]
    fn a_bar_shows_what_is_gained_and_lost() {
        assert_eq!(drawn(60.0, None), "██████      ");
        assert_eq!(drawn(60.0, Some(30.0)), "███▒▒▒      ");
        assert_eq!(drawn(60.0, Some(120.0)), "██████······");
        assert_eq!(drawn(0.1, Some(0.1)), "█           ");
        assert_eq!(drawn(500.0, None), "███████████→");
    }
}
