//! The lines of a run file. The first is the run at its beginning; each that follows adds what has become known since.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Answer, ContenderRecord, Ended, Run, TrialRecord};

/// A line of a run file, a JSON object with one key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Line {
    /// The first line: the run before its first trial.
    Run(Box<Run>),
    /// The newest facts about a contender, in place of what the lines before say of it.
    Contender {
        /// Its position among the contenders of the run.
        place: usize,
        /// All that is known.
        record: Box<ContenderRecord>,
    },
    /// The next answer that differs from all before; samples name answers by position, from 0.
    Answer(Answer),
    /// The next trial.
    Trial(TrialRecord),
    /// The progress of the run. The last such line says how it ended.
    State {
        /// The time since the run began, in nanoseconds.
        elapsed_ns: u64,
        /// The ending of the run, with its reason.
        ended: Ended,
    },
}

/// The part of a run that has been written.
#[derive(Debug, Clone, Default)]
pub(super) struct Extent {
    contenders: Vec<ContenderRecord>,
    answers: usize,
    trials: usize,
    state: Option<(u64, Ended)>,
}

impl Extent {
    /// All of a run that was just begun.
    pub(super) fn of(run: &Run) -> Extent {
        Extent {
            contenders: run.contenders.clone(),
            answers: run.answers.len(),
            trials: run.trials.len(),
            state: Some((run.elapsed_ns, run.ended)),
        }
    }

    /// The lines that are missing up to what is known of a run now. Answers come before the trials that name them.
    pub(super) fn missing(&self, run: &Run) -> Vec<Line> {
        let reported = |place: &usize| self.contenders.get(*place) != Some(&run.contenders[*place]);
        let contenders = (0..run.contenders.len())
            .filter(reported)
            .map(|place| Line::Contender { place, record: Box::new(run.contenders[place].clone()) });
        let answers = run.answers.iter().skip(self.answers).cloned().map(Line::Answer);
        let trials = run.trials.iter().skip(self.trials).cloned().map(Line::Trial);
        let state = (run.elapsed_ns, run.ended);
        let ends = (self.state != Some(state)).then_some(Line::State { elapsed_ns: state.0, ended: state.1 });
        contenders.chain(answers).chain(trials).chain(ends).collect()
    }
}
