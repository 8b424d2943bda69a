//! The protocol's conformance tests: the checks that every runner in every language must pass.
//!
//! Each check starts the runner with a job, valid or invalid, and looks at the whole trial. Timings are never judged.
//! `docs/runners.md` lists a runner's duties; these checks verify them.

mod checks;
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
use dyno_suite::NO_SQL;

/// The time that a runner may be silent within a check.
const SILENCE_LIMIT: std::time::Duration = std::time::Duration::from_secs(30);

/// The precondition of a check.
#[derive(Debug, Clone, Copy)]
enum Needs {
    /// Nothing: the harness is checked too.
    Nothing,
    /// An engine that stores and answers.
    Engine,
    /// An engine that is a server.
    Server,
    /// Settings that the contender asks for.
    Settings,
    /// These models.
    Models(&'static [&'static str]),
    /// These models, and an engine.
    Stored(&'static [&'static str]),
    /// These models, in turns.
    Turns(&'static [&'static str]),
    /// The same, and an engine.
    StoredTurns(&'static [&'static str]),
    /// The model `mix` in SQL, and data that several clients see.
    Clients,
    /// The same, and an engine with SQL.
    StoredClients,
    /// The same, and clients that come and go.
    Sessions,
    /// The same, and clients that are processes.
    Processes,
    /// The same, and statements that are not prepared beforehand.
    Simple,
    /// The same, and statements that are timed.
    StatementTimes,
    /// The model `mix` on stores of keys and values, and data that several clients see.
    StoreClients,
}

impl Needs {
    /// The reason why a check does not apply to a contender; `None` if it does.
    fn lacking(self, contender: &Contender) -> Option<String> {
        let harness = contender.engine.harness.then(|| "the harness has no engine".to_owned());
        let models = |models: &[&str]| {
            let missing = models.iter().find(|model| !contender.implements(model));
            missing.map(|model| format!("its runner does not implement {model}"))
        };
        let alone = || {
            let setting = contender.engine.alone(&contender.settings);
            setting.map(|setting| format!("with {setting} there is one client"))
        };
        let turns = || (!contender.runner.takes_turns).then(|| "its runner takes no turns".to_owned());
        match self {
            Needs::Nothing => None,
            Needs::Engine => harness,
            Needs::Server => (!contender.engine.is_server()).then(|| "the engine is no server".to_owned()),
            Needs::Settings => {
                contender.settings.is_empty().then(|| "the contender asks for no settings".to_owned())
            }
            Needs::Models(names) => models(names),
            Needs::Stored(names) => harness.or_else(|| models(names)),
            Needs::Turns(names) => turns().or_else(|| models(names)),
            Needs::StoredTurns(names) => harness.or_else(turns).or_else(|| models(names)),
            Needs::Clients => models(&["mix", "statements"]).or_else(alone),
            Needs::StoreClients => {
                let has_sql = contender.engine.dialect != NO_SQL;
                let has_sql = has_sql.then(|| "its mixes are in SQL".to_owned());
                harness.or(has_sql).or_else(|| models(&["mix"])).or_else(alone)
            }
            Needs::Sessions => {
                let come_and_go = contender.runner.has_sessions(&contender.driver);
                let stay = (!come_and_go).then(|| "its clients do not come and go".to_owned());
                stay.or_else(|| Needs::StoredClients.lacking(contender))
            }
            Needs::Processes => {
                let threads =
                    (!contender.runner.processes).then(|| "its clients are no processes".to_owned());
                threads.or_else(|| Needs::StoredClients.lacking(contender))
            }
            Needs::Simple => {
                let is_simple = contender.runner.is_simple(&contender.driver);
                let prepares = (!is_simple).then(|| "its statements are all prepared".to_owned());
                prepares.or_else(|| Needs::StoredClients.lacking(contender))
            }
            Needs::StatementTimes => {
                let untimed =
                    (!contender.runner.statements).then(|| "its statements are not timed".to_owned());
                untimed.or_else(|| Needs::StoredClients.lacking(contender))
            }
            Needs::StoredClients => harness.or_else(|| models(&["mix", "statements"])).or_else(alone),
        }
    }
}

/// A duty in words, what must be there for its check, and the check.
type Duty = (&'static str, Needs, fn(&script::Script) -> Result<()>);

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
