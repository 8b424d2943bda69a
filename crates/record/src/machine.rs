//! The facts of the machine that bear on speed: what a record needs so that a reader can decide whether two runs may be
//! compared. They name no host, user, serial number or address.
//!
//! Units: sizes are bytes; CPUs are the kernel's numbers, from 0. What could not be read is `None` or an empty list.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The machine on which a run was measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// The processor.
    pub cpu: Cpu,
    /// Memory that the kernel manages, in bytes.
    pub memory_bytes: Option<u64>,
    /// Swap space configured, in bytes; 0 when there is none.
    pub swap_bytes: Option<u64>,
    /// The running kernel.
    pub kernel: Kernel,
    /// The distribution, as it calls itself: `Debian GNU/Linux 12 (bookworm)`.
    pub distribution: Option<String>,
    /// The C library that dyno runs with, as `glibc 2.36`. A runner may load another.
    pub libc: Option<String>,
    /// The kind of guest that the system is, if it is one.
    pub virtualisation: Virtualisation,
    /// The source of the kernel's clock, as `tsc`.
    pub clock_source: Option<String>,
}

/// The processor as the kernel shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cpu {
    /// The instruction set, as `x86_64`.
    pub architecture: String,
    /// The model's name, or its numbers where it has no name.
    pub model: Option<String>,
    /// CPUs (hardware threads) online.
    pub online: usize,
    /// Cores among them; fewer than CPUs where hyper-threads share one.
    pub cores: Option<usize>,
    /// CPUs that dyno may use, ascending.
    pub allowed: Vec<usize>,
    /// The processor time that dyno's control groups allow in a second, in nanoseconds; absent where they set no limit,
    /// and in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota_ns: Option<u64>,
    /// True if two or more CPUs share a core.
    pub smt: Option<bool>,
    /// The caches that the first allowed CPU sees, nearest first.
    pub caches: Vec<Cache>,
    /// Frequency governors, each with the list of its CPUs: `{"performance": "0-7"}`. Empty when the
    /// kernel shows none, as in most virtual machines.
    pub governors: BTreeMap<String, String>,
    /// True if the processor may exceed its base frequency for a while.
    pub turbo: Option<bool>,
}

/// One cache of a CPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cache {
    /// 1 is the nearest.
    pub level: u8,
    /// `Data`, `Instruction` or `Unified`.
    pub kind: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// The number of CPUs that share it.
    pub shared_by: usize,
}

/// The running kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Kernel {
    /// As `uname -r` prints it.
    pub release: String,
    /// The build, as `uname -v` prints it; it names the preemption model.
    pub version: String,
}

/// The virtual machine or container around the system, if it is a guest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Virtualisation {
    /// True if a hypervisor shows itself. `None` where the processor has no sign for it.
    pub hypervisor: Option<bool>,
    /// Maker and product that the firmware names: a hypervisor's, a cloud's or a computer's.
    pub product: Option<String>,
    /// The kind of container, as `docker`; `None` when no sign of one is found.
    pub container: Option<String>,
}
