//! The marks of a section for a program around the runner that counts: callgrind, or a tracer of system calls.
//!
//! callgrind simulates a processor and counts what it executes, to the digit. It collects nothing until this asks it
//! to, by a sequence of instructions that does nothing on a processor (valgrind.h and callgrind.h of Valgrind 3.19
//! describe them), and writes the counts of each section to a file. A tracer lists all system calls; one with a special
//! name stands where a section begins and where it ends. The kernel's counts, of a server too, and the peak of the heap
//! need no program around the runner: this writes them to a file. dyno reads these files after the trial, so that a section
//! adds nothing to the runner's memory.

mod heap;
mod kernel;
mod processor;

use std::env;

use nix::unistd::{AccessFlags, access};

use kernel::KernelCounts;
pub use processor::ProcessorCounter;

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
    /// The way in which this process is counted; the kernel also counts for a server, by its main processes.
    pub fn here(server: &[u32]) -> Counting {
        match env::var(COUNTER).as_deref() {
            Err(_) | Ok("") => Counting::Nothing,
            Ok("callgrind") => Counting::Callgrind,
            Ok("tracer") => Counting::Tracer,
            Ok(file) => KernelCounts::open(file, server).map_or(Counting::Nothing, Counting::Kernel),
        }
    }

    /// Adds the main process of a further node to the server.
    pub fn add_node(&mut self, main: u32) {
        if let Counting::Kernel(kernel) = self {
            kernel.add_node(main);
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
        let counting = Counting::here(&[]);
        assert!(!counting.begin() && !counting.end());
        request(TOGGLE_COLLECT);
    }
}
