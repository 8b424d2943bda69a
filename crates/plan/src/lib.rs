//! The plan: contenders × tests, with every input on disk before the first trial.
//!
//! Planning renders a suite once for each dialect and form of its tables, works out the right answers, and writes the
//! files that the runners map. It starts no process and measures nothing.

mod arrays;
mod arrivals;
mod draws;
mod mix;
pub mod probes;
pub mod records;
mod row;
mod selection;
mod size;
mod steps;
mod timetable;
pub mod truth;
mod work;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use dyno_engine::Contender;
use dyno_protocol::{self as protocol, Value};
use dyno_record::{Level, Load, Parameters};
use dyno_suite::watch::Watch;
use dyno_suite::{AMinute, Bounds, Mix, Model, NO_SQL, Rendered, Suite, TableForm, Test};

use arrays::Arrays;
use arrivals::Arrivals;
use work::{Prepared, Preparer, committing, in_dialect, in_words, is_cut, load, operations};

pub use arrivals::Arriving;
pub use selection::{Selection, select};
pub use size::input_bytes;
pub use work::Amount;

/// Statements shown from each end of a test's list.
const SHOWN: usize = 3;

/// Everything that a run is going to do.
#[derive(Debug)]
pub struct Plan {
    /// The contenders, as named.
    pub contenders: Vec<Contender>,
    /// The tests of every trial, in order.
    pub tests: Vec<PlannedTest>,
    /// The work of those tests, by dialect and form of tables.
    work: BTreeMap<(String, TableForm), Vec<protocol::Test>>,
    /// What arrives where a rate is sought.
    arrivals: Arrivals,
}

/// A test of the plan, as people see it.
#[derive(Debug, Clone)]
pub struct PlannedTest {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// What it shows.
    pub shows: String,
    /// The name of its model.
    pub model: &'static str,
    /// Whether it is there only because a selected test needs it.
    pub preparation: bool,
    /// How many statements it has.
    pub statements: u64,
    /// The first statements.
    pub first: Vec<String>,
    /// The last ones, where they are not among the first.
    pub last: Vec<String>,
    /// How much it does, where the input tells.
    pub amount: Option<Amount>,
    /// How many operations arrive by themselves while it is measured; none where each client begins one as soon as it
    /// is free.
    pub arrivals: Option<u64>,
    /// How many are due then, connecting among them where they come in sessions: those above are the mean of what may be
    /// drawn.
    pub due: Option<u64>,
    /// The right answer, where the input tells.
    pub answer: Option<Vec<Vec<Value>>>,
    /// What must hold after it, in words: each is a row of its answer, whose last value is how many break it.
    pub invariants: Vec<String>,
    /// How its operations arrive, in a mix that lasts a time.
    pub load: Option<Load>,
    /// The class of which people ask how many were done in a minute.
    pub a_minute: Option<AMinute>,
    /// How many operations are timed for a contender that commits each by itself.
    one_by_one: Option<u64>,
    /// Whether engines do it that have no SQL.
    is_for_stores: bool,
}

impl PlannedTest {
    /// Whether a contender does it.
    fn is_for(&self, contender: &Contender) -> bool {
        contender.implements(self.model) && (self.is_for_stores || contender.engine.dialect != NO_SQL)
    }
}

impl Plan {
    /// Renders the suite for every dialect among the contenders and writes the inputs to `folder`. `file` is the
    /// user's own, in place of the suite's.
    pub fn new(
        suite: &Suite,
        parameters: &Parameters,
        contenders: Vec<Contender>,
        selection: &[Selection],
        folder: &Path,
        file: Option<&Path>,
    ) -> Result<Plan> {
        Plan::watched(suite, parameters, contenders, selection, folder, file, &Watch::default())
    }

    /// The same while somebody watches.
    pub fn watched(
        suite: &Suite,
        parameters: &Parameters,
        contenders: Vec<Contender>,
        selection: &[Selection],
        folder: &Path,
        file: Option<&Path>,
        watch: &Watch,
    ) -> Result<Plan> {
        for contender in &contenders {
            check_models(suite, selection, contender)?;
            check_clients(suite, parameters, selection, contender)?;
        }
        size::check_room(input_bytes(suite, parameters, selection, file)?, folder)?;
        let mut preparer = Preparer::new(suite, Arrays::new(suite, parameters, folder, file, watch));
        let chosen = |index: &usize| selection[*index] != Selection::Left;
        let chosen: Vec<usize> = (0..suite.tests.len()).filter(chosen).collect();
        let prepared = chosen.iter().map(|&index| preparer.prepare(&suite.tests[index]));
        let prepared: Vec<Option<Prepared>> = prepared.collect::<Result<_>>()?;
        let mut tests = Vec::new();
        let mut work = BTreeMap::new();
        for contender in &contenders {
            let (dialect, form) = (&contender.engine.dialect, contender.form);
            if work.contains_key(&key(contender)) {
                continue;
            }
            let rendered = suite.render_form(parameters, dialect, form, Bounds::default(), watch)?;
            let inputs = chosen.iter().zip(&prepared).map(|(&index, prepared)| (index, prepared.as_ref()));
            if tests.is_empty() {
                let describe = |(index, prepared)| {
                    describe(suite, index, selection[index] == Selection::Needed, &rendered[index], prepared)
                };
                tests = inputs.clone().map(describe).collect();
            }
            let folder = folder.join(dialect).join(form.name());
            fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
            let written =
                inputs.map(|(index, prepared)| in_dialect(rendered[index].clone(), prepared, form, &folder));
            work.insert(key(contender), written.collect::<Result<Vec<_>>>()?);
        }
        let mixes = chosen.iter().map(|&index| &suite.tests[index]);
        let arrivals = Arrivals::new(suite, parameters, mixes, folder)?;
        Ok(Plan { contenders, tests, work, arrivals })
    }

    /// The job of one trial of a contender: the tests whose models it implements.
    pub fn job(&self, contender: &Contender, directory: &Path) -> protocol::Job {
        let tests = self.tests.iter().zip(&self.work[&key(contender)]);
        let tests = tests.filter(|(planned, _)| planned.is_for(contender)).map(|(planned, test)| {
            let mut work =
                committing(test.work.clone(), contender.per_commit, most_timed(contender, planned));
            if let protocol::Work::Mix(mix) = &mut work {
                mix.processes = contender.processes && (mix.clients > 1 || mix.lasts.is_some());
            }
            protocol::Test { work, ..test.clone() }
        });
        protocol::Job { tests: tests.collect(), read_again: true, ..probe(contender, directory) }
    }

    /// What arrives in a test (by id) in a trial of a block, so many a second; in place of the steps of its job.
    ///
    /// # Errors
    /// The test is no mix that lasts a time, or the arrivals cannot be written.
    pub fn arriving(&self, test: &str, rate: f64, block: u32) -> Result<Arriving> {
        self.arrivals.write(test, rate, block)
    }

    /// How many operations the test of a sample has, where the contender's trials time only the first of
    /// them.
    pub fn whole(&self, contender: usize, sample: &protocol::Sample) -> Option<u64> {
        let contender = &self.contenders[contender];
        let place = self.tests.iter().position(|test| test.id == sample.test)?;
        let test = &self.work[&key(contender)][place];
        let work =
            committing(test.work.clone(), contender.per_commit, most_timed(contender, &self.tests[place]));
        is_cut(&work).then(|| operations(&work))
    }

    /// Whether a test that is timed has more than one client.
    pub fn has_clients(&self) -> bool {
        let many = |test: &protocol::Test| match &test.work {
            protocol::Work::Mix(mix) => mix.clients > 1,
            _ => false,
        };
        let timed = |tests: &Vec<protocol::Test>| {
            tests.iter().zip(&self.tests).any(|(test, planned)| !planned.preparation && many(test))
        };
        self.work.values().any(timed)
    }

    /// The percentile of the response that is judged of a test (by id) whose operations arrive by themselves: the 99th
    /// where at least ten operations are beyond it, else the 90th, else the median. It depends on what arrives alone, so
    /// it is the same for all contenders.
    pub fn judged_percentile(&self, test: &str) -> Option<f64> {
        let arrivals = self.tests.iter().find(|planned| planned.id == test)?.arrivals?;
        Some(match arrivals {
            1_000.. => 0.99,
            100.. => 0.9,
            _ => 0.5,
        })
    }

    /// How many operations are due in a test (by id) while it is measured, where they arrive by themselves.
    pub fn due(&self, test: &str) -> Option<u64> {
        self.tests.iter().find(|planned| planned.id == test)?.due
    }

    /// The ids of the tests that a contender does not do, because its runner lacks their models, or because they are SQL and
    /// it has none.
    pub fn lacks(&self, contender: &Contender) -> Vec<String> {
        let lacking = self.tests.iter().filter(|test| !test.is_for(contender));
        lacking.map(|test| test.id.clone()).collect()
    }
}

/// What the work of a contender depends on.
fn key(contender: &Contender) -> (String, TableForm) {
    (contender.engine.dialect.clone(), contender.form)
}

/// A job without tests, which asks only who answers and what is in force.
pub fn probe(contender: &Contender, directory: &Path) -> protocol::Job {
    protocol::Job {
        protocol: protocol::PROTOCOL,
        engine: contender.engine.name.clone(),
        speaks: contender.engine.speaks.map(|protocol| protocol.name().to_owned()),
        driver: contender.driver.name.clone(),
        variant: contender.variant.as_ref().map(|variant| variant.name.clone()),
        build: contender.build.clone(),
        settings: contender.settings.clone(),
        read_back: contender.engine.read_back.clone(),
        values: contender.engine.values.clone(),
        server: None,
        key: contender.engine_key().cloned(),
        directory: directory.to_owned(),
        latency: false,
        turns: false,
        slowdown: contender.slowdown.unwrap_or_default(),
        read_again: false,
        tests: Vec::new(),
    }
}

/// How many operations of a test are timed where each is a commit: fewer than all only where each is also
/// synced, which is what takes so long.
fn most_timed(contender: &Contender, test: &PlannedTest) -> Option<u64> {
    // What has torn pages syncs too.
    let syncs = contender
        .claimed
        .as_ref()
        .is_some_and(|safety| safety.level == Level::PowerLoss || safety.hole.is_some());
    test.one_by_one.filter(|_| syncs)
}

/// Connections that a trial has beside those of its clients: one by which the trial's database is removed, one over which the
/// server tells of its checkpoints, and one to spare.
const BESIDE: u64 = 3;

/// All clients must be let in: by a database that is not for one connection alone, and by a server that dyno starts.
fn check_clients(
    suite: &Suite,
    parameters: &Parameters,
    selection: &[Selection],
    contender: &Contender,
) -> Result<()> {
    let chosen = suite.tests.iter().zip(selection).filter(|(_, chosen)| **chosen != Selection::Left);
    let mixes = chosen.map(|(test, _)| test).filter(|test| test.model == Model::Mix);
    let mixes: Vec<(&str, Mix)> =
        mixes.map(|test| Ok((test.id.as_str(), suite.mix(test, parameters)?))).collect::<Result<_>>()?;
    check_ways(&mixes, contender)?;
    let mixes: Vec<(&str, u64)> = mixes.iter().map(|(test, mix)| (*test, mix.clients.into())).collect();
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
    let Some(limit) = start.map(|start| start.clients).filter(|_| contender.url.is_none()) else {
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

/// The tests of a run have one load, and the contender's runner lets clients come as they are to come.
fn check_ways(mixes: &[(&str, Mix)], contender: &Contender) -> Result<()> {
    let mut lasting = mixes.iter().filter(|(_, mix)| load(mix).is_some());
    let Some((first, mix)) = lasting.next() else { return Ok(()) };
    if let Some((other, _)) = lasting.find(|(_, other)| load(other) != load(mix)) {
        bail!(
            "operations arrive in one way in test {first} and in another in {other}, and one says nothing of the other: take \
             a run for each (--only)"
        );
    }
    let runner = &contender.runner;
    if mix.session.is_some() && !runner.sessions {
        bail!(
            "the clients of {} cannot come and go: its runner '{}' lets in only clients that stay; leave --sessions or it \
             out",
            contender.label,
            runner.name
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
            "the clients of {} cannot be processes of their own: {}; leave --processes or it out",
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

/// The row of an answer that says that nothing breaks an invariant, which stands at a place.
fn all_hold((place, says): (i64, &String)) -> Vec<Value> {
    vec![Value::Integer(place), Value::Text(says.clone()), Value::Integer(0)]
}

fn describe(
    suite: &Suite,
    index: usize,
    preparation: bool,
    test: &Rendered,
    prepared: Option<&Prepared>,
) -> PlannedTest {
    let written = &suite.tests[index];
    let mut statements = test.statements.clone();
    if let Some(prepared) = prepared.filter(|_| statements.is_empty()) {
        statements = test.setup.iter().cloned().chain(in_words(prepared, written)).collect();
    }
    let all_shown = statements.len() <= 2 * SHOWN;
    let split = if all_shown { statements.len() } else { SHOWN };
    let last = if all_shown { &[] } else { &statements[statements.len() - SHOWN..] };
    PlannedTest {
        id: test.id.clone(),
        title: test.title.clone(),
        shows: written.shows.clone(),
        model: written.model.name(),
        preparation,
        statements: statements.len() as u64,
        first: statements[..split].to_vec(),
        last: last.to_vec(),
        // Of what arrives by itself as much is done as arrived: that is no figure of the contender.
        // How much there is to settle differs between engines, so there is no rate.
        amount: prepared
            .filter(|prepared| prepared.arrivals.is_none() && written.model != Model::KvSettle)
            .map(|prepared| prepared.amount),
        arrivals: prepared.and_then(|prepared| prepared.arrivals),
        due: prepared.and_then(|prepared| prepared.due),
        answer: match &test.invariants[..] {
            [] => prepared
                .filter(|_| test.check.is_none() || written.model == Model::Mix)
                .map(|prepared| prepared.answer.clone()),
            says => Some((1..).zip(says).map(all_hold).collect()),
        },
        invariants: test.invariants.clone(),
        load: prepared.and_then(|prepared| prepared.load),
        a_minute: written.a_minute.clone(),
        one_by_one: written.one_by_one,
        is_for_stores: written.is_for_stores(),
    }
}
