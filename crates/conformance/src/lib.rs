//! The protocol's conformance tests: the checks that every runner in every language must pass.
//!
//! Each check starts the runner with a job, valid or invalid, and looks at the whole trial. Timings are never judged.
//! `docs/runners.md` lists a runner's duties; these checks verify them.

mod checks;
mod duty;
pub mod faults;
mod imports;
mod kv;
mod mix;
mod mix_rows;
mod mix_store;
mod mix_ways;
mod rows;
mod script;
mod turns;

use std::fmt;

use anyhow::Result;
use dyno_engine::Contender;
use dyno_lab::scratch::Scratch;
use dyno_lab::trial::TrialOptions;
use dyno_plan::probe;

/// The time that a runner may be silent within a check.
pub const SILENCE_LIMIT: std::time::Duration = std::time::Duration::from_secs(30);

/// The findings of all checks for one contender's runner.
#[derive(Debug)]
pub struct Report {
    /// The contender.
    pub contender: String,
    /// The checks, in order.
    pub findings: Vec<Finding>,
}

/// The finding of one check.
#[derive(Debug)]
pub struct Finding {
    /// The duty that the check verifies.
    pub duty: &'static str,
    /// The verdict on the duty.
    pub result: DutyResult,
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DutyResult {
    /// The runner did what it owes.
    Passed,
    /// It did not, and how.
    Broken(String),
    /// The check does not apply, and why.
    NotApplicable(String),
}

impl Report {
    /// True if nothing is broken.
    pub fn is_passed(&self) -> bool {
        self.findings.iter().all(|finding| !matches!(finding.result, DutyResult::Broken(_)))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.contender)?;
        for finding in &self.findings {
            match &finding.result {
                DutyResult::Passed => writeln!(f, "  ok      {}", finding.duty)?,
                DutyResult::Broken(why) => writeln!(f, "  BROKEN  {}: {why}", finding.duty)?,
                DutyResult::NotApplicable(_) => {}
            }
        }
        let count = |wanted: fn(&DutyResult) -> bool| {
            self.findings.iter().filter(|finding| wanted(&finding.result)).count()
        };
        let passed = count(|result| matches!(result, DutyResult::Passed));
        let broken = count(|result| matches!(result, DutyResult::Broken(_)));
        let others = self.findings.len() - passed - broken;
        writeln!(f, "  {passed} passed, {broken} broken, {others} do not apply{}", self.reasons())
    }
}

impl Report {
    /// The reasons why checks do not apply, each with their number: ` (49: the harness has no engine)`; empty where all
    /// apply.
    fn reasons(&self) -> String {
        let mut reasons: Vec<(&str, usize)> = Vec::new();
        for finding in &self.findings {
            let DutyResult::NotApplicable(why) = &finding.result else { continue };
            match reasons.iter_mut().find(|(known, _)| known == why) {
                Some((_, number)) => *number += 1,
                None => reasons.push((why, 1)),
            }
        }
        let reasons: Vec<String> = reasons.iter().map(|(why, number)| format!("{number}: {why}")).collect();
        if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join("; ")) }
    }
}

/// Checks the runner of a contender by trials that run like this: the duties whose words hold one of `only`, or all of
/// them if there is none.
///
/// # Errors
/// The runner cannot be started, or a signal asked to stop.
pub fn check(
    contender: &Contender,
    scratch: &Scratch,
    only: &[String],
    conduct: &TrialOptions,
) -> Result<Report> {
    let mut servers = conduct.servers(scratch);
    let directory = scratch.trial()?;
    let mut job = probe(contender, directory.path());
    conduct.attach(contender, &mut job, &mut servers)?;
    let script = script::Script { contender, scratch, conduct, job: &job, turn: None };
    let mut findings = Vec::new();
    let duties = checks::ALL.into_iter().chain(rows::ALL).chain(imports::ALL).chain(kv::ALL);
    let duties = duties
        .chain(mix::ALL)
        .chain(mix_rows::ALL)
        .chain(mix_store::ALL)
        .chain(mix_ways::ALL)
        .chain(turns::ALL);
    let is_wanted = |duty: &str| only.is_empty() || only.iter().any(|text| duty.contains(text.as_str()));
    for (duty, needs, check) in duties.filter(|(duty, ..)| is_wanted(duty)) {
        let result = match needs.lacking(contender) {
            Some(why) => DutyResult::NotApplicable(why),
            None => match check(&script) {
                Ok(()) => DutyResult::Passed,
                Err(why) => DutyResult::Broken(format!("{why:#}")),
            },
        };
        // A check that a signal ended found nothing.
        conduct.interrupts.check()?;
        findings.push(Finding { duty, result });
    }
    Ok(Report { contender: contender.label.clone(), findings })
}
