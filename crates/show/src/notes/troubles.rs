//! What disturbed the run, what failed, and what measuring itself costs.

use dyno_verdict::statistics::MIN_BLOCKS;
use dyno_verdict::{CellStanding, Verdict};

use crate::units;

/// So many contenders get a sentence each.
const FEW: usize = 3;

/// How many figures rest on disturbed samples: what a reader must know before trusting small differences.
pub fn noisy(verdict: &Verdict) -> Option<String> {
    let (resting, all) = (verdict.disturbances.resting, verdict.disturbances.figures);
    let (include, they) = if resting == 1 { ("includes", "it") } else { ("include", "they") };
    (resting > 0).then(|| {
        format!(
            "Disturbed: {resting} of {all} figures {include} samples that waited for a processor, because {they} had \
             fewer than {MIN_BLOCKS} others. Do not rely on small differences there; `dyno doctor` shows what disturbs."
        )
    })
}

/// How many samples were disturbed, and where figures rest on them.
pub fn disturbances(verdict: &Verdict) -> Vec<String> {
    let (mut lines, mut counts) = (Vec::new(), Vec::new());
    for found in verdict.disturbances.contenders.iter().filter(|found| found.disturbed > 0) {
        let (disturbed, samples, label) = (found.disturbed, found.samples, verdict.label(found.contender));
        counts.push(format!("{disturbed} of {samples} of {label}"));
        let rest = if found.resting.is_empty() {
            "left out of the figures".to_owned()
        } else {
            let tests = match found.resting.len() {
                1 => format!("test {}", found.resting[0]),
                2..=4 => format!("tests {}", found.resting.join(", ")),
                many => format!("{many} tests"),
            };
            format!("left out, but kept in {tests}, which otherwise had fewer than {MIN_BLOCKS} samples")
        };
        lines.push(format!(
            "Disturbed: {disturbed} of {samples} samples of {label} waited for a processor for more than 3 % of their \
             time; {rest}."
        ));
    }
    if lines.len() <= FEW {
        return lines;
    }
    vec![format!(
        "Disturbed: samples that waited for a processor for more than 3 % of their time: {}. They are left out \
         of the figures, but kept where fewer than {MIN_BLOCKS} others remain.",
        counts.join("; ")
    )]
}

/// Wrong answers and failures, each once.
pub fn troubles(verdict: &Verdict) -> Vec<String> {
    let mut lines = Vec::new();
    for test in &verdict.tests {
        for cell in &test.cells {
            if let CellStanding::Wrong(why) = &cell.standing {
                lines.push(format!("Wrong: {} in test {}: {why}", verdict.label(cell.contender), test.id));
            }
        }
    }
    for failures in verdict.failures.iter().filter(|failures| verdict.contenders[failures.contender].named) {
        let place = failures.test.as_ref().map(|test| format!(" in test {test}")).unwrap_or_default();
        lines.push(format!(
            "Failed: {} of {} trials of {}{place}: {}",
            failures.failed,
            failures.trials,
            verdict.label(failures.contender),
            failures.message
        ));
    }
    lines
}

/// What the harness itself costs.
pub fn harness(verdict: &Verdict) -> Option<String> {
    let (test, operation) = verdict.cost_of_measuring()?;
    Some(format!(
        "Measuring itself takes at most {} a test, {} an operation, as the null runner shows; dyno claims no \
         smaller difference.",
        units::duration(test),
        units::duration(operation)
    ))
}
