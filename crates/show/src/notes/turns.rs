//! Interleaving within blocks: the contenders that took turns, and the reasons why others did not.

use dyno_verdict::Verdict;

/// The contenders that took turns; with `all`, also why the others did not. Empty if none did, and for runs from before
/// there were turns.
pub fn turns(verdict: &Verdict, all: bool) -> Vec<String> {
    let mut together = Vec::new();
    let mut reading = Vec::new();
    let mut apart = Vec::new();
    for (index, contender) in verdict.shown_contenders() {
        let label = verdict.label(index);
        match (&contender.apart, &contender.apart_writing) {
            (Some(why), _) => apart.push(format!("Took no turns: {label}, because {why}.")),
            (None, Some(why)) => {
                apart.push(format!("Took no turns in tests that write: {label}, because {why}."));
                reading.push(label);
            }
            (None, None) => together.push(label),
        }
    }
    if !verdict.about.schedule.turns || verdict.about.blocks == 0 {
        return Vec::new();
    }
    let took = [("within each block", together), ("in tests that only read", reading)];
    let took = took.into_iter().filter(|(_, labels)| !labels.is_empty());
    let took = took.map(|(place, labels)| format!("Took turns {place}: {}.", labels.join(", ")));
    took.chain(apart.into_iter().filter(|_| all)).collect()
}
