//! The kernel's counters of this process, read just outside the clock.
//!
//! The files are opened once and read again in place, so that a reading costs microseconds and lies
//! close to the clock. A counter that this system does not give reads as zero. Times are nanoseconds.
//!
//! Written bytes count what is marked to be written, by the pieces in which the kernel caches a file. On
//! file systems with large ones (ext4 since Linux 6.16) that can be far more than the device gets: in a
//! file that was made by writes of 1 MiB, each 8 KiB written over counts as 1 MiB.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;

/// The counters, ready to be read.
#[derive(Debug)]
pub struct Counters {
    schedstat: Option<File>,
    io: Option<File>,
    status: Option<File>,
    clear_refs: Option<File>,
    me: String,
}

/// The values of the counters at one moment.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reading {
    /// CPU time in user mode.
    pub user_ns: u64,
    /// CPU time in system mode.
    pub system_ns: u64,
    /// Time spent runnable and waiting for a processor.
    pub wait_ns: u64,
    /// Bytes read from a device.
    pub read_bytes: u64,
    /// Bytes on their way to a device.
    pub written_bytes: u64,
}

impl Counters {
    /// Opens the files of this process.
    pub fn open() -> Counters {
        let own = |name: &str| File::open(Path::new("/proc/self").join(name)).ok();
        Counters {
            schedstat: own("schedstat"),
            io: own("io"),
            status: own("status"),
            clear_refs: OpenOptions::new().write(true).open("/proc/self/clear_refs").ok(),
            me: std::process::id().to_string(),
        }
    }

    /// Gets ready to be read. Writing 5 sets the peak of resident memory back to what is resident now; it touches no page.
    pub fn prepare(&self) {
        if let Some(file) = &self.clear_refs {
            // Without this permission, the peak is that of the process's whole life.
            let _ = file.write_at(b"5", 0);
        }
    }

    /// Reads before the clock starts: what matters most, the wait for a processor, comes last.
    pub fn before(&self) -> Reading {
        let mut reading = self.slow();
        let others = self.wait_of_other_threads();
        reading.wait_ns = self.own_wait() + others;
        reading
    }

    /// Reads after the clock has stopped: the wait for a processor comes first.
    pub fn after(&self) -> Reading {
        let wait = self.own_wait();
        let mut reading = self.slow();
        reading.wait_ns = wait + self.wait_of_other_threads();
        reading
    }

    /// Largest resident memory since the last reading before a clock, in bytes.
    pub fn peak_bytes(&self) -> u64 {
        let text = self.status.as_ref().map(read).unwrap_or_default();
        field(&text, "VmHWM:").map_or(0, |kibibytes| kibibytes * 1024)
    }

    fn slow(&self) -> Reading {
        // First what takes one call: where hundreds of clients are at work already, the next ones may take a second.
        let usage = getrusage(UsageWho::RUSAGE_SELF);
        let io = self.io.as_ref().map(read).unwrap_or_default();
        Reading {
            user_ns: usage.as_ref().map_or(0, |usage| nanoseconds(usage.user_time())),
            system_ns: usage.as_ref().map_or(0, |usage| nanoseconds(usage.system_time())),
            wait_ns: 0,
            read_bytes: field(&io, "read_bytes:").unwrap_or(0),
            written_bytes: field(&io, "write_bytes:").unwrap_or(0),
        }
    }

    /// `/proc/self/schedstat` covers the first thread alone.
    fn own_wait(&self) -> u64 {
        self.schedstat.as_ref().and_then(|file| wait(&read(file))).unwrap_or(0)
    }

    /// The time that drivers' own threads waited. The figure of a thread is lost when it ends.
    fn wait_of_other_threads(&self) -> u64 {
        let Ok(tasks) = fs::read_dir("/proc/self/task") else { return 0 };
        tasks
            .flatten()
            .filter(|task| *task.file_name() != *self.me)
            .filter_map(|task| fs::read_to_string(task.path().join("schedstat")).ok())
            .filter_map(|text| wait(&text))
            .sum()
    }
}

/// Reads a file of `/proc` from its beginning, which makes the kernel write it anew.
fn read(file: &File) -> String {
    let mut buffer = [0; 4096];
    let length = file.read_at(&mut buffer, 0).unwrap_or(0);
    String::from_utf8_lossy(&buffer[..length]).into_owned()
}

/// The number after a name at the beginning of a line.
pub fn field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The second of the three numbers of a `schedstat`.
pub(crate) fn wait(schedstat: &str) -> Option<u64> {
    schedstat.split_whitespace().nth(1)?.parse().ok()
}

fn nanoseconds(time: TimeVal) -> u64 {
    u64::try_from(time.tv_sec() * 1_000_000_000 + time.tv_usec() * 1_000).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_at_the_beginning_of_a_line() {
        let io = "rchar: 1\nread_bytes: 4096\nwrite_bytes: 512\ncancelled_write_bytes: 7\n";
        assert_eq!(field(io, "write_bytes:"), Some(512));
        assert_eq!(field("VmHWM:\t    2048 kB\n", "VmHWM:"), Some(2048));
        assert_eq!(field(io, "nothing:"), None);
        assert_eq!(wait("5044893 112408 6\n"), Some(112_408));
    }

    #[test]
    fn work_shows_in_the_counters() {
        let counters = Counters::open();
        counters.prepare();
        let before = counters.before();
        let clock = std::time::Instant::now();
        let memory = std::hint::black_box(vec![1u8; 64 << 20]);
        while clock.elapsed().as_millis() < 30 {}
        let after = counters.after();
        assert!(after.user_ns + after.system_ns > before.user_ns + before.system_ns);
        assert!(counters.peak_bytes() >= memory.len() as u64);
    }

    #[test]
    fn the_peak_is_that_of_the_section() {
        let counters = Counters::open();
        if counters.clear_refs.is_none() {
            return;
        }
        drop(std::hint::black_box(vec![1u8; 512 << 20]));
        let whole = counters.peak_bytes();
        counters.prepare();
        assert!(counters.peak_bytes() < whole);
    }
}
