//! The facts of the machine that affect speed. A run records them, so that a reader can judge whether two runs are
//! comparable.
//!
//! [`read`] reads `/proc` and `/sys`, makes a few system calls, and never fails: containers and small kernels hide
//! files, and a fact that cannot be read is `None` or an empty list. It records no host name, user name, serial number
//! or address. The module writes one file, the calibration.
//!
//! Units: sizes are bytes; CPUs are the kernel's numbers, from 0.

mod calibration;
mod cpu;
pub(crate) mod groups;
pub(crate) mod mounts;
mod storage;
mod syncs;
mod system;

use std::path::Path;

use dyno_record::Machine;

pub use calibration::{keep_calibration, kept_calibration};
pub use cpu::{Topology, allowed as allowed_cpus};
pub(crate) use storage::chosen;
pub use storage::storage;
pub(crate) use syncs::{Kind, has_no_barriers, kind};
pub use syncs::{cap, is_in_memory};
pub use system::{available_memory, meminfo};

/// Reads the facts now.
///
/// The allowed CPUs are those of the calling thread, so call this before
/// [`crate::placement::apply_to_self`] narrows them.
pub fn read() -> Machine {
    let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    Machine {
        cpu: cpu::read(),
        memory_bytes: system::meminfo(&memory, "MemTotal"),
        swap_bytes: system::meminfo(&memory, "SwapTotal"),
        kernel: system::kernel(),
        distribution: system::distribution(),
        libc: system::libc_version(),
        virtualisation: system::virtualisation(),
        clock_source: fact("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
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
        let machine = read();
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
