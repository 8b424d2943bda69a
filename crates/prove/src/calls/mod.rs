//! The system calls by which a program waits for its files to be durable: a second view besides the recorded disk. It
//! needs no disk of dyno's, and shows whether the disk saw the syncs that the program asked for.
//!
//! A separate process of dyno's watches the program by ptrace(2), because code that waits for programs in the same
//! process would otherwise receive the events of the traced threads. Not seen are io_uring and the kernel's write-back
//! of memory.

mod tracer;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Mutex;

use anyhow::{Context, Result, bail};
use dyno_record::SyncCalls;
use nix::sys::signal::Signal;
use serde::{Deserialize, Serialize};

use crate::disk::Program;
use crate::disk::log::Entry;
use crate::history::{History, Line};
pub use tracer::serve;

/// The line by which the watcher reports that it sees everything.
const READY: &str = "ready";
/// The error message if a thread that watched panicked.
const PANIC: &str = "a thread that watched calls panicked";

/// One call, and its position in the program's output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The number of bytes that the program had written to its output.
    place: u64,
    /// The name.
    name: String,
}

/// Starts and collects the watchers of programs.
#[derive(Debug)]
pub struct CallWatch {
    program: Program,
    /// The output of the programs.
    output: File,
    /// By the process that each watches.
    watchers: Mutex<BTreeMap<u32, Watcher>>,
    /// Those of processes that have ended.
    calls: Mutex<Vec<Call>>,
}

type Watcher = (Child, BufReader<ChildStdout>);

impl CallWatch {
    /// Watches, by running `program`, the processes that write to `output`.
    pub fn new(program: Program, output: File) -> CallWatch {
        CallWatch { program, output, watchers: Mutex::default(), calls: Mutex::default() }
    }

    /// Watches a process and all that descend from it. When this returns, no later call is missed. The thread that
    /// calls this must live until it has called [`CallWatch::end`]: the kernel kills the watcher with it.
    ///
    /// # Errors
    /// The system does not allow it.
    pub fn begin(&self, process: u32) -> Result<()> {
        let mut command = Command::new(&self.program.path);
        command.args(&self.program.arguments).arg(process.to_string()).process_group(0);
        command.stdin(self.output.try_clone()?).stdout(Stdio::piped()).stderr(Stdio::piped());
        // SAFETY: between fork and exec, one system call on a number.
        unsafe {
            command.pre_exec(|| Ok(nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)?));
        }
        let mut child = command.spawn().context("cannot start the watcher of calls")?;
        let mut said = BufReader::new(child.stdout.take().context("the watcher has no output")?);
        let mut first = String::new();
        said.read_line(&mut first)?;
        if first.trim() != READY {
            let mut why = String::new();
            child.stderr.take().map_or(Ok(0), |mut errors| errors.read_to_string(&mut why))?;
            child.wait()?;
            bail!("{}", why.trim().trim_start_matches("dyno: "));
        }
        self.watchers.lock().map(|mut all| drop(all.insert(process, (child, said)))).ok().context(PANIC)
    }

    /// Hears the calls of a process that has ended.
    ///
    /// # Errors
    /// Its watcher ended before it.
    pub fn end(&self, process: u32) -> Result<()> {
        let watcher = self.watchers.lock().map(|mut all| all.remove(&process)).ok().context(PANIC)?;
        let Some((mut child, mut said)) = watcher else { return Ok(()) };
        let mut text = String::new();
        said.read_to_string(&mut text)?;
        child.wait()?;
        let calls: Vec<Call> = serde_json::from_str(&text).context("the watcher of calls ended early")?;
        self.calls.lock().map(|mut all| all.extend(calls)).ok().context(PANIC)
    }

    /// All calls, when the programs have ended.
    ///
    /// # Errors
    /// A watcher ended before its program.
    fn finish(&self) -> Result<Vec<Call>> {
        let left: Vec<u32> = self.watchers.lock().ok().context(PANIC)?.keys().copied().collect();
        left.into_iter().try_for_each(|process| self.end(process))?;
        let mut calls = self.calls.lock().map(|mut all| std::mem::take(&mut *all)).ok().context(PANIC)?;
        calls.sort_by_key(|call| call.place);
        Ok(calls)
    }

    /// The calls that were seen, matched with the program's whole output, whose lines `read` interprets.
    ///
    /// # Errors
    /// A watcher ended before its program.
    pub fn seen(self, output: &[u8], read: impl Fn(&str) -> Line) -> Result<SyncCalls> {
        Ok(seen(&self.finish()?, output, read))
    }
}

impl Drop for CallWatch {
    fn drop(&mut self) {
        for (child, _) in self.watchers.get_mut().into_iter().flat_map(BTreeMap::values_mut) {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn seen(calls: &[Call], output: &[u8], read: impl Fn(&str) -> Line) -> SyncCalls {
    let observed = |wanted: &dyn Fn(&Call) -> bool| {
        // Each line is an entry, so that the commits before upkeep and those after it are at different places.
        let lines = |text: &[u8]| -> Vec<Entry> {
            text.split_inclusive(|&byte| byte == b'\n').map(|line| Entry::Text(line.to_vec())).collect()
        };
        let (mut entries, mut at) = (Vec::new(), 0);
        for call in calls.iter().filter(|call| wanted(call)) {
            let place = (call.place as usize).min(output.len());
            if place > at {
                entries.extend(lines(&output[at..place]));
                at = place;
            }
            entries.push(Entry::Flush);
        }
        entries.extend(lines(&output[at..]));
        History::new(entries, &read).observed()
    };
    let all = observed(&|_| true);
    let mut by_name: BTreeMap<String, f64> = calls.iter().map(|call| (call.name.clone(), 0.0)).collect();
    for (name, count) in &mut by_name {
        *count = observed(&|call| call.name == *name).flushes;
    }
    by_name.retain(|_, count| *count > 0.0);
    SyncCalls { calls: all.flushes, by_name, without: all.unflushed }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::fd::AsFd;

    use super::*;
    use crate::history::words;

    #[test]
    fn calls_stand_between_the_lines_that_the_program_wrote() {
        let output = b"begin 1\nack 1\nbegin 2\nack 2\nbegin 3\nack 3\n";
        let call = |place, name: &str| Call { place, name: name.to_owned() };
        let calls = [
            call(8, "fsync"),
            call(22, "fsync"),
            call(22, "fdatasync"),
            call(28, "fsync"),
            call(42, "fsync"),
        ];
        let seen = seen(&calls, output, words);
        assert_eq!(
            (seen.calls, seen.without),
            (1.0, 1),
            "those of the first commit and the end do not count"
        );
        assert_eq!(seen.by_name, [("fdatasync".to_owned(), 0.5), ("fsync".to_owned(), 0.5)].into());
    }

    #[test]
    fn nothing_that_a_program_waits_for_is_missed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let mut output = tempfile::tempfile().unwrap();
        output.write_all(b"12345").unwrap();
        // The child waits for a line, so that it is watched before it does anything.
        let script = "read go; dd if=/dev/zero of=\"$1\" bs=1 count=1 conv=fsync 2>&1; dd if=/dev/zero of=\"$1\" bs=1 count=1 oflag=dsync 2>&1; sync -d \"$1\"; sync -f \"$1\"";
        let mut child = Command::new("/bin/sh")
            .args(["-c", script, "sh"])
            .arg(&path)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut calls = Vec::new();
        let watched = tracer::watch(child.id(), output.as_fd(), &mut calls, || {
            child.stdin.take().unwrap().write_all(b"\n").unwrap();
            Ok(())
        });
        if watched.is_err() {
            // It still waits for its line.
            let _ = child.kill();
        }
        let _ = child.wait();
        if let Err(error) = watched {
            eprintln!("not run: {error:#}");
            return;
        }
        let names: Vec<&str> = calls.iter().map(|call| call.name.as_str()).collect();
        assert_eq!(names, ["fsync", "synced write", "fdatasync", "syncfs"]);
        assert!(calls.iter().all(|call| call.place == 5));
    }
}
