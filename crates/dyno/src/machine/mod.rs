//! The facts of the machine that bear on speed: what a record needs so that someone can tell whether
//! two runs may be compared.
//!
//! Reads `/proc`, `/sys` and a few system calls; never writes, never measures and never fails:
//! containers and small kernels hide files, and what cannot be read is `None` or an empty list. It
//! records no host name, user name, serial number or address.
//!
//! Units: sizes are bytes; CPUs are the kernel's numbers, from 0.

mod cpu;
pub mod cpu_list;
pub(crate) mod mounts;
mod storage;
mod system;

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use cpu::{Cache, Cpu, Topology, allowed as allowed_cpus};
pub(crate) use storage::chosen;
pub use storage::{Device, Storage};
pub(crate) use system::meminfo;
pub use system::{Kernel, Virtualisation};

/// What a run was measured on.
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
    /// Whether and in what the system is a guest.
    pub virtualisation: Virtualisation,
    /// What the kernel's clock ticks by, as `tsc`.
    pub clock_source: Option<String>,
}

impl Machine {
    /// Reads the facts now.
    ///
    /// The allowed CPUs are those of the calling thread, so call this before
    /// [`crate::placement::Placement::apply_to_self`] narrows them.
    pub fn read() -> Machine {
        let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
        Machine {
            cpu: Cpu::read(),
            memory_bytes: system::meminfo(&memory, "MemTotal"),
            swap_bytes: system::meminfo(&memory, "SwapTotal"),
            kernel: Kernel::read(),
            distribution: system::distribution(),
            libc: system::libc_version(),
            virtualisation: Virtualisation::read(),
            clock_source: fact("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        }
    }
}

/// The trimmed text of a small kernel file; `None` when it cannot be read or is empty.
pub(crate) fn fact(path: impl AsRef<Path>) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_can_be_read_and_written_down() {
        let machine = Machine::read();
        assert!(!machine.cpu.allowed.is_empty());
        assert!(machine.cpu.online >= 1);
        assert!(!machine.kernel.release.is_empty());
        let json = serde_json::to_string(&machine).unwrap();
        assert_eq!(serde_json::from_str::<Machine>(&json).unwrap(), machine);
    }

    #[test]
    fn a_missing_fact_is_none() {
        assert_eq!(fact("/proc/no/such/file"), None);
    }
}
