//! The meaning of the marks in cells.

use std::collections::BTreeSet;

use dyno_record::Class;
use dyno_verdict::statistics::{Difference, NoDifference};
use dyno_verdict::{CellStanding, Verdict};

use super::contenders::caveats;
use crate::{grid, headings, units};

/// The marks that are used in this table.
pub fn marks(verdict: &Verdict) -> Vec<String> {
    let cells = || grid::cells(verdict);
    let mut lines: Vec<String> = fastest_mark(verdict).into_iter().collect();
    let means = verdict.summaries.iter().map(|mean| mean.difference);
    let margin = verdict.about.schedule.margin;
    lines.extend(no_difference(cells().map(|cell| cell.difference).chain(means).flatten(), margin));
    lines.extend(figure_marks(verdict));
    lines.extend(unequal_mark(verdict));
    if verdict.views.overheads.iter().any(|overhead| !overhead.same_level) {
        lines.push(
            "‡ over one without encryption that is not ranked with it, because the two differ in safety or in what else decides \
             a rank: a part of the price is not that of encryption"
                .to_owned(),
        );
    }
    lines.extend(caveats(verdict));
    lines
}

/// The meaning of ‡ next to a mean, if it occurs: in what these contenders and the baseline are not equals.
fn unequal_mark(verdict: &Verdict) -> Option<String> {
    let marked = verdict.summaries.iter().filter(|mean| mean.geometric_mean.is_some() && !mean.same_level);
    let marked: Vec<Option<Class>> = marked.map(|mean| verdict.classes[mean.contender]).collect();
    let own = verdict.classes[verdict.baseline];
    let differ = |of: fn(&Class, &Class) -> bool| {
        let mut pairs = marked.iter().filter_map(|class| class.zip(own));
        pairs.any(|(one, other)| of(&one, &other))
    };
    let label = verdict.label(verdict.baseline);
    let safety = |one: &Class, other: &Class| {
        (one.level, one.consistent, one.hole, one.nodes_lost)
            != (other.level, other.consistent, other.hole, other.nodes_lost)
    };
    let prices = [
        (differ(safety), format!("safer or less safe than {label}")),
        (
            differ(|one, other| one.commits != other.commits),
            format!("has commits of another size than {label}"),
        ),
        (
            differ(|one, other| one.isolation != other.isolation),
            format!("has another isolation level than {label}"),
        ),
        (
            differ(|one, other| one.stale_reads != other.stale_reads),
            format!("its reads may be old where those of {label} may not, or the reverse"),
        ),
        (marked.iter().any(Option::is_none) || own.is_none(), "its level is not known".to_owned()),
    ];
    let others = [
        (
            differ(|one, other| one.processes != other.processes),
            format!("its clients are processes where those of {label} are threads, or the reverse"),
        ),
        (
            differ(|one, other| one.load != other.load),
            format!("its operations arrive in another way than those of {label}"),
        ),
        (
            differ(|one, other| one.node_delay_ns != other.node_delay_ns),
            format!("the delay between its nodes is not that of {label}"),
        ),
        (differ(|one, other| one.cache != other.cache), format!("has a cache of another size than {label}")),
        (
            differ(|one, other| one.tuning != other.tuning),
            format!("is tuned where {label} is not, or the reverse"),
        ),
    ];
    let is_price = prices.iter().any(|(differs, _)| *differs);
    let said: Vec<String> =
        prices.into_iter().chain(others).filter(|(differs, _)| *differs).map(|(_, words)| words).collect();
    let rest = match is_price {
        true => "the ratio shows a price, and dyno does not rank the two",
        false => "dyno does not rank the two",
    };
    (!marked.is_empty()).then(|| format!("‡ {}: {rest}", said.join(", or ")))
}

/// The meaning of ≈ and ? among these comparisons, if they occur.
pub fn no_difference(differences: impl Iterator<Item = Difference>, margin: f64) -> Vec<String> {
    let differences: Vec<Difference> = differences.collect();
    let occurs = |wanted: &NoDifference| differences.contains(&Difference::None(*wanted));
    let said = |wanted: &[NoDifference]| {
        let reasons: Vec<String> =
            wanted.iter().filter(|wanted| occurs(wanted)).map(NoDifference::to_string).collect();
        (!reasons.is_empty()).then(|| reasons.join(", or "))
    };
    let close = said(&[NoDifference::Close, NoDifference::WithinHarnessCost]);
    let open = said(&[NoDifference::WithinInterval, NoDifference::WithinTable, NoDifference::TooFewSamples]);
    let of = match occurs(&NoDifference::Close) {
        true => format!(" ({})", units::percent(margin)),
        false => String::new(),
    };
    let close = close.map(|why| format!("≈ no difference is shown, and the two are close: {why}{of}"));
    let open = open.map(|why| format!("? the trials do not show which is faster: {why}"));
    close.into_iter().chain(open).collect()
}

/// The meaning of the mark of the fastest, if it is used.
pub fn fastest_mark(verdict: &Verdict) -> Option<String> {
    let is_used = grid::cells(verdict).any(|cell| cell.fastest);
    is_used.then(|| {
        format!(
            "* fastest among {} whose figures count: every other one is shown to be slower than one of them by \
             more than {}, with all comparisons of the table counted",
            match (headings::ranks_by_commits(verdict), headings::ranks_by_isolation(verdict)) {
                (true, _) => "contenders equally safe that commit as much",
                (_, true) => "contenders equally safe with the same isolation",
                _ => "contenders equally safe",
            },
            units::percent(verdict.about.schedule.margin),
        )
    })
}

/// The reason why differences of counts need no interval.
pub const COUNTS: &str =
    "Counts repeat to the digit, so each difference is one; ? marks those that do not repeat";

/// The meaning of the lines of events, if some were counted.
fn counts(verdict: &Verdict) -> Option<String> {
    let counts = verdict.tests.iter().flat_map(|test| &test.counts);
    let events: BTreeSet<String> = counts.map(|measure| measure.quantity.to_string()).collect();
    (!events.is_empty()).then(|| {
        let events = events.into_iter().collect::<Vec<_>>().join(", ");
        format!("{events}: what occurred in the timed section; fewer is better. {COUNTS}")
    })
}

/// The meaning of the marks of figures that are derived or wrong.
pub fn figure_marks(verdict: &Verdict) -> Vec<String> {
    let cells = || grid::cells(verdict);
    let mut lines: Vec<String> = counts(verdict).into_iter().collect();
    if cells().any(|cell| cell.figures.extrapolated) {
        lines.push(
            "~ dyno timed only the first operations, each with its own commit, and multiplied: this flatters a \
             store that slows down as it grows"
                .to_owned(),
        );
    }
    if cells().any(|cell| matches!(cell.standing, CellStanding::Wrong(_))) {
        lines.push("✗ a wrong answer: dyno does not rank this figure".to_owned());
    }
    if cells().any(|cell| matches!(cell.standing, CellStanding::Disputed(_))) {
        lines.push(
            "✗ a disputed answer: contenders differ, nothing says which is right, and dyno ranks none"
                .to_owned(),
        );
    }
    if cells().any(|cell| cell.failed && cell.counts()) {
        lines.push(
            "! trials failed here: the figure is of those that did not, which may be the quick ones, so dyno compares it with \
             none"
                .to_owned(),
        );
    }
    if cells().any(|cell| cell.standing == CellStanding::AtLeast) {
        lines.push(
            "≥ this share of the operations takes in some that had no success: the time is longer than the figure, so dyno does \
             not rank it"
                .to_owned(),
        );
    }
    if cells().any(|cell| matches!(cell.standing, CellStanding::WeakGenerator(_))) {
        lines.push(
            "⊘ a machine that drove the clients was the limit: the figure shows that machine and not the server, and dyno \
             does not rank it; take more hosts, or a lower rate"
                .to_owned(),
        );
    }
    lines.extend(uneven(verdict));
    lines
}

/// The percentiles that hide how long clients waited for one another.
fn uneven(verdict: &Verdict) -> Option<String> {
    let mut found = Vec::new();
    for test in &verdict.tests {
        let cells = || test.responses.iter().flat_map(|response| &response.cells);
        for (contender, record) in verdict.shown_contenders() {
            let beyond =
                cells().filter(|cell| cell.contender == contender).filter_map(|cell| match cell.standing {
                    CellStanding::Uneven(percent) => Some(percent),
                    _ => None,
                });
            let (Some(least), Some(most)) = (beyond.clone().min(), beyond.max()) else { continue };
            let range = if least == most { format!("{least} %") } else { format!("{least} to {most} %") };
            found.push(format!("{range} for {} in {}", record.label, test.id));
        }
    }
    (!found.is_empty()).then(|| {
        format!(
            "§ most of these operations were quick, and a few took long: more than half of the clients' time lies beyond \
             this figure ({}). It hides how long a client waits, for other clients or for a processor, so dyno does not rank \
             it; --rate or --sustain measures how long users wait",
            found.join("; ")
        )
    })
}
