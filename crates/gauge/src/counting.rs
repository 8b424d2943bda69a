//! The marks of a section for a program around the runner that counts: callgrind, or a tracer of system calls.
//!
//! callgrind simulates a processor and counts what it executes, to the digit. It collects nothing until this asks it
//! to, by a sequence of instructions that does nothing on a processor (valgrind.h and callgrind.h of Valgrind 3.19
//! describe them), and writes the counts of each section to a file. A tracer lists all system calls; one with a special
//! name stands where a section begins and where it ends. The kernel's counts of page faults and context switches need
//! no program around the runner: this writes them to a file. dyno reads these files after the trial, so that a section
//! adds nothing to the runner's memory.

use std::env;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use nix::sys::resource::{UsageWho, getrusage};
use nix::unistd::{AccessFlags, access};

/// The variable by which dyno names what counts: `callgrind`, `tracer`, or a file for the counts of the kernel.
const COUNTER: &str = "DYNO_COUNTS";

/// The requests of callgrind begin here: `VG_USERREQ_TOOL_BASE('C', 'T')`.
const CALLGRIND: usize = (b'C' as usize) << 24 | (b'T' as usize) << 16;
const DUMP_STATS: usize = CALLGRIND;
const ZERO_STATS: usize = CALLGRIND + 1;
const TOGGLE_COLLECT: usize = CALLGRIND + 2;

/// The files that a runner asks for, in vain, where a section begins and where it ends.
const BEGINS: &str = "/dyno/section/begins";
const ENDS: &str = "/dyno/section/ends";

/// Marks sections for what counts them.
#[derive(Debug)]
pub enum Counting {
    /// Nothing counts.
    Nothing,
    Callgrind,
    Tracer,
    Kernel(KernelCounts),
}

impl Counting {
    pub fn here() -> Counting {
        match env::var(COUNTER).as_deref() {
            Err(_) | Ok("") => Counting::Nothing,
            Ok("callgrind") => Counting::Callgrind,
            Ok("tracer") => Counting::Tracer,
            Ok(file) => KernelCounts::open(file).map_or(Counting::Nothing, Counting::Kernel),
        }
    }

    /// Begins to count, as the last thing before the clock starts, and returns whether it does. The counters of `/proc`
    /// are then not read: what they say takes a text of another length each time, which shifts what is allocated after
    /// it.
    #[inline]
    pub fn begin(&self) -> bool {
        match self {
            Counting::Nothing => return false,
            Counting::Callgrind => {
                request(ZERO_STATS);
                request(TOGGLE_COLLECT);
            }
            Counting::Tracer => mark(BEGINS),
            Counting::Kernel(kernel) => kernel.begin(),
        }
        true
    }

    /// Ends to count, as the first thing after the clock has stopped, and returns whether it counted.
    #[inline]
    pub fn end(&self) -> bool {
        match self {
            Counting::Nothing => return false,
            Counting::Callgrind => {
                request(TOGGLE_COLLECT);
                request(DUMP_STATS);
            }
            Counting::Tracer => mark(ENDS),
            Counting::Kernel(kernel) => kernel.end(),
        }
        true
    }
}

/// A system call that only a tracer sees.
fn mark(name: &str) {
    let _ = access(name, AccessFlags::F_OK);
}

/// The kernel's counts of this process, which are not the same each time.
#[derive(Debug)]
pub struct KernelCounts {
    file: File,
    page_faults: AtomicU64,
    context_switches: AtomicU64,
}

impl KernelCounts {
    /// The file is dyno's, which made it.
    fn open(file: &str) -> Option<KernelCounts> {
        let file = OpenOptions::new().append(true).open(file).ok()?;
        Some(KernelCounts { file, page_faults: AtomicU64::new(0), context_switches: AtomicU64::new(0) })
    }

    fn begin(&self) {
        let (page_faults, context_switches) = usage();
        self.page_faults.store(page_faults, Ordering::Relaxed);
        self.context_switches.store(context_switches, Ordering::Relaxed);
    }

    fn end(&self) {
        let (page_faults, context_switches) = usage();
        let page_faults = page_faults.saturating_sub(self.page_faults.load(Ordering::Relaxed));
        let context_switches = context_switches.saturating_sub(self.context_switches.load(Ordering::Relaxed));
        // A section that is not in the file is missed by dyno, which knows how many there are.
        let _ = (&self.file)
            .write_all(format!("page_faults={page_faults} context_switches={context_switches}\n").as_bytes());
    }
}

/// The page faults and context switches of all threads of this process so far.
fn usage() -> (u64, u64) {
    let number = |count: i64| u64::try_from(count).unwrap_or(0);
    getrusage(UsageWho::RUSAGE_SELF).map_or((0, 0), |usage| {
        (
            number(usage.minor_page_faults()) + number(usage.major_page_faults()),
            number(usage.voluntary_context_switches()) + number(usage.involuntary_context_switches()),
        )
    })
}

/// Asks the simulated processor for something; a real one does nothing.
#[cfg(target_arch = "x86_64")]
fn request(what: usize) {
    let arguments = [what, 0, 0, 0, 0, 0];
    // SAFETY: the rotations leave rdi as it was, and the exchange rbx. Callgrind reads `arguments` and writes rdx
    // alone.
    unsafe {
        std::arch::asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") arguments.as_ptr(),
            inout("rdx") 0_usize => _,
        );
    }
}

/// dyno counts instructions on x86-64 alone.
#[cfg(not(target_arch = "x86_64"))]
fn request(_what: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_real_processor_counts_nothing() {
        let counting = Counting::here();
        assert!(!counting.begin() && !counting.end());
        request(TOGGLE_COLLECT);
    }

    #[test]
    fn the_kernel_counts_the_pages_of_a_section() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let counting = Counting::Kernel(KernelCounts::open(file.path().to_str().unwrap()).unwrap());
        assert!(counting.begin());
        let memory = std::hint::black_box(vec![1_u8; 16 << 20]);
        assert!(counting.end());
        drop(memory);
        let text = std::fs::read_to_string(file.path()).unwrap();
        let faults: u64 = text.split(['=', ' ']).nth(1).unwrap().parse().unwrap();
        assert!(faults > 0, "{text}");
    }
}
