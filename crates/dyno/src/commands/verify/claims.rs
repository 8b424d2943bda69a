//! Checks that what a run says of its tests, contenders and order follows from the suite, the engine files and the
//! seed.

use dyno_engine::{Contender, Home, Registry, ServerUrl, proofs};
use dyno_lab::run::order_of_block;
use dyno_protocol::Hello;
use dyno_record::{ContenderRecord, Ended, Experiment, Neutralised, Run, Safety, Standing, TestRecord};
use dyno_suite::progress::PlanningProgress;
use dyno_suite::{Bounds, ExpectedDigest, NO_SQL, Renderer, Suite, TableForm, Test};

/// The most that the template of a title may take: the suite may be a stranger's.
const TITLE: Bounds = Bounds { bytes: 1 << 16, instructions: 1 << 20 };

/// The sentences that say what does not follow.
pub fn unfounded(run: &Run, home: &Home, registry: &Registry) -> Vec<String> {
    let mut found = in_suite(run, home, registry);
    for (place, record) in run.contenders.iter().enumerate() {
        let label = &record.label;
        let name = run.experiment.as_ref().map_or(label.as_str(), |experiment| name_of(experiment, label));
        let mut of_contender = run.trials.iter().filter(|trial| trial.contender == place);
        let why = match &record.hello {
            None if of_contender.any(|trial| !trial.samples.is_empty()) => {
                Some("it has samples, and no settings in force".to_owned())
            }
            None => None,
            Some(hello) => in_contender(run, (record, hello), name, registry),
        };
        found.extend(why.map(|why| format!("{label}: {why}")));
    }
    found.extend(in_order(run));
    found
}

/// The tests and their right answers are those of the suite's text.
fn in_suite(run: &Run, home: &Home, registry: &Registry) -> Vec<String> {
    let path = home.suite(&run.suite.name);
    let suite = match Suite::parse(run.suite.text.clone(), &path, &registry.dialects()) {
        Ok(suite) => suite,
        Err(error) => return vec![format!("its suite cannot be read: {error:#}")],
    };
    let mut found = Vec::new();
    if (&suite.name, &suite.title) != (&run.suite.name, &run.suite.title) {
        found.push("the suite in it has another name or title".to_owned());
    }
    if suite.figure != run.suite.figure || suite.tolerance.to_bits() != run.suite.tolerance.to_bits() {
        found.push("the suite in it has another kind of figure or another tolerance".to_owned());
    }
    let values = run.suite.parameters.iter().map(|(name, value)| (name.to_owned(), value.to_string()));
    let parameters = match dyno_suite::resolve(&suite.parameters, &values.collect::<Vec<_>>()) {
        Ok(parameters) => parameters,
        Err(error) => return vec![format!("its suite has other parameters: {error:#}")],
    };
    let is_default = dyno_suite::resolve(&suite.parameters, &[]).is_ok_and(|usual| usual == parameters);
    let watch = PlanningProgress::default();
    let titles = Renderer::new(&parameters, NO_SQL, TableForm::default(), TITLE, &watch);
    let is_there = |written: &Test| run.tests.iter().any(|test| test.id == written.id && !test.preparation);
    if run.suite.only.is_none() {
        let missing = suite.tests.iter().filter(|written| !is_there(written));
        found.extend(missing.map(|written| format!("test {} of the suite is missing", written.id)));
    }
    for test in &run.tests {
        let written = suite.tests.iter().find(|written| written.id == test.id);
        let why = match written {
            Some(written) => in_test(test, written, &titles, is_default),
            None => Some("is not one of the suite's"),
        };
        found.extend(why.map(|why| format!("test {}: {why}", test.id)));
    }
    found
}

fn in_test(test: &TestRecord, written: &Test, titles: &Renderer, is_default: bool) -> Option<&'static str> {
    let title = titles.render(written.title.get_ref());
    if !title.is_ok_and(|title| title.trim() == test.title) {
        return Some("has another title in the suite");
    }
    if test.model != written.model.name() || test.prepares != written.prepares {
        return Some("is of another kind in the suite");
    }
    // The suite states answers of its default parameters. The others, which the plan worked out, stand as they are.
    if !is_default {
        return None;
    }
    let digest = written.expect_digest.as_ref().and_then(ExpectedDigest::answer);
    let is_other = written.expect.is_some() && test.expect != written.expect || test.expect_digest != digest;
    is_other.then_some("has another right answer in the suite")
}

/// A property of a contender in which its record contradicts its name, of those that decide where it is ranked.
fn contradicted(
    run: &Run,
    record: &ContenderRecord,
    contender: &Contender,
    name: &str,
) -> Option<&'static str> {
    // Agents drive clients that are processes, whatever the name says.
    let is_driven = !run.agents.is_empty();
    [
        ("commit size", record.per_commit != contender.per_commit),
        ("role in the harness", record.harness != contender.is_harness()),
        ("kind of clients", record.processes != contender.processes && !is_driven),
        ("standard of tuning", record.tuning.is_some_and(|tuning| tuning != contender.tuning)),
        ("address", record.url.is_some() && contender.label != name),
    ]
    .into_iter()
    .find_map(|(what, differs)| differs.then_some(what))
}

/// A level may be lower than its settings allow, for the storage or by a proof, and never higher.
fn in_contender(
    run: &Run,
    (record, hello): (&ContenderRecord, &Hello),
    name: &str,
    registry: &Registry,
) -> Option<String> {
    let contender = match resolved(record, name, registry) {
        Ok(contender) => contender,
        Err(error) => return Some(format!("its level cannot be worked out here: {error:#}")),
    };
    if record.engine != contender.engine.name {
        return Some(format!("its engine is {}, and the file says {}", contender.engine.name, record.engine));
    }
    if let Some(property) = contradicted(run, record, &contender, name) {
        return Some(format!("its {property} is not what its name says"));
    }
    let differing = contender.engine.differences(&record.asked, &hello.settings);
    if let Some(difference) = differing.first() {
        return Some(format!("a setting was not in force: {difference}"));
    }
    let known = contender.safety(&hello.settings);
    let (known, said) = (known.as_ref(), record.safety.as_ref());
    if let Some(said) = said.filter(|said| !allows(known, said)) {
        let known = known.map_or("no known level", Safety::name);
        return Some(format!("its settings in force give {known}, and the file says {}", said.name()));
    }
    if let (Some(known), Some(said)) = (known, said)
        && !has_evidence(known, said)
    {
        return Some(format!(
            "the file says that its level is {}, without the evidence for it",
            said.standing.name()
        ));
    }
    let isolation = contender.engine.isolation(&hello.settings);
    (isolation != record.isolation).then(|| "its settings in force give another isolation level".to_owned())
}

/// True if a level may be said of settings that give `known`.
fn allows(known: Option<&Safety>, said: &Safety) -> bool {
    known.is_some_and(|known| {
        said.level < known.level
            || said.level == known.level && (known.consistent || !said.consistent) && said.hole == known.hole
    })
}

/// True if the file has the evidence that it says there is for a level: settings that were read back, or a result of `dyno
/// prove` of which as much follows.
fn has_evidence(known: &Safety, said: &Safety) -> bool {
    match (said.standing, &said.survival) {
        (Standing::Claimed, _) => true,
        (Standing::ReadBack, _) => known.standing == Standing::ReadBack,
        (Standing::Observed | Standing::Disproved, survival) => survival.is_some(),
        (Standing::Survived, None) => false,
        (Standing::Survived, Some(survival)) => {
            let promised = Safety { level: said.level, ..known.clone() };
            proofs::tried(promised, survival.clone()).standing == Standing::Survived
        }
    }
}

/// The name of a contender of an experiment, by its label: without the suspect that is neutralised in its trials.
fn name_of<'a>(experiment: &Experiment, label: &'a str) -> &'a str {
    let without = |how: &Neutralised| label.strip_suffix(&how.suspect().label(""));
    experiment.tried.iter().find_map(without).unwrap_or(label)
}

fn resolved(record: &ContenderRecord, name: &str, registry: &Registry) -> anyhow::Result<Contender> {
    match &record.url {
        Some(url) => Contender::at(ServerUrl::parse(url, &registry.servers())?, registry),
        None => Contender::parse(name, registry),
    }
}

/// The trials of a whole block are in the order that the seed gives.
fn in_order(run: &Run) -> Vec<String> {
    let last = run.trials.last().map(|trial| trial.block);
    let mut found = Vec::new();
    let mut blocks: Vec<u32> = run.trials.iter().map(|trial| trial.block).collect();
    blocks.dedup();
    for block in blocks {
        let order: Vec<usize> =
            run.trials.iter().filter(|trial| trial.block == block).map(|trial| trial.contender).collect();
        let is_cut = Some(block) == last && matches!(run.ended, Ended::Interrupted | Ended::Running);
        let mut contenders = order.clone();
        contenders.sort_unstable();
        if !is_cut && order != order_of_block(run, block, &contenders) {
            found.push(format!("the trials of block {block} are not in the order of the run's seed"));
        }
    }
    found
}
