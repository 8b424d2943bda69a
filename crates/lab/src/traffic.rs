//! Counts what a contender and its server say to each other, outside of what is measured: trials of one client through
//! a proxy that records all bytes.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use dyno_engine::Contender;
use dyno_plan::Plan;
use dyno_plan::traffic::{TrafficPart, split};
use dyno_protocol::Sample;
use dyno_record::{SentStatement, TrafficCounts, TrafficRecord};
use dyno_wire::{Obstacle, Recording, SentText, Traffic, count};

use crate::run::Observer;
use crate::scratch::Scratch;
use crate::trial::{Outcome, Servers, Trial, TrialOptions, wire_protocol};

/// The number of trials that count: more than one, so that a driver is found that does not do the same each time.
const PASSES: usize = 2;
/// The time that is added to each round trip: a client that sends on without waiting does so before an answer comes,
/// and one that waits is seen to.
const ROUND_TRIP: Duration = Duration::from_millis(4);
/// The time by which clients of a mix may begin before the thread that reads the clock, in nanoseconds. Whatever they
/// sent before, such as the last preparation, was sent a round trip earlier.
const EARLY_NS: u64 = 3_000_000;
/// The most statements of a record, and the most letters of each.
const STATEMENTS: usize = 30;
const LETTERS: usize = 500;

/// Counts the traffic of contenders.
pub struct TrafficCounter<'a> {
    /// The work of the trials.
    pub plan: &'a Plan,
    /// The rules for running trials.
    pub conduct: &'a TrialOptions,
    /// The folder for files.
    pub scratch: &'a Scratch,
    /// The servers and file systems of the contenders.
    pub servers: &'a mut Servers,
}

impl TrafficCounter<'_> {
    /// The traffic of a contender, by its position in the plan; empty of an engine within the client's process. A
    /// trial that fails has counts of what it did before. An interrupted trial counts nothing, and is no failure: its
    /// records are those of the pass before, or there are none.
    ///
    /// # Errors
    /// The first trial could not begin.
    pub fn count(&mut self, contender: usize, observer: &mut dyn Observer) -> Result<Vec<TrafficRecord>> {
        let interrupts = self.conduct.interrupts.clone();
        repeated(|| self.pass(contender, observer), || interrupts.signal().is_some())
    }

    fn pass(&mut self, contender: usize, observer: &mut dyn Observer) -> Result<Vec<TrafficRecord>> {
        // Its one client is in the runner's own process.
        let contender = &Contender { processes: false, ..self.plan.contenders[contender].clone() };
        if let Some(missing) = contender.missing() {
            bail!(missing);
        }
        let place = self.servers.place(contender)?;
        let directory = self.scratch.trial_in(&place)?;
        let recording = Arc::new(Recording::default());
        let inspector = Arc::clone(&recording);
        let Some(inspected) = self.servers.reach_inspected(contender, ROUND_TRIP, inspector)? else {
            return Ok(Vec::new());
        };
        let served = &inspected.served;
        let mut job = self.plan.job(contender, directory.path());
        let (tests, parts) = split(&job, &self.scratch.inputs().join("traffic"))?;
        job.tests = tests;
        self.conduct.serve(contender, &mut job, served, self.servers)?;
        // A question of dyno's between two tests would be counted with one of them.
        job.database_bytes.clear();
        let trial = self.conduct.run_tidily(contender, &job, Some(served), |_| {})?;
        trial.left.iter().for_each(|left| observer.warn(left));
        let is_mix = |id: &str| {
            parts
                .iter()
                .any(|part| part.without.as_deref().is_some_and(|first| first == id || part.counted == id))
        };
        let windows: Vec<_> =
            trial.samples.iter().map(|sample| window(sample, is_mix(&sample.test))).collect();
        let counted = count(&recording, wire_protocol(served.speaks), &windows);
        let parts = parts.iter().filter(|part| self.is_shown(part));
        Ok(parts.map(|part| record(part, &trial, counted.as_deref())).collect())
    }

    fn is_shown(&self, part: &TrafficPart) -> bool {
        self.plan.test(&part.test).is_some_and(|test| !test.record.preparation)
    }
}

/// The time of a sample's section.
fn window(sample: &Sample, is_mix: bool) -> RangeInclusive<u64> {
    let section = &sample.section;
    let early = if is_mix { EARLY_NS } else { 0 };
    section.began_ns.saturating_sub(early)..=section.began_ns + section.nanoseconds
}

/// The record of a part after a trial.
fn record(part: &TrafficPart, trial: &Trial, counted: Option<&[Traffic]>) -> TrafficRecord {
    let record =
        TrafficRecord { test: part.test.clone(), class: part.class.clone(), ..TrafficRecord::default() };
    match traffic(part, trial, counted) {
        Err(why) => TrafficRecord { failed: Some(why), ..record },
        Ok((operations, traffic)) => TrafficRecord {
            operations,
            passes: vec![TrafficCounts {
                round_trips: traffic.round_trips,
                sends: traffic.sends,
                sent_bytes: traffic.sent_bytes,
                received_bytes: traffic.received_bytes,
                prepares: traffic.prepares,
                executed: traffic.executed(),
            }],
            statements: traffic.statements.iter().take(STATEMENTS).map(statement).collect(),
            unread: traffic.obstacle.map(in_words),
            ..record
        },
    }
}

/// The number of a part's operations and their traffic, or why it is not known.
fn traffic(part: &TrafficPart, trial: &Trial, counted: Option<&[Traffic]>) -> Result<(u64, Traffic), String> {
    if part.operations == Some(0) {
        return Err("there are too few operations of it".to_owned());
    }
    let counted =
        counted.ok_or_else(|| "there was more to record than 256 MiB; a smaller size has less".to_owned())?;
    let find = |id: &str| -> Result<(&Sample, &Traffic), String> {
        let place = trial.samples.iter().position(|sample| sample.test == id);
        let (sample, traffic) = place
            .and_then(|place| trial.samples.get(place).zip(counted.get(place)))
            .ok_or_else(|| match &trial.outcome {
                Outcome::Failed { message, .. } => message.clone(),
                Outcome::Finished | Outcome::Interrupted => "it was not done".to_owned(),
            })?;
        let failed = sample.classes.iter().find(|class| class.failed > 0);
        match failed {
            Some(class) => Err(format!("{} operations failed: {}", class.failed, class.failure)),
            None if sample.section.began_ns == 0 => {
                Err("the runner does not report when a test begins".to_owned())
            }
            None => Ok((sample, traffic)),
        }
    };
    let (sample, all) = find(&part.counted)?;
    let traffic = match &part.without {
        Some(id) => all.beyond(find(id)?.1),
        None => all.clone(),
    };
    Ok((part.operations.unwrap_or(sample.operations).max(1), traffic))
}

fn statement(sent: &SentText) -> SentStatement {
    let mut text: String = sent.text.chars().take(LETTERS).collect();
    if text.len() < sent.text.len() {
        text.push('…');
    }
    SentStatement { text, count: sent.count }
}

fn in_words(obstacle: Obstacle) -> String {
    match obstacle {
        Obstacle::Encrypted => "the connection is encrypted",
        Obstacle::Compressed => "the connection is compressed",
        Obstacle::Foreign => "the connection does not keep the server's protocol",
    }
    .to_owned()
}

/// The records of all passes, up to one that fails or is interrupted.
fn repeated(
    mut pass: impl FnMut() -> Result<Vec<TrafficRecord>>,
    is_interrupted: impl Fn() -> bool,
) -> Result<Vec<TrafficRecord>> {
    let mut records = Vec::new();
    for _ in 0..PASSES {
        let pass = pass();
        if is_interrupted() {
            return Ok(records);
        }
        records = match pass {
            Err(error) if records.is_empty() => return Err(error),
            Err(error) => return Ok(once(records, &format!("it did not begin: {error:#}"))),
            Ok(pass) if pass.is_empty() => return Ok(records),
            Ok(pass) if records.is_empty() => pass,
            Ok(pass) => records.into_iter().zip(pass).map(|(before, pass)| joined(before, pass)).collect(),
        };
    }
    Ok(records)
}

/// Records of one pass, the other of which has no counts for a reason.
fn once(records: Vec<TrafficRecord>, why: &str) -> Vec<TrafficRecord> {
    let failed = |record: TrafficRecord| TrafficRecord {
        failed: record.failed.or_else(|| Some(why.to_owned())),
        ..record
    };
    records.into_iter().map(failed).collect()
}

/// A record with a further pass. What one of them counted stays where the other failed.
fn joined(before: TrafficRecord, pass: TrafficRecord) -> TrafficRecord {
    if pass.failed.is_some() {
        return TrafficRecord { failed: before.failed.or(pass.failed), ..before };
    }
    let passes = before.passes.into_iter().chain(pass.passes).collect();
    TrafficRecord { passes, failed: before.failed, ..pass }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    fn counted() -> TrafficRecord {
        TrafficRecord {
            operations: 5,
            passes: vec![TrafficCounts { sends: 7, ..TrafficCounts::default() }],
            ..TrafficRecord::default()
        }
    }

    #[test]
    fn a_pass_that_fails_leaves_what_the_other_counted() {
        let failed = || TrafficRecord { failed: Some("gone".into()), ..TrafficRecord::default() };
        for record in [joined(counted(), failed()), joined(failed(), counted())] {
            assert_eq!((record.operations, record.passes.len()), (5, 1));
            assert_eq!(record.failed.as_deref(), Some("gone"));
        }
        let both = joined(counted(), counted());
        assert_eq!((both.passes.len(), both.failed), (2, None));
    }

    #[test]
    fn an_interrupt_is_no_failure_and_leaves_the_pass_before() {
        // The number of passes done, and what became of the next.
        let ended = |done: usize, is_interrupted: bool| {
            let passes = Cell::new(0);
            let pass = || {
                passes.set(passes.get() + 1);
                if passes.get() > done { bail!("no server") } else { Ok(vec![counted()]) }
            };
            repeated(pass, || is_interrupted && passes.get() > done)
        };
        assert_eq!(ended(0, true).unwrap(), []);
        assert_eq!(ended(1, true).unwrap(), [counted()]);
        assert_eq!(ended(0, false).unwrap_err().to_string(), "no server");
        let once = ended(1, false).unwrap().remove(0);
        assert_eq!((once.passes.len(), once.failed.as_deref()), (1, Some("it did not begin: no server")));
        assert_eq!(ended(2, false).unwrap()[0].passes.len(), 2);
    }
}
