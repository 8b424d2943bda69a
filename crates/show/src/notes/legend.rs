//! The meaning of figures and marks.

use dyno_record::ContenderRecord;
use dyno_verdict::statistics::{Difference, NoDifference};
use dyno_verdict::{CellStanding, Verdict};

use super::contenders::{builds, caveats, everything, left_out, versions};
use super::troubles::{disturbances, harness, noisy, troubles, unsealed};
use super::turns::turns;
use crate::views::{self, encryption::proofs};
use crate::{grid, units};

/// The meaning of figures and marks for readers who make a decision, and everything that went wrong. With `all`, also
/// notes that most readers do not need: settings, how each level is known, disturbances, the cost of measuring.
pub fn legend(verdict: &Verdict, all: bool) -> Vec<String> {
    let mut lines = Vec::new();
    if all {
        lines.extend([figures(verdict), LEVELS.to_owned()]);
        lines.extend(isolation(verdict));
        lines.extend(sizes(verdict));
    } else {
        lines.push(in_short(verdict));
    }
    lines.extend(marks(verdict));
    if all {
        lines.extend(everything(verdict));
        lines.extend(proofs::proofs(verdict));
    } else {
        lines.extend(versions(verdict));
        lines.extend(proofs::unproved(verdict));
        lines.extend(proofs::proved(verdict));
    }
    lines.extend(builds(verdict));
    lines.extend(left_out(verdict));
    lines.extend(turns(verdict, all));
    lines.extend(if all { disturbances(verdict) } else { noisy(verdict).into_iter().collect() });
    lines.extend(troubles(verdict));
    lines.extend(unsealed(verdict));
    lines.extend(harness(verdict).filter(|_| all));
    lines.extend(detectable(verdict));
    lines.extend(calibrated(verdict));
    lines.extend(views::notes(verdict));
    lines.extend((!all).then(|| MORE.to_owned()));
    lines
}

/// Refers to the other notes.
const MORE: &str = "`dyno show --notes` explains the figures and levels and adds settings, what each contender survives and why, and disturbances.";

/// Explains figures and marks, for a page that shows contenders and problems elsewhere.
pub fn reading(verdict: &Verdict) -> Vec<String> {
    let mut lines = vec![figures(verdict)];
    lines.extend(marks(verdict));
    lines.extend(builds(verdict));
    lines.extend(left_out(verdict));
    lines.extend(turns(verdict, true));
    lines.extend(disturbances(verdict));
    lines.extend(unsealed(verdict));
    lines.extend(harness(verdict));
    lines.extend(detectable(verdict));
    lines.extend(calibrated(verdict));
    lines
}

/// The meaning of the name of a level next to a contender.
const LEVELS: &str = "A commit survives a power cut (power-loss), only a crash of the process (process-crash), or neither: a \
     crash takes the newest commits (newest lost), or may take or ruin everything (none).";

/// The differences that the machine can show, if `dyno calibrate` measured them before the run.
fn calibrated(verdict: &Verdict) -> Option<String> {
    let found = verdict.about.calibration.as_ref().filter(|_| verdict.contenders.len() > 1)?;
    // A calibration with another suite says nothing about these tests.
    if found.suite != verdict.about.suite.name {
        return None;
    }
    let slower = found.found.iter().filter(|found| (0.03..0.1).contains(&found.slowdown));
    let slower = slower
        .map(|found| format!("{} slower in {}", units::percent(found.slowdown), units::percent(found.share)));
    let offsets = found.offsets.map(|offsets| {
        format!(
            " Copies of its library under other names differed by {} by the mean and {} in a test (standard deviation), which \
             no interval covers.",
            units::percent(offsets.by_mean),
            units::percent(offsets.by_test)
        )
    });
    Some(format!(
        "Calibrated here on {} with {} of {}: of runs of two contenders that take {} s, the mean finds {}, and equals are called \
         different anywhere in the table in {}.{}",
        found.started.get(..10).unwrap_or(&found.started),
        found.contender,
        found.suite,
        found.seconds,
        slower.collect::<Vec<_>>().join(", "),
        units::percent(found.alarms),
        offsets.unwrap_or_default()
    ))
}

/// The meaning of the name of an isolation level next to a contender, if there are any.
fn isolation(verdict: &Verdict) -> Option<String> {
    grid::ranks_by_isolation(verdict).then(|| {
        "Transactions at the same time see of one another what is committed at each statement (read-committed), the same \
         rows whenever they read (repeatable-read), one state of the database (snapshot), or nothing (serializable). dyno \
         ranks only contenders with the same isolation."
            .to_owned()
    })
}

/// The meaning of a commit size next to a contender, if there are any.
fn sizes(verdict: &Verdict) -> Option<String> {
    grid::ranks_by_commits(verdict).then(|| {
        "Larger commits are faster: dyno ranks only contenders that commit as many operations at a time (per_commit), so \
         many or all of a test."
            .to_owned()
    })
}

/// The meaning of figures and ratios, for readers who know them.
fn in_short(verdict: &Verdict) -> String {
    let spread = "± the typical scatter of the samples.";
    match verdict.shown_contenders().count() {
        0 | 1 => spread.to_owned(),
        _ if grid::shows_rates(verdict) => {
            format!("{spread} 2.00× slower takes twice the time of {}.", verdict.label(verdict.baseline))
        }
        _ => format!("{spread} 0.50× takes half the time of {}.", verdict.label(verdict.baseline)),
    }
}

/// The meaning of figures and ratios.
fn figures(verdict: &Verdict) -> String {
    let median =
        "Each figure is a median ± the typical scatter of the samples (1.48 × the median distance from it).";
    let ratio = match grid::shows_rates(verdict) {
        true => "2.00× slower takes twice the time, so does half as much in a second",
        false => "0.50× means half the time",
    };
    match verdict.shown_contenders().count() {
        0 | 1 => median.to_owned(),
        _ => format!(
            "{median} A ratio compares times with {}: {ratio}. It is formed within blocks, so it may differ from that of two \
             medians. Its 95 % interval follows where there is room.",
            verdict.label(verdict.baseline)
        ),
    }
}

/// The marks that are used in this table.
fn marks(verdict: &Verdict) -> Vec<String> {
    let cells = || grid::cells(verdict);
    let mut lines: Vec<String> = fastest_mark(verdict).into_iter().collect();
    let means = verdict.summaries.iter().filter(|mean| mean.same_level).map(|mean| mean.difference);
    let margin = verdict.about.schedule.margin;
    lines.extend(no_difference(cells().map(|cell| cell.difference).chain(means).flatten(), margin));
    lines.extend(figure_marks(verdict));
    if verdict.summaries.iter().any(|summary| summary.geometric_mean.is_some() && !summary.same_level) {
        let or_size =
            if grid::ranks_by_commits(verdict) { ", or commits more or less at a time" } else { "" };
        let or_apart =
            if grid::ranks_by_isolation(verdict) { ", or keeps transactions apart more or less" } else { "" };
        let mut kinds = verdict.shown_contenders().map(|(index, _)| verdict.processes(index));
        let first = kinds.next();
        let or_kind = if kinds.any(|kind| Some(kind) != first) {
            ", or its clients are processes where those of the other are threads"
        } else {
            ""
        };
        let is_known = |(index, contender): (usize, &ContenderRecord)| {
            contender.harness || verdict.classes[index].is_some()
        };
        let or_unknown = if verdict.shown_contenders().all(is_known) { "" } else { ", or nobody knows" };
        lines.push(format!(
            "‡ safer or less safe than {}{or_size}{or_apart}{or_kind}{or_unknown}: this ratio is a price, and ranks nobody",
            verdict.label(verdict.baseline)
        ));
    }
    if verdict.views.overheads.iter().any(|overhead| !overhead.same_level) {
        lines.push(
            "‡ over one without encryption that is safer or less safe: there is none that is equally safe, so a part of the \
             price is that of safety"
                .to_owned(),
        );
    }
    lines.extend(caveats(verdict));
    lines
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
    let close = close.map(|why| {
        format!("≈ no difference is shown, and the two are close: {why} ({})", units::percent(margin))
    });
    let open = open.map(|why| format!("? the trials do not show which is faster: {why}"));
    close.into_iter().chain(open).collect()
}

/// The smallest difference that the run could have shown, and the variation that its intervals do not cover.
fn detectable(verdict: &Verdict) -> Option<String> {
    let found = verdict.detectable?;
    let factor = |factor: f64| units::percent(factor - 1.0);
    let parts = [
        found.mean.map(|mean| format!("{} in the mean", factor(mean))),
        found.test.map(|test| format!("{} in a test", factor(test))),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    Some(format!(
        "With this scatter, four of five runs like this one would show a difference of {}. The intervals do not cover what all \
         blocks share, such as where a library was loaded, nor a memory from one block to the next: another run, or copies \
         under other names, show that.",
        parts.join(", or of ")
    ))
}

/// The meaning of the mark of the fastest, if it is used.
pub fn fastest_mark(verdict: &Verdict) -> Option<String> {
    let is_used = grid::cells(verdict).any(|cell| cell.fastest);
    is_used.then(|| {
        format!(
            "* fastest among {}: every other one is shown to be slower by more than {}, with all comparisons of the table \
             counted",
            match (grid::ranks_by_commits(verdict), grid::ranks_by_isolation(verdict)) {
                (true, _) => "those equally safe that commit as much",
                (_, true) => "those equally safe with the same isolation",
                _ => "contenders equally safe",
            },
            units::percent(verdict.about.schedule.margin),
        )
    })
}

/// The meaning of the marks of figures that are derived or wrong.
pub fn figure_marks(verdict: &Verdict) -> Vec<String> {
    let cells = || grid::cells(verdict);
    let mut lines = Vec::new();
    if cells().any(|cell| cell.figures.extrapolated) {
        lines.push(
            "~ dyno timed only the first operations, each with a commit of its own, and multiplied: this flatters a \
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
            "§ most of these operations were quick, and a few waited long for those of other clients: more than half of the \
             clients' time lies beyond this figure ({}). It hides how long a client waits, so dyno does not rank it; --rate \
             or --sustain tells how long users wait",
            found.join("; ")
        )
    })
}
