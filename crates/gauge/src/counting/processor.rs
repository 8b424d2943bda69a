//! The processor's own counter of instructions, where the kernel lets this process have one.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{FromRawFd, RawFd};

use nix::libc::{SYS_perf_event_open, syscall};

/// The kind of events that processors have names for, and the one of instructions that were executed.
const HARDWARE: u32 = 0;
const INSTRUCTIONS: u64 = 1;
/// Threads that are started later count too; the kernel's own work and that of a hypervisor do not.
const FLAGS: u64 = 1 << 1 | 1 << 5 | 1 << 6;
/// After the count, the kernel gives the time of the event and the time that a counter had for it.
const TIMES: u64 = 1 | 1 << 1;
/// The descriptor is closed in programs that this process executes.
const CLOSE: usize = 1 << 3;

/// The first version of the kernel's `perf_event_attr`, which is all that this needs.
#[repr(C)]
#[derive(Debug, Default)]
struct Event {
    kind: u32,
    size: u32,
    config: u64,
    period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup: u32,
    breakpoint_type: u32,
    breakpoint: u64,
}

/// The counter of this process and of the threads that it starts after opening it.
#[derive(Debug)]
pub struct ProcessorCounter(File);

/// The counter at one moment.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProcessorReading {
    instructions: u64,
    /// The time in which it should have counted, and that in which it did.
    enabled: u64,
    running: u64,
}

impl ProcessorCounter {
    /// Opens it. It counts from then on.
    ///
    /// # Errors
    /// The kernel has no such counter, as in most virtual machines, or does not give it to this process.
    pub fn open() -> io::Result<ProcessorCounter> {
        let event = Event {
            kind: HARDWARE,
            size: size_of::<Event>() as u32,
            config: INSTRUCTIONS,
            flags: FLAGS,
            read_format: TIMES,
            ..Event::default()
        };
        let (this_process, any_processor, no_group) = (0, -1, -1);
        // SAFETY: the kernel reads `size` bytes of `event` and writes at most its size.
        let opened = unsafe {
            syscall(
                SYS_perf_event_open,
                &raw const event,
                this_process as RawFd,
                any_processor as RawFd,
                no_group as RawFd,
                CLOSE,
            )
        };
        let descriptor = RawFd::try_from(opened).ok().filter(|descriptor| *descriptor >= 0);
        let descriptor = descriptor.ok_or_else(io::Error::last_os_error)?;
        // SAFETY: the descriptor is new, and nothing else closes it.
        Ok(ProcessorCounter(unsafe { File::from_raw_fd(descriptor) }))
    }

    /// Reads it. `None` if the kernel does not answer in full.
    pub fn read(&self) -> Option<ProcessorReading> {
        let mut answer = [0; 24];
        (&self.0).read_exact(&mut answer).ok()?;
        let number = |place: usize| Some(u64::from_ne_bytes(answer.get(place..place + 8)?.try_into().ok()?));
        Some(ProcessorReading { instructions: number(0)?, enabled: number(8)?, running: number(16)? })
    }
}

impl ProcessorReading {
    /// The instructions since `before`. `None` if others had the counter in between: the kernel would guess the rest.
    pub fn since(self, before: ProcessorReading) -> Option<u64> {
        let is_whole = self.enabled - before.enabled == self.running - before.running;
        is_whole.then(|| self.instructions - before.instructions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_was_taken_away_counts_nothing() {
        let reading = |instructions, enabled, running| ProcessorReading { instructions, enabled, running };
        assert_eq!(reading(90, 30, 30).since(reading(20, 10, 10)), Some(70));
        assert_eq!(reading(90, 30, 25).since(reading(20, 10, 10)), None);
        // Most virtual machines have none; where there is one, it counts.
        if let Ok(counter) = ProcessorCounter::open() {
            let before = counter.read().unwrap();
            let sum: u64 = std::hint::black_box((0..100_000).sum());
            assert!(counter.read().unwrap().since(before).is_none_or(|count| count > 0 && sum > 0));
        }
    }
}
