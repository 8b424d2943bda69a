//! The kernel's counts of this process and of a server, and the peak of the heap: numbers that this process can read
//! about itself just outside the clock.

use std::env;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::Mutex;

use nix::sys::resource::{UsageWho, getrusage};

use super::heap::HeapPeak;
use super::processor::{ProcessorCounter, ProcessorReading};
use crate::server_cost::{Server, ServerEvents};

/// The variable by which dyno asks for the processor's counter: of runners that open it before they start threads.
const PROCESSOR: &str = "DYNO_COUNTS_PROCESSOR";

/// The kernel's counts of this process and of a server, which are not the same each time.
#[derive(Debug)]
pub struct KernelCounts {
    file: File,
    server: Option<Server>,
    heap: Option<HeapPeak>,
    /// Opened before the runner starts threads, which it then counts.
    processor: Option<ProcessorCounter>,
    before: Mutex<Before>,
}

/// The counts where a section begins.
#[derive(Debug, Default)]
struct Before {
    page_faults: u64,
    context_switches: u64,
    server: Option<ServerEvents>,
    processor: Option<ProcessorReading>,
}

impl KernelCounts {
    /// The file is dyno's, which made it; the server is known by its main processes.
    pub fn open(file: &str, server: &[u32]) -> Option<KernelCounts> {
        let file = OpenOptions::new().append(true).open(file).ok()?;
        let server = (!server.is_empty()).then(|| Server::new(server));
        let heap = HeapPeak::here();
        let is_asked = env::var_os(PROCESSOR).is_some();
        let processor = is_asked.then(ProcessorCounter::open).and_then(Result::ok);
        Some(KernelCounts { file, server, heap, processor, before: Mutex::default() })
    }

    /// Adds the main process of a further node to the server.
    pub fn add_node(&mut self, main: u32) {
        if let Some(server) = &mut self.server {
            server.add_node(main);
        }
    }

    /// Reads this process's own counts last: reading those of a server is work of this process.
    pub fn begin(&self) {
        let Ok(mut before) = self.before.lock() else { return };
        before.server = self.server.as_ref().and_then(Server::events);
        if let Some(heap) = self.heap {
            heap.begin();
        }
        (before.page_faults, before.context_switches) = usage();
        before.processor = self.processor.as_ref().and_then(ProcessorCounter::read);
    }

    /// Reads this process's own counts first.
    pub fn end(&self) {
        let processor = self.processor.as_ref().and_then(ProcessorCounter::read);
        let (page_faults, context_switches) = usage();
        let heap = self.heap.map(HeapPeak::bytes);
        let Ok(before) = self.before.lock() else { return };
        let mut counts = vec![
            ("page_faults", page_faults.saturating_sub(before.page_faults)),
            ("context_switches", context_switches.saturating_sub(before.context_switches)),
        ];
        let instructions = processor.zip(before.processor).and_then(|(now, before)| now.since(before));
        counts.extend(instructions.map(|count| ("processor_instructions", count)));
        counts.extend(heap.map(|bytes| ("peak_heap_bytes", bytes)));
        let server = self.server.as_ref().and_then(Server::events);
        if let Some((now, before)) = server.zip(before.server.as_ref()) {
            counts.extend(now.since(before));
        }
        let words: Vec<String> = counts.iter().map(|(event, count)| format!("{event}={count}")).collect();
        // A section that is not in the file is missed by dyno, which knows how many there are.
        let _ = (&self.file).write_all((words.join(" ") + "\n").as_bytes());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_counts_the_pages_of_a_section() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let counts = KernelCounts::open(file.path().to_str().unwrap(), &[std::process::id()]).unwrap();
        counts.begin();
        let memory = std::hint::black_box(vec![1_u8; 16 << 20]);
        counts.end();
        drop(memory);
        let text = std::fs::read_to_string(file.path()).unwrap();
        let counts: Vec<(&str, u64)> = text
            .split_whitespace()
            .map(|count| count.split_once('=').unwrap())
            .map(|(event, count)| (event, count.parse().unwrap()))
            .collect();
        // This process was started without the library of the heap, and was not asked for the processor's counter.
        let events: Vec<&str> = counts.iter().map(|(event, _)| *event).collect();
        let server = ["server_cpu_nanoseconds", "server_page_faults", "server_context_switches"];
        assert_eq!(events, [&["page_faults", "context_switches"][..], &server].concat());
        // As its server it has the same pages, and those that reading them took.
        assert!(counts[0].1 > 0 && counts[3].1 >= counts[0].1, "{text}");
        assert!(counts[2].1 > 0, "{text}");
    }
}
