//! Interleaving within blocks: the contenders that took turns, and the reasons why others did not.

use dyno_verdict::Verdict;

/// The contenders that took turns; with `all`, also why the others did not. Empty if none did, and for runs from before
/// there were turns.
pub fn turns(verdict: &Verdict, all: bool) -> Vec<String> {
    let mut together = Vec::new();
    let mut apart = Vec::new();
    for (index, contender) in verdict.shown_contenders() {
        match &contender.apart {
            None => together.push(verdict.label(index)),
            Some(why) => apart.push(format!("By itself: {}, because {why}.", verdict.label(index))),
        }
    }
    if !verdict.about.schedule.turns || verdict.about.blocks == 0 {
        return Vec::new();
    }
    let took = (!together.is_empty())
        .then(|| format!("Took turns within each block, in slices of some 40 ms: {}.", together.join(", ")));
    took.into_iter().chain(apart.into_iter().filter(|_| all)).collect()
}
