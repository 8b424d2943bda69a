//! The claims of a run under changed circumstances, as text.

use dyno_record::Circumstances;
use dyno_verdict::{Challenge, ChallengedOrder, ClaimedOrder};
use serde::Serialize;

use crate::report::words::counted;
use crate::units::{ratio, whole};
use crate::wrapped;

/// A changed run: its file, and what it was given that should not matter.
#[derive(Debug, Clone, Serialize)]
pub struct ChangedRun {
    /// Its file.
    pub file: String,
    /// The seed of the order of its trials.
    pub seed: u64,
    /// The CPUs of its runners.
    pub cpus: String,
    /// The folder of its databases, without what the circumstances added.
    pub folder: String,
    /// The other changes.
    #[serde(flatten)]
    pub circumstances: Circumstances,
}

/// The counts of each claim about a mean, the tests whose claims did not survive in all runs, and what the counts do
/// not show.
pub fn render(challenge: &Challenge, runs: &[ChangedRun]) -> String {
    let suite = &challenge.suite;
    let mut text = format!("{suite}: {}\n", counted(challenge.runs, "changed run"));
    let paragraph = |text: &mut String, line: &str| {
        text.push('\n');
        text.push_str(&wrapped(line, "", "  "));
        text.push('\n');
    };
    if challenge.means.is_empty() && challenge.tests.is_empty() {
        paragraph(&mut text, "The run claims no order, so there is nothing to challenge.");
        return text;
    }
    if challenge.means.is_empty() {
        paragraph(&mut text, "The run claims no order in the mean.");
    }
    challenge.means.iter().for_each(|order| paragraph(&mut text, &sentence(order, runs)));
    let whole: Vec<&ChallengedOrder> =
        challenge.tests.iter().filter(|order| order.survived() == challenge.runs).collect();
    let rest = challenge.tests.iter().filter(|order| order.survived() < challenge.runs);
    if !challenge.tests.is_empty() {
        paragraph(
            &mut text,
            &format!(
                "Of {} of the run in single tests, {} survived in all changed runs.",
                counted(challenge.tests.len(), "claim"),
                whole.len()
            ),
        );
    }
    rest.for_each(|order| paragraph(&mut text, &sentence(order, runs)));
    NOTES.iter().for_each(|note| paragraph(&mut text, note));
    text
}

/// The meaning of the counts, and their limits.
const NOTES: [&str; 2] = [
    "Changed were the size of the runners' environment, whether the kernel puts their memory at random addresses, the order of \
     the trials, the folder of the databases, and the CPUs where there are several to choose from. All of these change at once \
     from run to run, so a count does not say which of them matters.",
    "\"Not shown\" is no sign that the two are equal: shorter runs show less. An order that survives here may still be due to \
     what did not change: this machine, these builds, the layout of servers' own processes, this work.",
];

/// `a faster than b in the mean (0.72×): in 18 of 20 changed runs; turned round in 0; not shown in 2.`
fn sentence(order: &ChallengedOrder, runs: &[ChangedRun]) -> String {
    let ChallengedOrder { contender, baseline, .. } = order;
    let order_of = match order.claimed {
        ClaimedOrder::Faster => "faster",
        ClaimedOrder::Slower => "slower",
    };
    let place = order.test.as_ref().map_or("in the mean".to_owned(), |test| format!("in test {test}"));
    let mut text = format!(
        "{contender} {order_of} than {baseline} {place} ({}): in {} of {}; turned round in {}; not shown in {}.",
        ratio(order.ratio),
        order.survived(),
        counted(order.outcomes.len(), "changed run"),
        order.turned(),
        order.not_shown()
    );
    if let Some((least, most)) = order.range() {
        text.push_str(&format!(" Its ratios there were {} to {}.", ratio(least), ratio(most)));
    }
    let turned = order
        .outcomes
        .iter()
        .zip(runs)
        .find(|(outcome, _)| outcome.shown.is_some_and(|shown| shown != order.claimed));
    if let Some((_, run)) = turned {
        text.push_str(&format!(" Turned round, for one, with {}.", in_words(run)));
    }
    text
}

fn in_words(run: &ChangedRun) -> String {
    let Circumstances { environment_bytes, fixed_addresses, .. } = run.circumstances;
    format!(
        "an environment longer by {} bytes, {} addresses, CPU {}, seed {}, in {}",
        whole(environment_bytes.into()),
        if fixed_addresses { "fixed" } else { "random" },
        run.cpus,
        run.seed,
        run.folder
    )
}
