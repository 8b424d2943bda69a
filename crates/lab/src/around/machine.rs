//! Reads the kernel's counters: the time that tasks wait for resources, and the load of a disk.

use std::fs;
use std::path::{Path, PathBuf};

use dyno_record::Pressure;

/// The place of the time doing I/O, in milliseconds, among the fields of a disk's `stat`.
const BUSY: usize = 9;

/// A disk that is watched.
#[derive(Debug)]
pub struct Disk {
    stat: PathBuf,
}

impl Disk {
    /// Finds the disk below a folder; none if the folder is on no disk that the kernel counts separately.
    pub fn below(folder: &Path) -> Option<Disk> {
        let disk = crate::machine::storage(folder).ok()?.device?.disk;
        Some(Disk { stat: Path::new("/sys/block").join(disk).join("stat") })
    }

    /// For how long it was at work since the machine started, in nanoseconds.
    pub fn busy_ns(&self) -> Option<u64> {
        let text = fs::read_to_string(&self.stat).ok()?;
        let milliseconds: u64 = text.split_whitespace().nth(BUSY)?.parse().ok()?;
        milliseconds.checked_mul(1_000_000)
    }
}

/// For how long processes waited since the machine started.
pub fn pressure() -> Option<Pressure> {
    let read = |what: &str| fs::read_to_string(Path::new("/proc/pressure").join(what)).ok();
    let (cpu, memory, io) = (read("cpu")?, read("memory")?, read("io")?);
    Some(Pressure {
        cpu_some_ns: total(&cpu, "some")?,
        memory_some_ns: total(&memory, "some")?,
        memory_full_ns: total(&memory, "full")?,
        io_some_ns: total(&io, "some")?,
        io_full_ns: total(&io, "full")?,
    })
}

/// The total of a line, in nanoseconds.
fn total(text: &str, line: &str) -> Option<u64> {
    let line = text.lines().find(|candidate| candidate.starts_with(line))?;
    let microseconds: u64 = line.rsplit_once("total=")?.1.trim().parse().ok()?;
    microseconds.checked_mul(1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_lines_are_read() {
        let io = "some avg10=0.60 avg60=0.37 avg300=0.71 total=3078334305\nfull avg10=0.00 avg60=0.02 avg300=0.26 total=9\n";
        assert_eq!((total(io, "some"), total(io, "full")), (Some(3_078_334_305_000), Some(9000)));
        assert_eq!((total("", "some"), total("some total=many", "some")), (None, None));
    }
}
