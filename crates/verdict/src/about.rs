//! The context of the figures: suite, machine, schedule, and failures.

use dyno_record::{
    AgentRecord, Ended, LeftOut, Limits, Load, Machine, MachineCalibration, MadeBy, Placement, Program, Run,
    Schedule, Seals, Storage, SuiteRecord,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::generators::{Generator, generators};

/// The facts of a run that its figures share.
#[derive(Debug, Clone, PartialEq)]
pub struct About {
    /// The version of dyno that wrote the record.
    pub dyno: String,
    /// The program that wrote it; absent in records of earlier versions.
    pub program: Option<Program>,
    /// The maker of the run, where it was stated.
    pub made_by: Option<MadeBy>,
    /// The result of checking the run file's seals.
    pub seals: Seals,
    /// The command line, as typed.
    pub command: Vec<String>,
    /// The time when the run began, UTC, RFC 3339.
    pub started: String,
    /// The time it took so far, in nanoseconds.
    pub elapsed_ns: u64,
    /// The run's end and its reason, if it ended.
    pub ended: Ended,
    /// The suite, its text included.
    pub suite: SuiteRecord,
    /// The rules that decided the number and order of trials.
    pub schedule: Schedule,
    /// The resources given or denied to all contenders.
    pub limits: Limits,
    /// The machine.
    pub machine: Machine,
    /// The agents that were asked to drive the clients, by rank; empty where the clients were on the machine of dyno.
    pub agents: Vec<AgentRecord>,
    /// The machines that drove the clients, by rank: those of the agents that did.
    pub generators: Vec<Generator>,
    /// The smallest differences that the machine was found to show.
    pub calibration: Option<MachineCalibration>,
    /// The storage of the databases.
    pub storage: Storage,
    /// The processors used, and the priority.
    pub placement: Placement,
    /// Those of the suite's own contenders that could not be had.
    pub left_out: Vec<LeftOut>,
    /// The arrival of operations, in a run with many clients.
    pub load: Option<Load>,
    /// The number of measured blocks, without those of warm-up and of latency.
    pub blocks: u32,
}

/// The trials of a contender that did not finish.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failures {
    /// The contender, by its position in the run.
    pub contender: usize,
    /// The number of its trials that failed.
    pub failed: usize,
    /// The number of its trials, warm-up included.
    pub trials: usize,
    /// The test in which the first of them failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// The message of the failure.
    pub message: String,
}

impl About {
    /// The facts of a run.
    pub fn new(run: &Run) -> About {
        let measured = run.trials.iter().filter(|trial| !trial.is_extra());
        About {
            load: run.load(),
            dyno: run.dyno.clone(),
            program: run.program.clone(),
            made_by: run.made_by.clone(),
            seals: run.seals,
            command: run.command.clone(),
            started: run.started.clone(),
            elapsed_ns: run.elapsed_ns,
            ended: run.ended,
            suite: run.suite.clone(),
            schedule: run.schedule.clone(),
            limits: run.limits,
            machine: run.machine.clone(),
            agents: run.agents.clone(),
            generators: generators(run),
            calibration: run.calibration.clone(),
            storage: run.storage.clone(),
            placement: run.placement.clone(),
            left_out: run.left_out.clone(),
            blocks: measured.map(|trial| trial.block).max().unwrap_or(0),
        }
    }
}

/// The failures of every contender that has any, in their order.
pub(crate) fn failures(run: &Run) -> Vec<Failures> {
    let of = |contender: usize| {
        let trials: Vec<_> = run.trials.iter().filter(|trial| trial.contender == contender).collect();
        let failures: Vec<_> = trials.iter().filter_map(|trial| trial.failure.as_ref()).collect();
        let first = *failures.first()?;
        Some(Failures {
            contender,
            failed: failures.len(),
            trials: trials.len(),
            test: first.test.clone(),
            message: first.message.clone(),
        })
    };
    (0..run.contenders.len()).filter_map(of).collect()
}
