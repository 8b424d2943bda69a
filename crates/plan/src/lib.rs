//! The plan: contenders × tests, with every input on disk before the first trial.
//!
//! Planning renders a suite once for each dialect and form of its tables, works out the right answers, and writes the
//! files that the runners map. It starts no process and measures nothing.

mod arrays;
mod arrivals;
mod checks;
mod contents;
mod divided;
mod draws;
mod last;
mod mix;
mod planned;
pub mod probes;
pub mod records;
mod row;
mod selection;
mod size;
mod step_layout;
mod steps;
mod timetable;
pub mod traffic;
pub mod truth;
mod work;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use dyno_engine::Contender;
use dyno_protocol as protocol;
use dyno_record::{Level, Parameters};
use dyno_suite::progress::PlanningProgress;
use dyno_suite::{Bounds, Suite, TableForm};

use arrays::Arrays;
use arrivals::Arrivals;
use checks::check_clients;
use divided::is_divided;
use planned::describe;
use work::{PreparedWork, Preparer, committing, in_dialect, is_cut, operations};

pub use arrivals::Arriving;
pub use checks::check_models;
pub use divided::divided_mixes;
pub use last::last_job;
pub use planned::PlannedTest;
pub use selection::{Selection, chosen_mixes, select};
pub use size::input_bytes;

/// Everything that a run is going to do.
#[derive(Debug)]
pub struct Plan {
    /// The contenders, as named.
    pub contenders: Vec<Contender>,
    /// The tests of every trial, in order.
    pub tests: Vec<PlannedTest>,
    /// The work of those tests, by dialect and form of tables.
    work: BTreeMap<(String, TableForm), Vec<protocol::Test>>,
    /// The operations that arrive in searches for a rate.
    arrivals: Arrivals,
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
        Plan::watched(suite, parameters, contenders, selection, folder, file, &PlanningProgress::default())
    }

    /// The same, with a watch for progress and cancellation.
    pub fn watched(
        suite: &Suite,
        parameters: &Parameters,
        contenders: Vec<Contender>,
        selection: &[Selection],
        folder: &Path,
        file: Option<&Path>,
        watch: &PlanningProgress,
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
        let prepared: Vec<Option<PreparedWork>> = prepared.collect::<Result<_>>()?;
        let mut tests = Vec::new();
        let mut work = BTreeMap::new();
        for contender in &contenders {
            let (dialect, form) = (&contender.engine.dialect, contender.form);
            if work.contains_key(&key(contender)) {
                continue;
            }
            let rendered = suite.render_form(parameters, dialect, form, bounds(suite, parameters), watch)?;
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
        for (place, test) in tests.iter_mut().enumerate() {
            let whole = |contender| whole(contender, test, &work[&key(contender)][place]);
            test.whole = contenders.iter().map(whole).collect();
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
                let of = mix.clients;
                let is_parted = contender.processes && is_divided(of, mix.lasts);
                mix.threads = contender.client_threads.map(|threads| threads.most(of));
                mix.part = is_parted.then_some(protocol::ClientPart { before: 0, of });
            }
            protocol::Test { work, ..test.clone() }
        });
        protocol::Job { tests: tests.collect(), ..probe(contender, directory) }
    }

    /// The operations that arrive, `rate` per second, in a test (by id) in a trial of a block; they replace the steps
    /// of its job.
    ///
    /// # Errors
    /// The test is no mix that lasts a time, or the arrivals cannot be written.
    pub fn arriving(&self, test: &str, rate: f64, block: u32) -> Result<Arriving> {
        self.arrivals.write(test, rate, block)
    }

    /// A test by its id.
    pub fn test(&self, id: &str) -> Option<&PlannedTest> {
        self.tests.iter().find(|planned| planned.record.id == id)
    }

    /// True if a timed test has more than one client.
    pub fn has_clients(&self) -> bool {
        let many = |test: &protocol::Test| match &test.work {
            protocol::Work::Mix(mix) => mix.clients > 1,
            _ => false,
        };
        let timed = |tests: &Vec<protocol::Test>| {
            tests.iter().zip(&self.tests).any(|(test, planned)| !planned.record.preparation && many(test))
        };
        self.work.values().any(timed)
    }

    /// The ids of the tests that a contender does not do, because its runner lacks their models, or because they are
    /// SQL and its engine has no SQL.
    pub fn lacks(&self, contender: &Contender) -> Vec<String> {
        let lacking = self.tests.iter().filter(|test| !test.is_for(contender));
        lacking.map(|test| test.record.id.clone()).collect()
    }
}

/// The limits of the suite's templates: wide if the user asked for a size.
pub fn bounds(suite: &Suite, parameters: &Parameters) -> Bounds {
    let is_asked = dyno_suite::resolve(&suite.parameters, &[]).is_ok_and(|usual| usual != *parameters);
    if is_asked { Bounds::default() } else { Bounds::UNASKED }
}

/// The properties of a contender on which its work depends.
fn key(contender: &Contender) -> (String, TableForm) {
    (contender.engine.dialect.clone(), contender.form)
}

/// A job without tests, which asks only which engine answers and which settings are in force.
pub fn probe(contender: &Contender, directory: &Path) -> protocol::Job {
    protocol::Job {
        protocol: protocol::PROTOCOL,
        engine: contender.engine.name.clone(),
        speaks: contender.engine.speaks.map(|protocol| protocol.name().to_owned()),
        driver: contender.driver.name.clone(),
        variant: contender.variant.as_ref().map(|variant| variant.name.clone()),
        build: contender.build.clone(),
        settings: contender.settings_by_calls(),
        on_connect: contender.on_connect(),
        read_back: contender.read_back(),
        database_bytes: Vec::new(),
        server: None,
        maintenance: None,
        key: contender.engine_key().cloned(),
        directory: directory.to_owned(),
        latency: false,
        turns: false,
        slowdown: contender.slowdown.unwrap_or_default(),
        answers_only: false,
        tests: Vec::new(),
    }
}

/// The number of operations of a test, if the contender's trials time only the first of them.
fn whole(contender: &Contender, planned: &PlannedTest, test: &protocol::Test) -> Option<u64> {
    let work = committing(test.work.clone(), contender.per_commit, most_timed(contender, planned));
    is_cut(&work).then(|| operations(&work))
}

/// The number of operations of a test that are timed if each is a commit: fewer than all only if each is also synced,
/// because syncs take so long.
fn most_timed(contender: &Contender, test: &PlannedTest) -> Option<u64> {
    // An engine that can tear pages syncs too.
    let syncs = contender
        .claimed
        .as_ref()
        .is_some_and(|safety| safety.level == Level::PowerLoss || safety.hole.is_some());
    test.one_by_one.filter(|_| syncs)
}
