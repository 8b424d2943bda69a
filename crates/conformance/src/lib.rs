//! The protocol's conformance tests: the checks that every runner in every language must pass.
//!
//! Each check starts the runner with a job, valid or invalid, and looks at the whole trial. Timings are never judged.
//! `docs/runners.md` lists a runner's duties; these checks verify them.

mod checks;
mod duty;
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

/// The time that a runner may be silent within a check.
const SILENCE_LIMIT: std::time::Duration = std::time::Duration::from_secs(30);

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
    pub result: Verdict,
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
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
        self.findings.iter().all(|finding| !matches!(finding.result, Verdict::Broken(_)))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.contender)?;
        for finding in &self.findings {
            match &finding.result {
                Verdict::Passed => writeln!(f, "  ok      {}", finding.duty)?,
                Verdict::Broken(why) => writeln!(f, "  BROKEN  {}: {why}", finding.duty)?,
                Verdict::NotApplicable(why) => writeln!(f, "  –       {} ({why})", finding.duty)?,
            }
        }
        let count = |wanted: fn(&Verdict) -> bool| {
            self.findings.iter().filter(|finding| wanted(&finding.result)).count()
        };
        let passed = count(|result| matches!(result, Verdict::Passed));
        let broken = count(|result| matches!(result, Verdict::Broken(_)));
        writeln!(
            f,
            "  {passed} passed, {broken} broken, {} do not apply",
            self.findings.len() - passed - broken
        )
    }
}

/// Checks the runner of a contender.
pub fn check(contender: &Contender, scratch: &Scratch) -> Result<Report> {
    let conduct = TrialOptions::unmeasured(SILENCE_LIMIT)?;
    let mut servers = conduct.servers(scratch);
    let server = servers.reach(contender)?;
    let script =
        script::Script { contender, scratch, conduct: &conduct, server: server.as_ref(), turn: None };
    let mut findings = Vec::new();
    let duties = checks::ALL.into_iter().chain(rows::ALL).chain(imports::ALL).chain(kv::ALL);
    let duties = duties
        .chain(mix::ALL)
        .chain(mix_rows::ALL)
        .chain(mix_store::ALL)
        .chain(mix_ways::ALL)
        .chain(turns::ALL);
    for (duty, needs, check) in duties {
        let result = match needs.lacking(contender) {
            Some(why) => Verdict::NotApplicable(why),
            None => match check(&script) {
                Ok(()) => Verdict::Passed,
                Err(why) => Verdict::Broken(format!("{why:#}")),
            },
        };
        findings.push(Finding { duty, result });
    }
    Ok(Report { contender: contender.label.clone(), findings })
}
