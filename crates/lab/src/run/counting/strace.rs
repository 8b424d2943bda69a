//! The output of strace: each system call of all threads of a process and of its children, with what it returned.
//!
//! Bytes are those that calls read and wrote: of files, whether or not a device was reached, and of connections. What a
//! process does with mapped files is no call, and neither is what it gives to the kernel by `io_uring`.
//!
//! A second strace lists the calls of a server's processes. Each line has the time of its call, so that those of a server
//! can be placed in the sections of its client.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, Result};
use dyno_protocol::SERVER_EVENTS;

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
    let mut program = words(["strace", "-f", "-A", "-qq", "-ttt", "-s", "32", "-e", "signal=none", "-o"]);
    program.push(file.display().to_string());
    program
}

/// The counts of each section, in their order; with those of a server, where its calls are in a file.
pub(super) fn sections(file: &Path, server: Option<&Path>) -> Result<Vec<EventCounts>> {
    let mut sections = of_client(file)?;
    if let Some(server) = server {
        add_server(&mut sections, server)?;
    }
    let counts = sections.into_iter().map(|section| {
        let mut counts = section.client.counts("");
        if server.is_some() {
            counts.extend(section.server.counts(SERVER_EVENTS));
        }
        counts
    });
    Ok(counts.collect())
}

/// The sections of a runner, by its own calls.
fn of_client(file: &Path) -> Result<Vec<TracedSection>> {
    let mut sections = Vec::new();
    let mut section: Option<TracedSection> = None;
    for_each_call(file, |time, call| {
        if call.contains(BEGINS) {
            section = Some(TracedSection { began: time, ..TracedSection::default() });
        } else if call.contains(ENDS) {
            sections.extend(section.take().map(|section| TracedSection { ended: time, ..section }));
        } else if let Some(section) = &mut section {
            section.client.add(call);
        }
    })?;
    Ok(sections)
}

/// Adds the calls of a server to the sections within which they were made.
fn add_server(sections: &mut [TracedSection], file: &Path) -> Result<()> {
    for_each_call(file, |time, call| {
        let after = sections.partition_point(|section| section.began <= time);
        let section = after.checked_sub(1).and_then(|place| sections.get_mut(place));
        if let Some(section) = section.filter(|section| time <= section.ended) {
            section.server.add(call);
        }
    })
}

/// Reads the lines of a file, such as `4711 1700000000.123456 fsync(5) = 0`: each with its time, in microseconds, and
/// what follows.
fn for_each_call(file: &Path, mut each: impl FnMut(u64, &str)) -> Result<()> {
    let open = File::open(file).with_context(|| format!("cannot read {}", file.display()))?;
    for line in BufReader::new(open).split(b'\n') {
        let line = line.with_context(|| format!("cannot read {}", file.display()))?;
        if let Some((time, call)) = timed(&String::from_utf8_lossy(&line)) {
            each(time, call);
        }
    }
    Ok(())
}

/// The time of a line, in microseconds, and its call.
fn timed(line: &str) -> Option<(u64, &str)> {
    let (_, rest) = line.split_once(' ')?;
    let (time, call) = rest.trim_start().split_once(' ')?;
    let (seconds, part) = time.split_once('.').filter(|(_, part)| part.len() == 6)?;
    let (seconds, part): (u64, u64) = (seconds.parse().ok()?, part.parse().ok()?);
    Some((seconds.checked_mul(1_000_000)?.checked_add(part)?, call.trim_start()))
}

/// A section, between two moments in microseconds.
#[derive(Debug, Default)]
struct TracedSection {
    began: u64,
    ended: u64,
    client: TracedCalls,
    server: TracedCalls,
}

/// The calls of one side in a section.
#[derive(Debug, Default)]
struct TracedCalls {
    calls: u64,
    flushes: u64,
    read: u64,
    written: u64,
}

impl TracedCalls {
    /// Adds a call such as `pread64(5, "…"..., 4096, 0) = 4096`. One during which another thread makes a call has two
    /// lines: `fsync(5 <unfinished ...>` and `<... fsync resumed>) = 0`. It counts where it begins, its bytes where it
    /// ends.
    fn add(&mut self, call: &str) {
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

    /// The counts, by the names of the events after a prefix.
    fn counts(self, prefix: &str) -> EventCounts {
        let TracedCalls { calls, flushes, read, written } = self;
        let counts =
            [("system_calls", calls), ("flushes", flushes), ("bytes_read", read), ("bytes_written", written)];
        counts.map(|(event, count)| (format!("{prefix}{event}"), count)).into()
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

    fn named(prefix: &str, counts: [u64; 4]) -> EventCounts {
        let events = ["system_calls", "flushes", "bytes_read", "bytes_written"];
        events.map(|event| format!("{prefix}{event}")).into_iter().zip(counts).collect()
    }

    fn written(lines: &[&str]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), lines.join("\n") + "\n").unwrap();
        file
    }

    const CLIENT: [&str; 11] = [
        "7 1.000010 write(4, \"x\", 100) = 100",
        r#"7 1.000020 access("/dyno/section/begins", F_OK) = -1 ENOENT (No such file or directory)"#,
        r#"7 1.000030 pread64(5, "SQLite = 3"..., 4096, 0) = 4096"#,
        "7 1.000040 fdatasync(6 <unfinished ...>",
        r#"8 1.000050 recvfrom(9, "x", 8192, 0, NULL, NULL) = -1 EAGAIN (Resource temporarily unavailable)"#,
        "7 1.000060 <... fdatasync resumed>) = 0",
        r#"8 1.000070 write(4, "SET a = 5 W"..., 10 <unfinished ...>"#,
        "8 1.000080 <... write resumed>) = 10",
        "9 1.000090 +++ exited with 0 +++",
        r#"7 1.000100 access("/dyno/section/ends", F_OK) = -1 ENOENT (No such file or directory)"#,
        "7 1.000110 fsync(4) = 0",
    ];

    #[test]
    fn calls_count_where_they_begin_and_bytes_where_they_end() {
        let file = written(&CLIENT);
        assert_eq!(sections(file.path(), None).unwrap(), [named("", [4, 1, 4096, 10])]);
    }

    #[test]
    fn calls_of_a_server_count_within_the_sections_of_its_client() {
        let server = [
            r#"20 1.000019 fsync(3) = 0"#,
            r#"21 1.000025 pwrite64(3, "x"..., 8192, 0) = 8192"#,
            "20 1.000099 fdatasync(3) = 0",
            r#"20 1.000101 sendto(9, "x"..., 70, 0, NULL, 0) = 70"#,
            "20 no line of strace's",
        ];
        let (client, server) = (written(&CLIENT), written(&server));
        let counted = sections(client.path(), Some(server.path())).unwrap();
        let both = named("", [4, 1, 4096, 10]).into_iter().chain(named("server_", [2, 1, 0, 8192]));
        assert_eq!(counted, [both.collect()]);
    }

    #[test]
    fn times_are_read_to_the_microsecond() {
        assert_eq!(timed("7  1700000000.000001 sync() = 0"), Some((1_700_000_000_000_001, "sync() = 0")));
        assert_eq!(timed("7 12.5 sync() = 0"), None);
        assert_eq!(timed("strace: detached"), None);
    }
}
