//! Refuses, before anything starts, contenders that cannot do the tests, or cannot do them with the number or kind of
//! clients that the run asks for.

use anyhow::{Result, bail};
use dyno_engine::{ClientThreads, Contender};
use dyno_protocol::QueryProtocol;
use dyno_record::Parameters;
use dyno_suite::{Mix, Model, NO_SQL, Suite, TableForm, Test};

use crate::selection::{Selection, chosen_mixes, chosen_tests};
use crate::work::load;

/// Connections that a trial needs in addition to those of its clients: one that removes the trial's database, one over
/// which the server reports its checkpoints, and one to spare.
const BESIDE: u64 = 3;

/// All clients must be let in: by a database that is not for one connection alone, and by a server that dyno starts.
pub(crate) fn check_clients(
    suite: &Suite,
    parameters: &Parameters,
    selection: &[Selection],
    contender: &Contender,
) -> Result<()> {
    let mixes = chosen_mixes(suite, parameters, selection)?;
    check_ways(&mixes, contender)?;
    check_protocol(suite, selection, contender)?;
    check_patience(suite, selection, contender)?;
    let mixes: Vec<(&str, u64)> =
        mixes.iter().map(|(test, mix)| (test.id.as_str(), mix.clients.into())).collect();
    if let Some((test, clients)) = mixes.iter().find(|(_, clients)| *clients > 1)
        && let Some(setting) = contender.engine.alone(&contender.settings)
    {
        bail!(
            "test {test} has {clients} clients, and with {setting} the data of {} are those of one connection alone: \
             take --clients 1, or leave it out",
            contender.label
        );
    }
    let start = contender.engine.server().and_then(|server| server.start);
    let Some(limit) = start.and_then(|start| start.clients).filter(|_| contender.url.is_none()) else {
        return Ok(());
    };
    let set = contender.settings.iter().find(|setting| setting.name == limit.setting);
    let most = set.map_or(Some(limit.usual), |setting| setting.value.parse().ok());
    for (test, clients) in mixes {
        if most.is_some_and(|most| clients + BESIDE > most) {
            bail!(
                "test {} has {clients} clients, and {} lets in {} connections, of which dyno itself takes {BESIDE}: name \
                 it with a larger {name}, as {},{name}={}",
                test,
                contender.label,
                most.unwrap_or_default(),
                contender.engine.name,
                clients + 10,
                name = limit.setting
            );
        }
    }
    Ok(())
}

/// The contender's driver must send statements as the classes ask for it.
fn check_protocol(suite: &Suite, selection: &[Selection], contender: &Contender) -> Result<()> {
    if contender.engine.dialect == NO_SQL || contender.runner.is_simple(&contender.driver) {
        return Ok(());
    }
    for test in chosen_tests(suite, selection) {
        if let Some(class) = test.classes.iter().find(|class| class.protocol == QueryProtocol::Simple) {
            bail!(
                "class {} of test {} has the protocol \"simple\", and the driver of {} cannot send a statement that it \
                 has not prepared or kept: leave the contender out",
                class.name.get_ref(),
                test.id,
                contender.label
            );
        }
    }
    Ok(())
}

/// The contender's runner must repeat operations for as long as their classes say: one that does not know the key would
/// repeat them for as long as the mix says, and report that.
fn check_patience(suite: &Suite, selection: &[Selection], contender: &Contender) -> Result<()> {
    if contender.runner.class_patience {
        return Ok(());
    }
    for test in chosen_tests(suite, selection) {
        if let Some(class) = test.classes.iter().find(|class| class.patience.is_some()) {
            bail!(
                "class {} of test {} has its own `patience`, and the runner {} of {} has one for all classes: leave the \
                 contender out, or state `class_patience = true` in its runner.toml if it keeps `patience_ns` of a class",
                class.name.get_ref(),
                test.id,
                contender.runner.name,
                contender.label
            );
        }
    }
    Ok(())
}

/// The tests of a run have one load, and the contender's runner lets clients come as they are to come.
fn check_ways(mixes: &[(&Test, Mix)], contender: &Contender) -> Result<()> {
    let mut lasting = mixes.iter().filter(|(_, mix)| load(mix).is_some());
    let Some((first, mix)) = lasting.next() else { return Ok(()) };
    if let Some((other, _)) = lasting.find(|(_, other)| load(other) != load(mix)) {
        bail!(
            "operations arrive in one way in test {} and in another in {}, and one says nothing of the other: take \
             a run for each (--only)",
            first.id,
            other.id
        );
    }
    let runner = &contender.runner;
    if mix.session.is_some() && !runner.has_sessions(&contender.driver) {
        bail!(
            "the clients of {} cannot come and go: its driver lets in only clients that stay; leave --sessions or it out",
            contender.label
        );
    }
    if matches!(contender.client_threads, Some(ClientThreads::Shared(_))) && !runner.shares_threads {
        bail!(
            "the clients of {} cannot share threads: with its driver a thread waits until an answer is there; leave \
             client_threads out",
            contender.label
        );
    }
    if contender.processes {
        let why = match contender.engine.one_process(&contender.settings) {
            Some(Some(setting)) => format!("with {setting} its data are those of one process"),
            Some(None) => {
                format!("{} locks its files for the one process that has them open", contender.engine.title)
            }
            None if runner.processes => return Ok(()),
            None => format!("its runner '{}' makes threads of them", runner.name),
        };
        bail!(
            "the clients of {} cannot be separate processes: {}; leave --processes or it out",
            contender.label,
            why
        );
    }
    Ok(())
}

/// A contender must do one of the tests at least.
pub fn check_models(suite: &Suite, selection: &[Selection], contender: &Contender) -> Result<()> {
    let timed = suite.tests.iter().zip(selection).filter(|(_, chosen)| **chosen == Selection::Timed);
    let timed: Vec<&Test> = timed.map(|(test, _)| test).collect();
    let has_sql = contender.engine.dialect != NO_SQL;
    let implemented = || timed.iter().filter(|test| contender.implements(test.model.name()));
    if !has_sql && implemented().count() > 0 && !implemented().any(|test| test.is_for_stores()) {
        bail!(
            "{} cannot run the suite {}: {} has no SQL, and its mixes say nothing for stores of keys and values (lines \
             that begin with @kv)",
            contender.label,
            suite.name,
            contender.engine.title
        );
    }
    if implemented().count() == 0 {
        let mut models: Vec<&str> = timed.iter().map(|test| test.model.name()).collect();
        models.dedup();
        bail!(
            "{} cannot run the suite {}: its runner '{}' implements none of the models {}",
            contender.label,
            suite.name,
            contender.runner.name,
            models.join(", ")
        );
    }
    if contender.form != TableForm::default()
        && !suite.tests.iter().any(|test| test.model == Model::ImportFile)
    {
        bail!(
            "{} cannot run the suite {}: index= and primary_key= are about tables into which files are imported, and \
             no test of it does that",
            contender.label,
            suite.name
        );
    }
    Ok(())
}
