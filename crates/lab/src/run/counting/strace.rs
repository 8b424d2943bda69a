//! The output of strace: each system call of all threads of a process and of its children, with what it returned.
//!
//! Bytes are those that calls read and wrote: of files, whether or not a device was reached, and of connections. What a
//! process does with mapped files is no call.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, Result};

use super::{EventCounts, words};

/// The calls that make what was written durable.
const FLUSHES: [&str; 6] = ["fsync", "fdatasync", "msync", "sync", "syncfs", "sync_file_range"];
/// Those that return how many bytes they read.
const READS: [&str; 7] = ["read", "pread64", "readv", "preadv", "preadv2", "recvfrom", "recvmsg"];
/// Those that return how many they wrote.
const WRITES: [&str; 7] = ["write", "pwrite64", "writev", "pwritev", "pwritev2", "sendto", "sendmsg"];

/// The files that a runner asks for in vain where a section begins and ends (`crates/gauge/src/counting.rs`).
const BEGINS: &str = "\"/dyno/section/begins\"";
const ENDS: &str = "\"/dyno/section/ends\"";

/// The program and its arguments. It ends after the runner, when it has written all lines. It appends, because a second
/// runner may read the database again.
pub(super) fn program(file: &Path) -> Vec<String> {
    let mut program = words(["strace", "-f", "-A", "-qq", "-s", "32", "-e", "signal=none", "-o"]);
    program.push(file.display().to_string());
    program
}

/// The counts of each section, in their order.
pub(super) fn sections(file: &Path) -> Result<Vec<EventCounts>> {
    let open = File::open(file).with_context(|| format!("cannot read {}", file.display()))?;
    let mut sections = Vec::new();
    let mut section: Option<TracedSection> = None;
    for line in BufReader::new(open).split(b'\n') {
        let line = line.with_context(|| format!("cannot read {}", file.display()))?;
        let line = String::from_utf8_lossy(&line);
        if line.contains(BEGINS) {
            section = Some(TracedSection::default());
        } else if line.contains(ENDS) {
            sections.extend(section.take().map(TracedSection::counts));
        } else if let Some(section) = &mut section {
            section.add(&line);
        }
    }
    Ok(sections)
}

/// The calls of a section.
#[derive(Debug, Default)]
struct TracedSection {
    calls: u64,
    flushes: u64,
    read: u64,
    written: u64,
}

impl TracedSection {
    /// Adds a line such as `4711 pread64(5, "…"..., 4096, 0) = 4096`. A call during which another thread makes one has
    /// two lines: `4711 fsync(5 <unfinished ...>` and `4711 <... fsync resumed>) = 0`. It counts where it begins, its
    /// bytes where it ends.
    fn add(&mut self, line: &str) {
        let Some((_, call)) = line.split_once(' ') else { return };
        let call = call.trim_start();
        let name = match call.strip_prefix("<... ") {
            Some(resumed) => resumed.split(' ').next(),
            None => call.split_once('(').map(|(name, _)| name).filter(|name| is_name(name)),
        };
        let Some(name) = name else { return };
        if !call.starts_with('<') {
            self.calls += 1;
            self.flushes += u64::from(FLUSHES.contains(&name));
        }
        if READS.contains(&name) {
            self.read += returned(call);
        } else if WRITES.contains(&name) {
            self.written += returned(call);
        }
    }

    fn counts(self) -> EventCounts {
        let TracedSection { calls, flushes, read, written } = self;
        let counts =
            [("system_calls", calls), ("flushes", flushes), ("bytes_read", read), ("bytes_written", written)];
        counts.map(|(event, count)| (event.to_owned(), count)).into()
    }
}

/// Lines on signals and ends of processes have no name of a call.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The number that a call returned: 0 for an error, or where it has not ended.
fn returned(call: &str) -> u64 {
    // The call has not returned: a ` = ` in the line is part of an argument.
    if call.trim_end().ends_with("<unfinished ...>") {
        return 0;
    }
    let value = call.rsplit_once(" = ").and_then(|(_, value)| value.split(' ').next());
    value.and_then(|value| value.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_count_where_they_begin_and_bytes_where_they_end() {
        let lines = [
            r#"7 pread64(5, "SQLite = 3"..., 4096, 0) = 4096"#,
            "7 fdatasync(6 <unfinished ...>",
            r#"8 recvfrom(9, "x", 8192, 0, NULL, NULL) = -1 EAGAIN (Resource temporarily unavailable)"#,
            "7 <... fdatasync resumed>) = 0",
            r#"8 write(4, "SET a = 5 W"..., 10 <unfinished ...>"#,
            "8 <... write resumed>) = 10",
            "9 +++ exited with 0 +++",
        ];
        let mut section = TracedSection::default();
        lines.iter().for_each(|line| section.add(line));
        let expected = [("system_calls", 4), ("flushes", 1), ("bytes_read", 4096), ("bytes_written", 10)];
        assert_eq!(
            section.counts(),
            EventCounts::from(expected.map(|(event, count)| (event.to_owned(), count)))
        );
    }
}
