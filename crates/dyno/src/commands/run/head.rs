//! The record of a run at its outset: everything that is known before the first trial.

use std::collections::BTreeMap;
use std::env;

use dyno_engine::{Contender, ServerEngine, ServerUrl, is_address, repeatable};
use dyno_lab::machine::kept_calibration;
use dyno_lab::trial::TrialOptions;
use dyno_plan::{Plan, PlannedTest};
use dyno_record::{
    AgentRecord, ContenderRecord, Ended, Executed, MadeBy, Placement, Program, Run, SCHEMA, Seals,
    SourceRecord, SuiteRecord, TestRecord,
};
use dyno_suite::{ExpectedDigest, Published};

use super::request::RunRequest;
use super::site::Site;
use crate::cli::defaults;

/// A run without trials.
pub fn begin(
    request: RunRequest,
    plan: &Plan,
    site: &Site,
    agents: Vec<AgentRecord>,
    made_by: Option<MadeBy>,
) -> Run {
    let named = request.contenders.len();
    let contenders = plan.contenders.iter().enumerate();
    let tests = tests(&request, plan);
    let servers: Vec<ServerEngine> =
        plan.contenders.iter().filter_map(|contender| contender.engine.server()).collect();
    Run {
        schema: SCHEMA.into(),
        dyno: env!("CARGO_PKG_VERSION").into(),
        program: Some(program()),
        made_by,
        command: env::args()
            .chain(defaults::in_force().iter().cloned())
            .map(|argument| without_password(argument, &servers))
            .collect(),
        started: jiff::Timestamp::now().to_string(),
        elapsed_ns: 0,
        ended: Ended::Running,
        suite: SuiteRecord {
            name: request.suite.name.clone(),
            title: request.suite.title.clone(),
            story: Some(request.suite.story.clone()),
            published: Some(request.suite.published.iter().map(source).collect()),
            text: request.suite.text.clone(),
            parameters: request.parameters,
            tolerance: request.suite.tolerance,
            figure: request.suite.figure,
            file: request.file,
            rungs: request.rungs,
            only: request.only,
        },
        schedule: request.schedule,
        limits: request.limits,
        wanted: request.wanted,
        circumstances: request.circumstances,
        experiment: request.experiment,
        calibration: kept_calibration(&site.machine),
        machine: site.machine.clone(),
        agents,
        storage: site.storage.clone(),
        placement: stated_placement(plan, &site.options),
        contenders: contenders
            .map(|(index, contender)| self::contender(contender, plan, index < named))
            .collect(),
        left_out: request.left_out,
        baseline: request.baseline,
        tests,
        trials: Vec::new(),
        answers: Vec::new(),
        seals: Seals::default(),
    }
}

/// This program.
fn program() -> Program {
    Program {
        commit: option_env!("DYNO_BUILT_FROM").map(str::to_owned),
        features: Some(env!("DYNO_FEATURES").to_owned()),
        content: dyno_lab::content::of_this_program(),
    }
}

/// A published table as a record, without its figures.
fn source(published: &Published) -> SourceRecord {
    SourceRecord {
        source: published.source.clone(),
        link: published.link.clone(),
        hardware: published.hardware.clone(),
        systems: published.seconds.keys().chain(published.rates.keys()).cloned().collect(),
    }
}

/// An argument as it may be kept: of a URL only what names the server.
fn without_password(argument: String, servers: &[ServerEngine]) -> String {
    let (option, value) = match argument.split_once('=') {
        Some(("--url", value)) => ("--url=", value),
        _ => ("", argument.as_str()),
    };
    match ServerUrl::parse(value, servers) {
        Ok(url) => format!("{option}{url}"),
        Err(_) if is_address(value) => format!("{option}{}", repeatable(value)),
        Err(_) => argument,
    }
}

/// The placement with what it means for servers, where a contender needs one.
fn stated_placement(plan: &Plan, conduct: &TrialOptions) -> Placement {
    let mut placement = conduct.placement.clone();
    if plan.contenders.iter().any(|contender| contender.engine.is_server()) {
        placement.note = format!("{}; {}", placement.note, conduct.sharing.note(&placement));
    }
    placement
}

/// The tests with what the suite knows of them: published figures, and the right answers where the
/// parameters are the defaults.
fn tests(request: &RunRequest, plan: &Plan) -> Vec<TestRecord> {
    let suite = &request.suite;
    let is_default = request.has_parameters(&BTreeMap::new());
    let published: Vec<&Published> =
        suite.published.iter().filter(|published| request.is_alike(published)).collect();
    let written = suite.tests.iter().enumerate();
    let written: BTreeMap<&str, usize> = written.map(|(index, test)| (test.id.as_str(), index)).collect();
    let record = |test: &PlannedTest| {
        let mut record = test.record.clone();
        let index = written[record.id.as_str()];
        if is_default && suite.tests[index].expect.is_some() {
            record.expect.clone_from(&suite.tests[index].expect);
        }
        if is_default {
            record.expect_digest = suite.tests[index].expect_digest.as_ref().and_then(ExpectedDigest::answer);
        }
        for published in &published {
            let systems = published.seconds.keys();
            let seconds = systems.filter_map(|system| {
                published.seconds_of(system, index, &suite.tests).map(|seconds| (system, seconds))
            });
            let count = record.amount.as_ref().map(|amount| amount.count as f64);
            let rates = published
                .rates
                .iter()
                .filter_map(|(system, rates)| Some((system, count? / rates.get(&test.record.id)?)));
            let figures = seconds.chain(rates).map(|(system, seconds)| (system.clone(), seconds));
            record.published.extend(figures.collect::<Vec<_>>());
        }
        record
    };
    plan.tests.iter().map(record).collect()
}

/// The record of a contender as it is known before its first trial.
fn contender(contender: &Contender, plan: &Plan, named: bool) -> ContenderRecord {
    ContenderRecord {
        label: contender.label.clone(),
        engine: contender.engine.name.clone(),
        driver: contender.driver.name.clone(),
        variant: contender.variant.as_ref().map(|variant| variant.name.clone()),
        lowest: contender.driver.default,
        language: contender.driver.language.clone(),
        per_commit: contender.per_commit,
        processes: contender.processes,
        stale_reads: contender.has_stale_reads(),
        cluster: contender.cluster,
        lacks: plan.lacks(contender),
        build: contender.build.clone(),
        url: contender.url.as_ref().map(ToString::to_string),
        profile: contender.profile.name.clone(),
        reason: contender.profile.reason.clone(),
        link: contender.profile.link.clone(),
        tuning: Some(contender.tuning),
        file_system: contender.file_system.map(|system| system.name().to_owned()),
        asked: contender.settings.clone(),
        claimed: contender.engine.claimed.clone(),
        hello: None,
        executed: Executed::default(),
        safety: contender.claimed.clone(),
        isolation: None,
        cache: None,
        proof: None,
        probes: Vec::new(),
        traffic: Vec::new(),
        slowdown: contender.slowdown,
        apart: None,
        apart_writing: None,
        harness: contender.is_harness(),
        named,
    }
}
