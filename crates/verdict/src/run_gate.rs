//! The gate of a run: whether any contender is worse than the baseline by more than is allowed, and whether the samples
//! can decide that.

use std::fmt;
use std::str::FromStr;

use dyno_record::Quantity;

use crate::cell::Cell;
use crate::gate::Side;
use crate::judge::Verdict;

/// The most by which a quantity of a contender may exceed the baseline's.
#[derive(Debug, Clone, PartialEq)]
pub struct GateLimit {
    /// `time`, or the name of an event such as `instructions`.
    pub quantity: String,
    /// As a share: 0.03 is 3 %.
    pub share: f64,
}

/// The fault of a limit as it was typed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("'{0}' is no limit: write time<=+3% or instructions<=+0.1%, and several with commas between them")]
pub struct InvalidGateLimit(String);

impl FromStr for GateLimit {
    type Err = InvalidGateLimit;

    fn from_str(text: &str) -> Result<GateLimit, InvalidGateLimit> {
        let wrong = || InvalidGateLimit(text.to_owned());
        let (quantity, most) = text.trim().split_once("<=").ok_or_else(wrong)?;
        let most = most.trim();
        let percent = most.strip_prefix('+').unwrap_or(most).strip_suffix('%').ok_or_else(wrong)?;
        let share: f64 = percent.trim().parse().map_err(|_| wrong())?;
        let quantity = quantity.trim();
        let is_name = !quantity.is_empty() && quantity.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        (is_name && share.is_finite() && share >= 0.0)
            .then(|| GateLimit { quantity: quantity.to_owned(), share: share / 100.0 })
            .ok_or_else(wrong)
    }
}

/// The result of the gate.
#[derive(Debug, Clone, PartialEq)]
pub struct RunGate {
    /// The number of comparisons: a contender in a quantity of a test each.
    pub judged: usize,
    /// Those that exceed a limit, a sentence each.
    pub exceeded: Vec<String>,
    /// The number of those for which the samples leave open whether they exceed it.
    pub undecided: usize,
    /// The limits in words.
    limits: String,
}

impl RunGate {
    /// Holds every test of a run against limits. A comparison passes only if its interval excludes what is not allowed;
    /// one that has no ratio, because an answer is wrong or a trial failed, exceeds every limit.
    pub fn new(verdict: &Verdict, limits: &[GateLimit]) -> RunGate {
        let words: Vec<String> = limits
            .iter()
            .map(|limit| {
                format!("{} by more than {} %", limit.quantity.replace('_', " "), limit.share * 100.0)
            })
            .collect();
        let mut gate = RunGate { judged: 0, exceeded: Vec::new(), undecided: 0, limits: words.join(", or ") };
        for test in &verdict.tests {
            for (quantity, cells) in test.lines() {
                let limit = limits.iter().find(|limit| limit.quantity == name(quantity));
                let Some(limit) = limit else { continue };
                for cell in cells.iter().filter(|cell| cell.contender != verdict.baseline) {
                    gate.add(limit, &format!("test {}", test.id), verdict.label(cell.contender), cell);
                }
            }
        }
        gate
    }

    fn add(&mut self, limit: &GateLimit, test: &str, label: &str, cell: &Cell) {
        let quantity = limit.quantity.replace('_', " ");
        if matches!(cell.standing, crate::CellStanding::NotApplicable) {
            return;
        }
        self.judged += 1;
        if !cell.standing.is_fine() || cell.failed {
            self.exceeded.push(format!("{label} has no {quantity} in {test} that counts"));
            return;
        }
        match Side::of(cell.ratio, cell.difference, limit.share) {
            Side::Passed => {}
            Side::Undecided => self.undecided += 1,
            Side::Slower => {
                let more = cell.ratio.map_or(0.0, |ratio| (ratio.ratio - 1.0) * 100.0);
                let share = limit.share * 100.0;
                self.exceeded.push(format!("{label}, {test}: +{more:.3} % {quantity}; {share} % is allowed"));
            }
        }
    }
}

/// The name of a quantity in limits.
fn name(quantity: &Quantity) -> &str {
    match quantity {
        Quantity::Time | Quantity::Rate(_) => "time",
        Quantity::Response { .. } => "response",
        Quantity::Count { event } => event,
    }
}

impl fmt::Display for RunGate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RunGate { judged, exceeded, undecided, limits } = self;
        write!(f, "gate: {} of {judged} exceed {limits}", exceeded.len())?;
        match (*judged, *undecided) {
            (0, _) => write!(f, "; nothing was compared, so the gate decides nothing"),
            (_, 0) => Ok(()),
            (_, open) => write!(f, ", {open} undecided: more trials or a quieter machine decide them"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_as_people_write_them() {
        let limit = |text: &str| text.parse::<GateLimit>();
        assert_eq!(limit("time<=+3%"), Ok(GateLimit { quantity: "time".into(), share: 0.03 }));
        assert_eq!(limit(" instructions <= 0.1% ").unwrap().share, 0.001);
        for wrong in ["", "time", "time<=3", "<=3%", "time<=-3%", "time<=x%", "time<=inf%", "ti me<=1%"] {
            assert!(limit(wrong).is_err(), "{wrong}");
        }
    }
}
