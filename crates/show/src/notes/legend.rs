//! The meaning of figures and marks.

use dyno_verdict::Verdict;

use super::contenders::{builds, everything, left_out, versions};
use super::marks::marks;
use super::troubles::{disturbances, harness, noisy, troubles, unsealed};
use super::turns::turns;
use crate::views::{self, encryption::proofs};
use crate::{grid, headings, units};

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
const MORE: &str = "`dyno show --notes [FILE]` explains the figures and levels and adds settings, what each contender survives and why, and disturbances.";

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
    let offsets = found.offsets.map(|offsets| match (offsets.by_mean, offsets.by_test) {
        (0.0, 0.0) => " Copies of its library under other names were not shown to differ.".to_owned(),
        _ => format!(
            " Copies of its library under other names differed by {} by the mean and {} in a test (standard deviation), which \
             no interval covers.",
            units::percent(offsets.by_mean),
            units::percent(offsets.by_test)
        ),
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
    headings::ranks_by_isolation(verdict).then(|| {
        "Transactions at the same time see of one another what is committed at each statement (read-committed), the same \
         rows whenever they read (repeatable-read), one state of the database (snapshot), or nothing (serializable). dyno \
         ranks only contenders with the same isolation."
            .to_owned()
    })
}

/// The meaning of a commit size next to a contender, if there are any.
fn sizes(verdict: &Verdict) -> Option<String> {
    headings::ranks_by_commits(verdict).then(|| {
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
             medians. Its 95% interval follows where there is room.",
            verdict.label(verdict.baseline)
        ),
    }
}

/// The smallest difference that the run could have shown, and the variation that its intervals do not cover.
fn detectable(verdict: &Verdict) -> Option<String> {
    let found = verdict.detectable?;
    let parts = [
        found.mean.map(|mean| format!("{} in the mean", units::excess(mean))),
        found.test.map(|test| format!("{} in a test", units::excess(test))),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    Some(format!(
        "With this scatter, four of five runs like this one would show a difference of {}. The intervals do not cover effects \
         that all blocks share, such as where a library was loaded, or that carry over from one block to the next: another \
         run, or copies under other names, show these.",
        parts.join(", or of ")
    ))
}
