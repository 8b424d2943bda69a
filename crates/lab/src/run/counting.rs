//! Trials in which something around the runner counts what its sections do: callgrind, which simulates a processor,
//! strace, which lists system calls, or the kernel. strace and the kernel count what a private server does, too.
//!
//! Nothing of these trials is a time. Counts repeat to the digit where the work does: the seed of Python's hashes is the
//! same in each trial, and so are addresses under callgrind. Only what the kernel counts depends on what else goes on.

mod callgrind;
mod kernel;
mod profile;
mod server;
mod strace;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use dyno_engine::Contender;
use dyno_gauge::ProcessorCounter;
use dyno_record::{FunctionCounts, Run};

use crate::trial::{Trial, TrialOptions};

pub(super) use server::ServerTrace;

/// The trials of each contender for each counter: more than one, so that a count that does not repeat is seen.
pub(super) const PASSES: u32 = 2;
/// A runner may be silent this many times as long as otherwise.
const SLOWER: u32 = 100;
/// The variable by which the runner learns what counts.
const COUNTER: &str = "DYNO_COUNTS";
/// The variable by which it learns that it opens the processor's counter.
const PROCESSOR: &str = "DYNO_COUNTS_PROCESSOR";
/// The name of the copy of a contender's library, in the folder of the counter's files.
const COPY: &str = "build.so";
/// The library that counts the bytes of the heap, next to dyno's own program.
const HEAP: &str = "libdyno_heap.so";

/// The events of a section, by name.
type EventCounts = BTreeMap<String, u64>;

/// The counts of a section.
#[derive(Debug, Default, PartialEq)]
struct CountedSection {
    counts: EventCounts,
    /// The functions that it executed; none if the counter does not see them.
    functions: Option<FunctionCounts>,
}

impl From<EventCounts> for CountedSection {
    fn from(counts: EventCounts) -> CountedSection {
        CountedSection { counts, functions: None }
    }
}

/// The counter of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counter {
    /// callgrind: instructions and allocations.
    Callgrind,
    /// strace: system calls, flushes, and bytes read and written.
    Strace,
    /// The kernel: page faults and context switches. In these trials a library counts the bytes of the heap.
    Kernel,
}

impl Counter {
    /// All of them, in the order of their trials.
    pub const ALL: [Counter; 3] = [Counter::Callgrind, Counter::Strace, Counter::Kernel];

    /// The events that it counts, in words.
    pub fn events(self) -> &'static str {
        match self {
            Counter::Callgrind => "instructions and allocations",
            Counter::Strace => "system calls, flushes and bytes",
            Counter::Kernel => "page faults and context switches",
        }
    }

    /// True if it counts sections of this contender: the simulated processor executes some runners only.
    pub fn takes(self, contender: &Contender) -> bool {
        self != Counter::Callgrind || contender.runner.counts
    }

    /// Checks that it can count here.
    ///
    /// # Errors
    /// Its program is not here or must not trace, with the command that installs it.
    pub fn check(self) -> Result<()> {
        match self {
            Counter::Callgrind => {
                are_here("--counts", &[("valgrind", "valgrind"), ("setarch", "util-linux")])
            }
            Counter::Strace => {
                are_here("--counts", &[("strace", "strace")])?;
                let traced = run("strace", &["-qq", "-o", "/dev/null", "true"]);
                ensure!(
                    traced,
                    "strace must not trace a process here: the container needs the capability SYS_PTRACE"
                );
                Ok(())
            }
            Counter::Kernel => Ok(()),
        }
    }

    /// Checks that the processor's own counter of instructions can be had, which is read in the trials of the kernel's
    /// counts.
    ///
    /// # Errors
    /// The kernel's answer.
    pub fn check_processor() -> Result<()> {
        ProcessorCounter::open().map(drop).context("perf_event_open")
    }

    /// The contender with its runner counted; the counter's files go to a folder. Its library is copied there, so that
    /// it has a path as long as every other: the length of a path shifts what is allocated after it, and copying takes
    /// more or fewer instructions by where memory begins.
    ///
    /// # Errors
    /// The library cannot be copied, or a file not be made.
    pub(super) fn around(self, contender: &Contender, folder: &Path) -> Result<Contender> {
        let mut contender = contender.clone();
        if let Some(library) = contender.library() {
            let copy = folder.join(COPY);
            fs::copy(&library, &copy).with_context(|| format!("cannot copy {}", library.display()))?;
            contender = contender.with_library(copy);
        }
        let file = folder.join("counts");
        let (named, program) = match self {
            Counter::Callgrind => ("callgrind".to_owned(), callgrind::program(&file)),
            Counter::Strace => ("tracer".to_owned(), strace::program(&file)),
            Counter::Kernel => {
                fs::write(&file, "").with_context(|| format!("cannot make {}", file.display()))?;
                (file.display().to_string(), Vec::new())
            }
        };
        let mut around = vec!["env".to_owned(), format!("{COUNTER}={named}"), "PYTHONHASHSEED=0".to_owned()];
        if self == Counter::Kernel && contender.runner.counts {
            around.push(format!("{PROCESSOR}=1"));
        }
        around.extend(self.heap(&contender).map(|library| format!("LD_PRELOAD={}", library.display())));
        contender.runner = contender.runner.under(&[&around[..], &program].concat());
        Ok(contender)
    }

    /// True if the library is here that counts the bytes of a runner's heap.
    pub fn has_heap(contender: &Contender) -> bool {
        contender.runner.beside(HEAP).is_file()
    }

    /// The library that counts the bytes of a runner's heap in these trials. Runners with a heap that the language
    /// manages have none that it sees.
    fn heap(self, contender: &Contender) -> Option<PathBuf> {
        let is_counted = self == Counter::Kernel && contender.runner.counts && Counter::has_heap(contender);
        is_counted.then(|| contender.runner.beside(HEAP))
    }

    /// The same options with time for a runner that is counted, and without a limit that callgrind would exceed.
    pub(super) fn options(self, conduct: &TrialOptions) -> TrialOptions {
        match self {
            Counter::Kernel => conduct.clone(),
            Counter::Callgrind | Counter::Strace => {
                TrialOptions { timeout: conduct.timeout * SLOWER, memory_bytes: None, ..conduct.clone() }
            }
        }
    }

    /// Adds to a trial what was counted in the sections of its samples. A runner may time sections before those of
    /// its samples.
    ///
    /// # Errors
    /// Fewer sections were counted than there are samples.
    pub(super) fn add(self, trial: &mut Trial, folder: &Path) -> Result<()> {
        let file = folder.join("counts");
        let counted = |sections: Vec<EventCounts>| sections.into_iter().map(CountedSection::from).collect();
        let sections: Vec<CountedSection> = match self {
            Counter::Callgrind => callgrind::sections(&file),
            Counter::Strace => {
                let server = server::file(folder);
                counted(strace::sections(&file, server.is_file().then_some(&*server))?)
            }
            Counter::Kernel => counted(kernel::sections(&file)?),
        };
        let samples = &mut trial.samples;
        let early = sections.len().checked_sub(samples.len());
        let early = early.with_context(|| {
            format!("its runner marks {} of {} sections to be counted", sections.len(), samples.len())
        })?;
        for (sample, section) in samples.iter_mut().zip(sections.into_iter().skip(early)) {
            sample.section.counts.extend(section.counts);
            trial.functions.push(section.functions);
        }
        Ok(())
    }
}

/// True if the functions of a contender's trial belong into the record: no trial before has them. A run of one contender
/// has them too, so that it can be compared with one of another build.
pub(super) fn wants_functions(run: &Run, index: usize) -> bool {
    let mut own = run.trials.iter().filter(|trial| trial.contender == index);
    run.contenders[index].named
        && !own.any(|trial| trial.samples.iter().any(|sample| sample.functions.is_some()))
}

/// Checks that programs are here that something needs, each with the package that has it.
///
/// # Errors
/// One is not, with the command that installs it.
pub(super) fn are_here(what: &str, programs: &[(&str, &str)]) -> Result<()> {
    for (program, package) in programs {
        ensure!(
            run(program, &["--version"]),
            "{what} needs {program}, which is not here; on Debian: apt-get install {package}"
        );
    }
    Ok(())
}

fn run(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}
