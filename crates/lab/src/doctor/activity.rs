//! Activity on the machine besides dyno: load, busy processes, time stolen by the host, and
//! how long a busy process waits for a CPU.
//!
//! Counters of `/proc` are read twice with a short sleep between; the run-queue wait is measured with
//! a busy loop after that, so that the loop does not count as load.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use nix::unistd::{SysconfVar, sysconf};

use super::Check;
use crate::machine::fact;

const WINDOW: Duration = Duration::from_millis(300);
const BUSY_LOOP: Duration = Duration::from_millis(200);
/// Percent of one CPU above which a process is named.
const BUSY: f64 = 5.0;
/// Percent of waiting from which blocks are likely to be disturbed.
const DISTURBED: f64 = 3.0;

pub(super) fn checks(cpus: usize) -> Vec<Check> {
    let before = Snapshot::read();
    let start = Instant::now();
    std::thread::sleep(WINDOW);
    let after = Snapshot::read();
    let window = start.elapsed();
    let mut checks = Vec::new();
    if let (Some(before), Some(after)) = (&before.total, &after.total) {
        checks.extend(fact("/proc/loadavg").and_then(|text| load(&text, cpus, after.busy_since(before))));
        checks.push(stolen(before, after));
    }
    checks.push(busy(&before.processes, &after.processes, window));
    checks.push(run_queue_wait(busy_loop()));
    checks
}

/// Counters of one moment.
struct Snapshot {
    total: Option<Ticks>,
    /// Per process: its name and the CPU time of all its threads, in ticks.
    processes: HashMap<u32, (String, u64)>,
}

impl Snapshot {
    fn read() -> Snapshot {
        let own = std::process::id();
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let processes = pids.filter(|&pid| pid != own).filter_map(|pid| {
            // The process may end at any moment.
            Some((pid, process(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?))
        });
        Snapshot {
            processes: processes.collect(),
            total: fact("/proc/stat").and_then(|text| Ticks::of(&text)),
        }
    }
}

/// Name and CPU ticks from the text of `/proc/PID/stat`. The name may hold spaces and parentheses.
fn process(stat: &str) -> Option<(String, u64)> {
    let (head, fields) = stat.rsplit_once(')')?;
    let name = head.split_once('(')?.1.to_owned();
    let mut fields = fields.split_whitespace().skip(11);
    let (user, system): (u64, u64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some((name, user + system))
}

/// Time of all CPUs since the start of the system, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ticks {
    idle: u64,
    stolen: u64,
    all: u64,
}

impl Ticks {
    /// From the text of `/proc/stat`: user, nice, system, idle, iowait, irq, softirq, steal; the guest
    /// time that follows is contained in the first two.
    fn of(text: &str) -> Option<Ticks> {
        let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let ticks: Vec<u64> = line.split_whitespace().take(8).map_while(|tick| tick.parse().ok()).collect();
        let at = |index: usize| ticks.get(index).copied();
        let (idle, waiting) = (at(3)?, at(4).unwrap_or(0));
        Some(Ticks { idle: idle + waiting, stolen: at(7).unwrap_or(0), all: ticks.iter().sum() })
    }

    /// Percent of all CPUs together that were not idle.
    fn busy_since(&self, before: &Ticks) -> f64 {
        let all = self.all.saturating_sub(before.all);
        100.0 - percent(self.idle.saturating_sub(before.idle).min(all), all)
    }
}

fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}

fn load(loadavg: &str, cpus: usize, busy_now: f64) -> Option<Check> {
    let minute: f64 = loadavg.split(' ').next()?.parse().ok()?;
    let found = format!("{minute:.2} over the last minute on {cpus} CPUs; {busy_now:.0} % busy right now");
    // The average remembers a build that has ended; the busy processes show what still runs.
    Some(if minute > 0.5 * cpus as f64 {
        Check::note("load", found, "wait until the machine is quiet, or see below what keeps it busy")
    } else {
        Check::good("load", found)
    })
}

fn stolen(before: &Ticks, after: &Ticks) -> Check {
    let subject = "stolen time";
    let now = after.stolen.saturating_sub(before.stolen);
    let share = percent(now, after.all.saturating_sub(before.all));
    let since_start = percent(after.stolen, after.all);
    let found = format!("{share:.1} % right now, {since_start:.2} % since the system started");
    // A tick is a hundredth of a second: one alone says nothing about so short a window.
    if now >= 2 && share > 1.0 {
        let advice =
            "the host gives this machine's CPUs to others; measure at another hour or on another host";
        return Check::warning(subject, found, advice);
    }
    if since_start > 1.0 {
        return Check::note(subject, found, "the host is crowded at times; repeat important runs");
    }
    Check::good(subject, found)
}

type Processes = HashMap<u32, (String, u64)>;

fn busy(before: &Processes, after: &Processes, window: Duration) -> Check {
    let subject = "busy processes";
    let tick = sysconf(SysconfVar::CLK_TCK).ok().flatten().unwrap_or(100).max(1) as f64;
    let mut shares: Vec<(f64, &str)> = after
        .iter()
        .filter_map(|(pid, (name, ticks))| {
            let earlier = before.get(pid).map_or(0, |(_, ticks)| *ticks);
            let used = ticks.saturating_sub(earlier);
            let share = 100.0 * used as f64 / tick / window.as_secs_f64();
            // One tick may be rounding.
            (used >= 2 && share > BUSY).then_some((share, name.as_str()))
        })
        .collect();
    if shares.is_empty() {
        return Check::good(subject, format!("none above {BUSY} % of a CPU"));
    }
    shares.sort_by(|a, b| b.0.total_cmp(&a.0));
    let named: Vec<String> =
        shares.iter().take(4).map(|(share, name)| format!("{name} {share:.0} %")).collect();
    let more = shares.len().saturating_sub(named.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let found = format!("{}{more} of a CPU", named.join(", "));
    Check::warning(subject, found, "stop them or wait: they take CPU and cache from what is measured")
}

/// Nanoseconds on a CPU and waiting for one, of the calling thread since it began.
fn schedstat() -> Option<(u64, u64)> {
    let text = fact("/proc/thread-self/schedstat")?;
    let mut fields = text.split_whitespace();
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

/// Nanoseconds that a busy loop ran and waited; `None` when the kernel does not report them.
fn busy_loop() -> Option<(u64, u64)> {
    let (ran, waited) = schedstat()?;
    let start = Instant::now();
    while start.elapsed() < BUSY_LOOP {
        std::hint::spin_loop();
    }
    let after = schedstat()?;
    Some((after.0.saturating_sub(ran), after.1.saturating_sub(waited)))
}

fn run_queue_wait(measured: Option<(u64, u64)>) -> Check {
    let subject = "run-queue wait";
    match measured {
        // Kernels without the statistics have no such file, or one that stays at zero.
        None | Some((0, _)) => Check::warning(
            subject,
            "the kernel does not report it (/proc/self/schedstat)",
            "how long work waits for a CPU is unknown here; keep the machine quiet and ask for more trials",
        ),
        Some((ran, waited)) => {
            let share = percent(waited, ran + waited);
            let found = format!("{share:.1} % of a busy loop of {} ms", BUSY_LOOP.as_millis());
            if share > DISTURBED {
                let advice = "others compete for the CPU: many blocks will be disturbed; stop the busy processes or \
                              choose other CPUs with --cpus";
                Check::warning(subject, found, advice)
            } else {
                Check::good(subject, found)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;

    #[test]
    fn names_of_processes_may_hold_anything() {
        let stat = "71 (a) b (c)) S 1 71 71 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 1 0 4000 0 0";
        assert_eq!(process(stat).unwrap(), ("a) b (c)".to_owned(), 300));
        assert_eq!(process("71 (cut"), None);
    }

    #[test]
    fn ticks_are_summed_without_guests() {
        let ticks = Ticks::of("cpu  100 10 20 800 40 5 15 10 90 9\ncpu0 1 2 3 4\n").unwrap();
        assert_eq!(ticks, Ticks { idle: 840, stolen: 10, all: 1000 });
        let later = Ticks { idle: 870, stolen: 16, all: 1060 };
        assert_eq!(later.busy_since(&ticks), 50.0);
        assert_eq!(stolen(&ticks, &later).level, Level::Warning);
        assert_eq!(stolen(&ticks, &Ticks { all: 1061, stolen: 11, ..later }).level, Level::Note);
        assert_eq!(Ticks::of("cpu0 1 2 3 4\n"), None);
    }

    #[test]
    fn busy_processes_are_named_busiest_first() {
        let table = |rows: &[(u32, &str, u64)]| {
            rows.iter().map(|&(pid, name, ticks)| (pid, (name.to_owned(), ticks))).collect::<Processes>()
        };
        let before = table(&[(1, "init", 50), (2, "cc1", 10), (3, "idle", 0)]);
        let after = table(&[(1, "init", 51), (2, "cc1", 30), (3, "idle", 0), (4, "rustc", 100)]);
        let check = busy(&before, &after, Duration::from_secs(1));
        assert_eq!(check.found, "rustc 100 %, cc1 20 % of a CPU");
        assert_eq!(busy(&before, &before, Duration::from_secs(1)).level, Level::Good);
    }

    #[test]
    fn load_is_compared_with_the_cpus() {
        let level = |text: &str, cpus| load(text, cpus, 0.0).unwrap().level;
        assert_eq!(level("3.39 1.42 0.62 4/101 10213", 2), Level::Note);
        assert_eq!(level("3.39 1.42 0.62 4/101 10213", 16), Level::Good);
        assert!(load("", 2, 0.0).is_none());
    }

    #[test]
    fn waiting_is_judged() {
        assert_eq!(run_queue_wait(Some((970, 30))).level, Level::Good);
        assert_eq!(run_queue_wait(Some((900, 100))).level, Level::Warning);
        assert_eq!(run_queue_wait(Some((0, 0))).level, Level::Warning);
        assert_eq!(run_queue_wait(None).level, Level::Warning);
    }
}
