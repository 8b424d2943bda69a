//! A duty of runners: what must be there for its check, and the check.

use anyhow::Result;
use dyno_engine::Contender;
use dyno_suite::NO_SQL;

use crate::script::Script;

/// The precondition of a check.
#[derive(Debug, Clone, Copy)]
pub enum Needs {
    /// Nothing: the harness is checked too.
    Nothing,
    /// An engine that stores and answers.
    Engine,
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
    /// The same, and clients that share threads.
    SharedThreads,
    /// The model `mix` on stores of keys and values, and data that several clients see.
    StoreClients,
}

impl Needs {
    /// The reason why a check does not apply to a contender; `None` if it does.
    pub fn lacking(self, contender: &Contender) -> Option<String> {
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
        let clients = |is_able: bool, otherwise: &str| {
            (!is_able).then(|| otherwise.to_owned()).or_else(|| Needs::StoredClients.lacking(contender))
        };
        match self {
            Needs::Nothing => None,
            Needs::Engine => harness,
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
                clients(contender.runner.has_sessions(&contender.driver), "its clients do not come and go")
            }
            Needs::Processes => clients(contender.runner.processes, "its clients are no processes"),
            Needs::Simple => {
                clients(contender.runner.is_simple(&contender.driver), "its statements are all prepared")
            }
            Needs::StatementTimes => clients(contender.runner.statements, "its statements are not timed"),
            Needs::SharedThreads => {
                clients(contender.runner.shares_threads, "each of its clients has a thread")
            }
            Needs::StoredClients => harness.or_else(|| models(&["mix", "statements"])).or_else(alone),
        }
    }
}

/// A duty in words, what must be there for its check, and the check.
pub type Duty = (&'static str, Needs, fn(&Script) -> Result<()>);
