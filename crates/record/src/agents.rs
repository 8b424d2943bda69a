//! The machines from which agents drove clients, and what each of them did in a trial.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Machine, Others};

/// An agent: a dyno on another machine, from which clients reached the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentRecord {
    /// The host, as it was typed, or else as it calls itself.
    pub host: String,
    /// The machine, as the agent read it there.
    pub machine: Machine,
    /// The first of the agents on the same machine, by its position, if that is another one: they share the processors.
    /// Absent in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_machine_as: Option<usize>,
}

/// The work of one agent's clients in a test of a trial. The sample has the sum of all agents.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AgentShare {
    /// The agent, by its position.
    pub agent: usize,
    /// The test's id.
    pub test: String,
    /// The number of its clients.
    pub clients: u32,
    /// Operations that they did.
    pub operations: u64,
    /// The duration of the section, in nanoseconds.
    pub nanoseconds: u64,
    /// CPU time of the runner there, in nanoseconds.
    pub cpu_ns: u64,
    /// The nanoseconds by which its clock is ahead of dyno's; negative where it is behind.
    pub clock_ahead_ns: i64,
    /// The most by which that may be wrong, in nanoseconds: half of the quickest exchange in which the clocks were
    /// compared.
    pub clock_error_ns: u64,
    /// The nanoseconds from the moment agreed on until its section began, on dyno's clock; negative where it seems to have
    /// begun before. What was due meanwhile counts from when it was due. Absent in older files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late_start_ns: Option<i64>,
    /// Of operations that were due at a time: 99 % were sent at most so late although a client was free, in
    /// nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late_ns: Option<u64>,
    /// 99 % of the operations took at most so long, in nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_ns: Option<u64>,
    /// The time that others took of the machine while its runner was there; absent where the kernel does not report it, and
    /// where another agent may use the same processors, whose clients are none of these others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub others: Option<Others>,
}

/// The hosts whose agents were to drive the clients of a run; empty where the clients were on the machine of dyno.
pub fn hosts(agents: &[AgentRecord]) -> BTreeSet<&str> {
    agents.iter().map(|agent| agent.host.as_str()).collect()
}
