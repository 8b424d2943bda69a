//! The findings of `dyno prove` on the contenders of a run, and how much they say.

use dyno_record::{Run, Tally};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::statistics::{Interval, share};

/// The fate of a contender's acknowledged commits.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Durability {
    /// The contender, by its position in the run.
    pub contender: usize,
    /// Flushes of the disk for each commit; absent where dyno could make no disk that counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flushes: Option<f64>,
    /// System calls that waited for data to be durable, for each commit; absent where they could not be traced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<f64>,
    /// Power cuts; absent where none was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cuts: Option<Survived>,
    /// Kills of all its processes; absent where none was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kills: Option<Survived>,
}

/// The number of tries that were survived with every acknowledged commit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Survived {
    /// The number that was tried.
    pub tried: u64,
    /// The number that was survived.
    pub survived: u64,
    /// The number of them that were drawn; absent where all were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drawn: Option<u64>,
    /// The 95 % interval of the share that loses or breaks something, estimated from those that were drawn.
    pub fail: Interval,
    /// The recordings of the work from which cuts were drawn; absent where they are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<CutRuns>,
}

/// The recordings of the work that were cut. Cuts of one recording are not independent, so that `fail` is a statement
/// about these recordings alone; about others only the number of them says something.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CutRuns {
    /// The number of recordings that were cut.
    pub cut: u64,
    /// The share of such recordings in which one of as many cuts loses or breaks something, at 95 %.
    pub fail: Interval,
}

impl Survived {
    /// The judgement of a tally; nothing where nothing was tried.
    pub fn new(tally: &Tally) -> Option<Survived> {
        Survived::of(tally, None)
    }

    /// The judgement of a tally of which only a part was drawn.
    pub fn of(tally: &Tally, drawn: Option<&Tally>) -> Option<Survived> {
        let Tally { tried, survived, .. } = *tally;
        let part = drawn.filter(|drawn| drawn.tried > 0).unwrap_or(tally);
        let fail = share(part.tried, part.tried - part.survived.min(part.tried))?;
        let drawn = (part.tried < tried).then_some(part.tried);
        Some(Survived { tried, survived, drawn, fail, runs: None })
    }

    /// The same, where the number of recordings is known and in how many of them a cut did harm.
    #[must_use]
    pub fn in_runs(self, cut: u64, harmed: Option<u64>) -> Survived {
        let fail = harmed.and_then(|harmed| share(cut, harmed.min(cut)));
        Survived { runs: fail.map(|fail| CutRuns { cut, fail }), ..self }
    }
}

/// Of those contenders shown of which something is known.
pub(super) fn durability(run: &Run) -> Vec<Durability> {
    let known = run.shown_contenders().filter_map(|(contender, record)| {
        let survival = record.safety.as_ref()?.survival.as_ref()?;
        let cuts = Survived::of(&survival.cuts, survival.drawn.as_ref());
        let cuts = cuts.map(|cuts| cuts.in_runs(survival.runs, survival.harmed_runs));
        let kills = Survived::new(&survival.kills);
        Some(Durability { contender, flushes: survival.flushes, calls: survival.calls, cuts, kills })
    });
    known.collect()
}
