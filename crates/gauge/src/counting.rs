//! Exact counts of a section where the runner runs under callgrind: instructions and system calls.
//!
//! The program that dyno puts around the runner simulates a processor and counts what it executes, to the digit. It collects
//! nothing until this asks it to, by a sequence of instructions that does nothing on a processor (valgrind.h and callgrind.h of
//! Valgrind 3.19 describe them). After a section it writes its counts to a file, which is read here.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};

/// The variable by which dyno names the files of the counts: each is this, a dot and a number from 1.
const FILES: &str = "DYNO_COUNTS";

/// The request whether a simulated processor executes the program.
const RUNNING_ON_VALGRIND: usize = 0x1001;
/// The requests of callgrind begin here: `VG_USERREQ_TOOL_BASE('C', 'T')`.
const CALLGRIND: usize = (b'C' as usize) << 24 | (b'T' as usize) << 16;
const DUMP_STATS: usize = CALLGRIND;
const ZERO_STATS: usize = CALLGRIND + 1;
const TOGGLE_COLLECT: usize = CALLGRIND + 2;

/// The names of callgrind's events, and those in a sample.
const EVENTS: [(&str, &str); 2] = [("Ir", "instructions"), ("sysCount", "system_calls")];

/// Counts sections; none where nothing around the runner counts.
#[derive(Debug)]
pub struct Counting {
    files: Option<String>,
    /// The files that callgrind has written.
    written: AtomicU32,
}

impl Counting {
    pub fn here() -> Counting {
        let files = env::var(FILES).ok().filter(|_| request(RUNNING_ON_VALGRIND) > 0);
        Counting { files, written: AtomicU32::new(0) }
    }

    /// Begins to count, as the last thing before the clock starts, and returns whether it does. The kernel's counters are then
    /// not read: what they say takes a text of another length each time, which shifts what is allocated after it.
    #[inline]
    pub fn begin(&self) -> bool {
        let counts = self.files.is_some();
        if counts {
            request(ZERO_STATS);
            request(TOGGLE_COLLECT);
        }
        counts
    }

    /// Ends to count, as the first thing after the clock has stopped, and returns whether it counted.
    #[inline]
    pub fn end(&self) -> bool {
        let counts = self.files.is_some();
        if counts {
            request(TOGGLE_COLLECT);
        }
        counts
    }

    /// The counts since the section began, by the name of the event.
    pub fn counts(&self) -> BTreeMap<String, u64> {
        let Some(files) = &self.files else { return BTreeMap::new() };
        request(DUMP_STATS);
        let number = self.written.fetch_add(1, Ordering::Relaxed) + 1;
        let file = format!("{files}.{number}");
        let text = fs::read_to_string(&file).unwrap_or_default();
        let _ = fs::remove_file(&file);
        read(&text)
    }
}

/// The totals of a file of callgrind's, whose format its manual describes.
fn read(text: &str) -> BTreeMap<String, u64> {
    let line = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
    let names = line("events:").unwrap_or_default().split_whitespace();
    let totals = line("totals:").or_else(|| line("summary:")).unwrap_or_default().split_whitespace();
    let found = names.zip(totals).filter_map(|(name, total)| {
        let (_, event) = EVENTS.iter().find(|(known, _)| *known == name)?;
        Some(((*event).to_owned(), total.parse().ok()?))
    });
    found.collect()
}

/// Asks the simulated processor for something; a real one does nothing and answers 0.
#[cfg(target_arch = "x86_64")]
fn request(what: usize) -> usize {
    let arguments = [what, 0, 0, 0, 0, 0];
    let mut answer = 0_usize;
    // SAFETY: the rotations leave rdi as it was, and the exchange rbx. Callgrind reads `arguments` and writes rdx alone.
    unsafe {
        std::arch::asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") arguments.as_ptr(),
            inout("rdx") answer,
        );
    }
    answer
}

/// dyno counts on x86-64 alone.
#[cfg(not(target_arch = "x86_64"))]
fn request(_what: usize) -> usize {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_real_processor_counts_nothing() {
        let counting = Counting::here();
        assert!(!counting.begin() && !counting.end());
        assert_eq!(counting.counts(), BTreeMap::new());
    }

    #[test]
    fn the_totals_are_read_by_their_names() {
        let text = "version: 1\npositions: line\nevents: Ir sysCount sysTime\nsummary: 5 1 7\n\nfn=(1) main\n1 5\n\ntotals: 5 1 7\n";
        let counts = [("instructions".to_owned(), 5), ("system_calls".to_owned(), 1)];
        assert_eq!(read(text), BTreeMap::from(counts));
        assert_eq!(read(""), BTreeMap::new());
    }
}
