//! From looks to a budget: the kernel's counts of CPU time and of waits for a processor are taken as they are, and
//! the rest of the section's time is divided as the looks found the threads that were not running.

use dyno_protocol::{Cost, Section};
use dyno_record::TimeBudget;

use super::state::{STATES, ThreadState};
use super::{Look, Looks};

/// With fewer looks in a section its waits are not divided.
const FEWEST: u64 = 30;

/// The CPU time of readings of the counters, which lie just outside the clock: they and a percent more are no sign of
/// threads that work at the same time.
const READINGS_NS: u64 = 300_000;

/// The clients whose time is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WatchedClients {
    /// The number of threads that drive them.
    pub threads: u64,
    /// True if they are several, and each begins an operation as soon as the last is done: they then sleep only
    /// before they try again, and wait for other threads only because of one another.
    pub contend: bool,
}

/// The waits of clients by cause, by the looks: weights of the same unit.
#[derive(Debug, Default)]
struct WaitWeights {
    looks: u64,
    server: f64,
    flush: f64,
    io: f64,
    lock: f64,
    unplaced: f64,
}

impl Looks {
    /// The budget of a section; none without looks, and where its runner does not say when it began.
    pub fn budget(&self, section: &Section, clients: WatchedClients) -> Option<TimeBudget> {
        let wall = section.nanoseconds;
        if self.0.is_empty() || section.began_ns == 0 || wall == 0 {
            return None;
        }
        let threads = clients.threads.max(1);
        let waits = self.waits(section, WatchedClients { threads, ..clients });
        let spent = [section.client.user_ns + section.client.system_ns, section.client.wait_ns];
        let (all, spent_in_all) = (wall * threads, spent[0] + spent[1]);
        let mut budget = TimeBudget { looks: waits.looks, clients: threads, ..TimeBudget::default() };
        if spent_in_all >= all {
            budget.overlaps = spent_in_all > all + all / 100 + READINGS_NS;
            budget.client_cpu_ns = part(wall, spent[0] as f64, spent_in_all as f64);
            budget.processor_ns = wall - budget.client_cpu_ns;
            return Some(budget);
        }
        budget.client_cpu_ns = spent[0] / threads;
        budget.processor_ns = spent[1] / threads;
        let rest = wall - budget.client_cpu_ns - budget.processor_ns;
        waits.divide(rest, section.server.as_ref(), &mut budget);
        Some(budget)
    }

    /// The waits of a section's clients.
    fn waits(&self, section: &Section, clients: WatchedClients) -> WaitWeights {
        let (from, to) = (section.began_ns, section.began_ns + section.nanoseconds);
        let mut waits = WaitWeights::default();
        // The first section may begin before dyno has found the threads.
        let unseen = self.0.first().map_or(0, |first| first.at_ns.min(to).saturating_sub(from));
        waits.unplaced = unseen as f64 * clients.threads as f64;
        // Each look stands for the time since the one before it.
        for (before, look) in self.0.iter().zip(self.0.iter().skip(1)) {
            let stands_for = look.at_ns.min(to).saturating_sub(before.at_ns.max(from));
            if stands_for > 0 {
                waits.looks += u64::from(look.at_ns <= to);
                waits.add(look, stands_for as f64, clients);
            }
        }
        waits
    }
}

impl WaitWeights {
    /// Adds what a look saw. The runner's threads that are not clients wait too, mostly for other threads, so the
    /// clients are taken to be those whose state says most.
    fn add(&mut self, look: &Look, stands_for: f64, clients: WatchedClients) {
        let has_server = look.server.iter().any(|&threads| threads > 0);
        let mut left = clients.threads;
        for state in order(has_server) {
            let taken = left.min(u64::from(look.runner[state as usize]));
            left -= taken;
            let weight = stands_for * taken as f64;
            match state {
                ThreadState::Running => {}
                ThreadState::Flush => self.flush += weight,
                ThreadState::Io => self.io += weight,
                ThreadState::FileLock => self.lock += weight,
                ThreadState::Peer => self.add_server(look, weight),
                ThreadState::Asleep | ThreadState::Futex if clients.contend => self.lock += weight,
                ThreadState::Asleep | ThreadState::Futex | ThreadState::Other => self.unplaced += weight,
            }
        }
    }

    /// Adds a wait for the server: for what its threads do that serve clients, or else for what its others do.
    fn add_server(&mut self, look: &Look, weight: f64) {
        let at_work = |threads: &[u16; STATES]| -> f64 {
            order(true)
                .into_iter()
                .filter(|state| state.is_work())
                .map(|state| f64::from(threads[state as usize]))
                .sum()
        };
        let threads = if at_work(&look.serving) > 0.0 { &look.serving } else { &look.server };
        let all = at_work(threads);
        if all > 0.0 {
            let of = |state: ThreadState| weight * f64::from(threads[state as usize]) / all;
            self.server += of(ThreadState::Running);
            self.flush += of(ThreadState::Flush);
            self.io += of(ThreadState::Io);
            self.lock += of(ThreadState::FileLock);
        } else if look.serving[ThreadState::Futex as usize] > 0 {
            self.lock += weight;
        } else {
            self.unplaced += weight;
        }
    }

    /// Divides the time that is left among the waits; all of it is unplaced where there were too few looks.
    fn divide(&self, rest: u64, server: Option<&Cost>, budget: &mut TimeBudget) {
        let weights = [self.server, self.flush, self.io, self.lock, self.unplaced];
        let all: f64 = weights.iter().sum();
        if self.looks < FEWEST || all == 0.0 {
            budget.unplaced_ns = rest;
            return;
        }
        let [busy, flush, io, lock, unplaced] = divided(rest, weights);
        let cost = server.copied().unwrap_or_default();
        let (ran, waited) = ((cost.user_ns + cost.system_ns) as f64, cost.wait_ns as f64);
        budget.server_cpu_ns = if ran > 0.0 { part(busy, ran, ran + waited) } else { busy };
        budget.processor_ns += busy - budget.server_cpu_ns;
        (budget.flush_ns, budget.io_ns, budget.lock_ns, budget.unplaced_ns) = (flush, io, lock, unplaced);
    }
}

/// A time divided as the weights say. What rounding leaves goes to the largest part.
fn divided<const N: usize>(time: u64, weights: [f64; N]) -> [u64; N] {
    let all: f64 = weights.iter().sum();
    let mut parts = weights.map(|weight| part(time, weight, all));
    let left = time - parts.iter().sum::<u64>();
    if let Some(largest) = parts.iter_mut().max() {
        *largest += left;
    }
    parts
}

/// The states, those first that say most of what a client does.
fn order(has_server: bool) -> [ThreadState; STATES] {
    use ThreadState::{Asleep, FileLock, Flush, Futex, Io, Other, Peer, Running};
    if has_server {
        [Running, Flush, Io, FileLock, Peer, Asleep, Futex, Other]
    } else {
        // Without a server, a thread that waits for bytes waits for dyno.
        [Running, Flush, Io, FileLock, Asleep, Futex, Peer, Other]
    }
}

/// The share `of` in `all` of a time, rounded down.
fn part(time: u64, of: f64, all: f64) -> u64 {
    ((time as f64 * (of / all)) as u64).min(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const LONE: WatchedClients = WatchedClients { threads: 1, contend: false };

    fn threads(states: &[(ThreadState, u16)]) -> [u16; STATES] {
        let mut threads = [0; STATES];
        states.iter().for_each(|&(state, count)| threads[state as usize] = count);
        threads
    }

    /// A look at each of 100 ms, as `state` of its number says.
    fn looks(look: impl Fn(u64) -> Look) -> Looks {
        Looks((0..=100).map(|number| Look { at_ns: MS * (number + 1), ..look(number) }).collect())
    }

    fn section(cpu_ms: u64, wait_ms: u64) -> Section {
        let client = Cost { user_ns: cpu_ms * MS, wait_ns: wait_ms * MS, ..Cost::default() };
        Section { nanoseconds: 100 * MS, began_ns: MS, client, ..Section::default() }
    }

    fn in_ms(budget: TimeBudget) -> [u64; 7] {
        assert_eq!(budget.wall_ns(), 100 * MS, "{budget:?}");
        budget.parts().map(|(_, nanoseconds)| (nanoseconds + MS / 2) / MS)
    }

    #[test]
    fn a_lone_client_waits_for_what_was_seen() {
        let looks = looks(|number| {
            let state = match number {
                0..=30 => ThreadState::Running,
                31..=80 => ThreadState::Flush,
                81..=90 => ThreadState::Io,
                _ => ThreadState::Other,
            };
            // A helper thread is idle all the time.
            Look { runner: threads(&[(state, 1), (ThreadState::Futex, 1)]), ..Look::default() }
        });
        let budget = looks.budget(&section(25, 5), LONE).unwrap();
        // The kernel's 30 ms as they are; of the rest five of seven for flushes. An idle helper stands in for what
        // says less.
        assert_eq!(in_ms(budget), [25, 0, 50, 10, 0, 5, 10]);
        assert_eq!((budget.looks, budget.clients, budget.overlaps), (100, 1, false));
    }

    #[test]
    fn waiting_for_a_server_is_what_the_server_does() {
        let looks = looks(|number| {
            let (busy, idle) = match number {
                0..=60 => (ThreadState::Running, 0),
                61..=80 => (ThreadState::Flush, 0),
                _ => (ThreadState::Peer, 1),
            };
            let serving = threads(&[(busy, 1)]);
            // Another thread of the server's flushes in the background: it is no reason to wait while the first works.
            let server = threads(&[(busy, 1), (ThreadState::Io, 1 - idle)]);
            Look { runner: threads(&[(ThreadState::Peer, 1)]), server, serving, ..Look::default() }
        });
        let mut section = section(0, 0);
        section.server = Some(Cost { user_ns: 30 * MS, wait_ns: 10 * MS, ..Cost::default() });
        // A quarter of what the server ran or was ready it waited for a processor.
        assert_eq!(in_ms(looks.budget(&section, LONE).unwrap()), [0, 45, 20, 0, 0, 15, 20]);
    }

    #[test]
    fn of_several_clients_the_parts_are_means() {
        let contend = WatchedClients { threads: 4, contend: true };
        let runner = threads(&[(ThreadState::Flush, 1), (ThreadState::Futex, 3), (ThreadState::Asleep, 1)]);
        let looks = looks(|_| Look { runner, ..Look::default() });
        assert_eq!(in_ms(looks.budget(&section(0, 0), contend).unwrap()), [0, 0, 25, 0, 75, 0, 0]);
        assert_eq!(in_ms(looks.budget(&section(80, 40), contend).unwrap()), [20, 0, 18, 0, 53, 10, 0]);
        let idle = WatchedClients { contend: false, ..contend };
        assert_eq!(in_ms(looks.budget(&section(0, 0), idle).unwrap()), [0, 0, 25, 0, 0, 0, 75]);
    }

    #[test]
    fn threads_that_work_at_once_are_marked() {
        let looks = looks(|_| Look::default());
        let budget = looks.budget(&section(150, 50), LONE).unwrap();
        assert_eq!((in_ms(budget), budget.overlaps), ([75, 0, 0, 0, 0, 25, 0], true));
        assert!(!looks.budget(&section(100, 0), LONE).unwrap().overlaps);
    }

    #[test]
    fn too_few_looks_place_nothing() {
        let mut looks = looks(|_| Look { runner: threads(&[(ThreadState::Flush, 1)]), ..Look::default() });
        looks.0.truncate(20);
        assert_eq!(in_ms(looks.budget(&section(10, 0), LONE).unwrap()), [10, 0, 0, 0, 0, 0, 90]);
        let before = Section { began_ns: 0, ..section(10, 0) };
        assert_eq!(
            (looks.budget(&before, LONE), Looks::default().budget(&section(1, 0), LONE)),
            (None, None)
        );
    }

    #[test]
    fn what_passed_before_the_first_look_is_not_placed() {
        let mut looks = looks(|_| Look { runner: threads(&[(ThreadState::Flush, 1)]), ..Look::default() });
        looks.0.drain(..40);
        assert_eq!(in_ms(looks.budget(&section(0, 0), LONE).unwrap()), [0, 0, 60, 0, 0, 0, 40]);
    }
}
