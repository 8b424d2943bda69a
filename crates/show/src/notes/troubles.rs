//! Disturbances of the run, failures, and the cost of measuring.

use dyno_record::Seals;
use dyno_verdict::statistics::MIN_BLOCKS;
use dyno_verdict::{CellStanding, Disturbances, MOST_FOREIGN, Verdict};

use crate::units;

/// A warning for readers of small differences: the figures rest on disturbed blocks.
pub fn noisy(verdict: &Verdict) -> Option<String> {
    let disturbances = &verdict.disturbances;
    // It looks at the machine of dyno, where nothing was measured if agents drove the clients.
    let advice = if verdict.about.generators.is_empty() { "; `dyno doctor` shows what disturbs" } else { "" };
    disturbances.rests_on_disturbed().then(|| {
        format!(
            "Disturbed: in {} others took more than {} of the measured CPUs' time. Fewer than {MIN_BLOCKS} blocks would \
             remain without them, so the figures include them. Do not rely on small differences{advice}.",
            blocks(verdict),
            units::percent(MOST_FOREIGN)
        )
    })
}

/// The number of disturbed blocks, and whether they were left out.
pub fn disturbances(verdict: &Verdict) -> Vec<String> {
    let disturbances = &verdict.disturbances;
    let left_out = disturbances.left_out.then(|| {
        format!(
            "Disturbed: in {} others took more than {} of the measured CPUs' time. They are left out for all contenders.",
            blocks(verdict),
            units::percent(MOST_FOREIGN)
        )
    });
    let unknown = (!disturbances.reported && disturbances.blocks > 0).then(|| {
        "Disturbed: the run file does not say what others took of the measured CPUs, so no block is left out.".to_owned()
    });
    noisy(verdict).into_iter().chain(left_out).chain(unknown).collect()
}

/// CPU time that other processes took of the measured CPUs, as a fact of the run.
pub fn others(verdict: &Verdict) -> String {
    let disturbances = &verdict.disturbances;
    if !disturbances.reported {
        return "unknown: the run file does not say".to_owned();
    }
    format!(
        "other processes took {} of the measured CPUs' time, and the host {} (steal)",
        units::percent(disturbances.foreign),
        units::percent(disturbances.stolen)
    )
}

/// The number of disturbed blocks, out of all.
fn blocks(verdict: &Verdict) -> String {
    let Disturbances { blocks, disturbed, .. } = &verdict.disturbances;
    format!("{} of {blocks} blocks", disturbed.len())
}

/// A warning if the seals show that the run file was changed after it was written.
fn seals(verdict: &Verdict) -> Option<String> {
    let seals = verdict.about.seals;
    matches!(seals, Seals::Broken { .. }).then(|| format!("The run file {seals}."))
}

/// That the run file has no seals, where it has none.
pub fn unsealed(verdict: &Verdict) -> Option<String> {
    let seals = verdict.about.seals;
    (seals == Seals::Missing).then(|| format!("The run file {seals}."))
}

/// A run file that is not as it was written, wrong answers and failures, each once.
pub fn troubles(verdict: &Verdict) -> Vec<String> {
    let mut lines: Vec<String> = seals(verdict).into_iter().collect();
    for test in &verdict.tests {
        for cell in &test.cells {
            let (what, why) = match &cell.standing {
                CellStanding::Wrong(why) => ("Wrong", why),
                CellStanding::Disputed(why) => ("Disputed, because no answer is known to be right", why),
                CellStanding::WeakGenerator(why) => {
                    ("Not judged, because a machine that drove clients was the limit", why)
                }
                _ => continue,
            };
            lines.push(format!("{what}: {} in test {}: {why}", verdict.label(cell.contender), test.id));
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

/// The cost of the harness itself.
pub fn harness(verdict: &Verdict) -> Option<String> {
    let (test, operation) = verdict.cost_of_measuring()?;
    Some(format!(
        "Measuring itself takes at most {} a test, {} an operation, as the null runner shows; dyno claims no \
         smaller difference.",
        units::duration(test),
        units::duration(operation)
    ))
}
