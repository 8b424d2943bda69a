//! The events of a server's processes that the kernel counts, for the passes of `--counts`.

use std::collections::BTreeMap;
use std::fs;

use super::{Server, all, cpu_clock, numbers, path};
use crate::counters::field;

/// The events of all processes of a server so far.
#[derive(Debug, Clone, Default)]
pub struct ServerEvents {
    cpu_ns: u64,
    page_faults: u64,
    /// The context switches of each thread: a thread that ends takes its number with it.
    switches: BTreeMap<u32, u64>,
}

impl Server {
    /// Reads the events of all its processes. `None` if the server has ended.
    pub fn events(&self) -> Option<ServerEvents> {
        let stats = all();
        let mut events = ServerEvents::default();
        for process in self.tree(&stats)? {
            let stat = stats[&process];
            let own = cpu_clock(process).unwrap_or((stat.user + stat.system) * self.tick_ns);
            events.cpu_ns += own + (stat.ended_user + stat.ended_system) * self.tick_ns;
            events.page_faults += stat.faults;
            let threads = numbers(path(process, "task"));
            events.switches.extend(threads.map(|thread| (thread, switches(process, thread))));
        }
        Some(events)
    }
}

impl ServerEvents {
    /// The events since `before`, by their names.
    pub fn since(&self, before: &ServerEvents) -> [(&'static str, u64); 3] {
        let new = |(thread, count): (&u32, &u64)| {
            count.saturating_sub(before.switches.get(thread).copied().unwrap_or_default())
        };
        [
            ("server_cpu_nanoseconds", self.cpu_ns.saturating_sub(before.cpu_ns)),
            ("server_page_faults", self.page_faults.saturating_sub(before.page_faults)),
            ("server_context_switches", self.switches.iter().map(new).sum()),
        ]
    }
}

/// The context switches of a thread, voluntary and not.
fn switches(process: u32, thread: u32) -> u64 {
    let status = fs::read_to_string(path(process, &format!("task/{thread}/status"))).unwrap_or_default();
    let count = |name: &str| field(&status, name).unwrap_or(0);
    count("voluntary_ctxt_switches:") + count("nonvoluntary_ctxt_switches:")
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn events_of_a_process_and_of_its_child_that_ended_are_counted() {
        let script = "read go; sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'; echo done; read end";
        let mut command = Command::new("sh");
        let mut child =
            command.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let server = Server::new(&[child.id()]);
        let before = server.events().unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(b"go\n").unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let events = server.events().unwrap().since(&before);
        drop(input);
        child.wait().unwrap();
        assert!(events.iter().all(|(_, count)| *count > 0), "{events:?}");
        // A program that starts touches dozens of pages; those of its shell alone are fewer.
        assert!(events[1].1 > 30, "{events:?}");
        assert!(server.events().is_none());
    }
}
