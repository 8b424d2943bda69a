//! The time that others took of the measured CPUs while a trial ran: processes that are not of the run, and the host.
//!
//! Counters are read before a trial's process starts and after it has ended, so nothing is read while a clock runs. The
//! kernel counts idle and stolen time of each CPU in ticks of usually 10 ms. Time that was neither idle nor spent by
//! dyno's own processes belongs to others. The kernel's own threads are left out: most of what they do is writing what
//! the measured engine wrote, and it would count against engines that write.
//!
//! A reading is off by a tick or two in either direction, so a difference may be below zero and means something only as
//! a sum over a block's trials. What cannot be read is left out.

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use dyno_launch::descendants;
use dyno_record::Others;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use nix::unistd::{SysconfVar, sysconf};

use crate::metronome;

/// The process from which the kernel's threads descend.
const KERNEL_THREADS: u32 = 2;

/// The CPUs on which something is measured.
#[derive(Debug, Clone)]
pub struct Watched {
    /// By number.
    pub cpus: Vec<usize>,
    /// True if dyno itself may be on them.
    pub with_dyno: bool,
}

impl Watched {
    /// Their counters now; none where the kernel hides them.
    pub fn moment(&self) -> Option<Moment> {
        Moment::read(&self.cpus, self.with_dyno)
    }

    /// The time that others took between two moments.
    pub fn others(&self, before: &Moment, after: &Moment) -> Others {
        after.since(before, self.cpus.len())
    }
}

/// Counters of one moment, in nanoseconds.
#[derive(Debug, Clone)]
pub struct Moment {
    at: Instant,
    /// Time in which the CPUs were idle or the host's, summed over them.
    not_ours: i64,
    /// The host's part of that time.
    stolen: i64,
    /// Time of dyno's processes, of those too that have ended.
    own: i64,
    /// Time of each of the kernel's threads that was last on these CPUs, by its number. They wander between CPUs, so only
    /// what a thread took between two moments means something.
    kernel: BTreeMap<i32, i64>,
}

impl Moment {
    /// Reads the counters of some CPUs; none where the kernel hides them. `with_dyno` counts dyno's own process among
    /// those of the run: it may be on the same CPUs.
    pub fn read(cpus: &[usize], with_dyno: bool) -> Option<Moment> {
        let tick = tick()?;
        let text = fs::read_to_string("/proc/stat").ok()?;
        let at = Instant::now();
        let (idle, stolen, interrupts) = cpu_ticks(&text, cpus)?;
        let ended = getrusage(UsageWho::RUSAGE_CHILDREN).ok()?;
        let mut own = (ended.user_time() + ended.system_time()).num_nanoseconds();
        if with_dyno {
            let dyno = getrusage(UsageWho::RUSAGE_SELF).ok()?;
            own += (dyno.user_time() + dyno.system_time()).num_nanoseconds();
        } else {
            own += metronome::spent();
        }
        let alive: i64 =
            descendants(std::process::id()).into_iter().filter_map(process).map(|p| p.ticks).sum();
        let threads = descendants(KERNEL_THREADS).into_iter().filter_map(|id| Some((id, process(id)?)));
        let kernel = threads.filter(|(_, thread)| cpus.contains(&thread.cpu));
        Some(Moment {
            at,
            not_ours: (idle + stolen + interrupts) * tick,
            stolen: stolen * tick,
            own: own + alive * tick,
            kernel: kernel.map(|(id, thread)| (id, thread.ticks * tick)).collect(),
        })
    }

    /// The time that others took since an earlier moment, on this number of CPUs.
    pub fn since(&self, before: &Moment, cpus: usize) -> Others {
        let over = nanoseconds(self.at - before.at) * cpus as i64;
        let stolen = (self.stolen - before.stolen).max(0);
        let kernel: i64 =
            self.kernel.iter().filter_map(|(id, time)| Some(time - before.kernel.get(id)?)).sum();
        let foreign = over - (self.not_ours - before.not_ours) - (self.own - before.own) - kernel;
        Others { over_ns: over.unsigned_abs(), foreign_ns: foreign, stolen_ns: stolen.unsigned_abs() }
    }
}

fn nanoseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

/// A tick of the kernel's counters, in nanoseconds.
fn tick() -> Option<i64> {
    let a_second = sysconf(SysconfVar::CLK_TCK).ok().flatten().filter(|&ticks| ticks > 0)?;
    Some(1_000_000_000 / a_second)
}

/// Idle, stolen and interrupt time of some CPUs, in ticks since the start of the system, from the text of `/proc/stat`:
/// user, nice, system, idle, iowait, irq, softirq, steal. None where one of them is missing.
fn cpu_ticks(text: &str, cpus: &[usize]) -> Option<(i64, i64, i64)> {
    let mut sum = (0, 0, 0);
    for cpu in cpus {
        let name = format!("cpu{cpu} ");
        let line = text.lines().find_map(|line| line.strip_prefix(name.as_str()))?;
        let ticks: Vec<i64> = line.split_whitespace().map_while(|tick| tick.parse().ok()).collect();
        let at = |index: usize| ticks.get(index).copied();
        sum = (sum.0 + at(3)? + at(4)?, sum.1 + at(7)?, sum.2 + at(5)? + at(6)?);
    }
    Some(sum)
}

/// The processor time that a process has used.
#[derive(Debug, PartialEq, Eq)]
struct Used {
    /// Processor time, of children too that it has buried, in ticks.
    ticks: i64,
    /// The CPU on which it was last.
    cpu: usize,
}

/// The processor time that a process has used; none if it has ended.
fn process(pid: i32) -> Option<Used> {
    used(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// From the text of `/proc/PID/stat`, in which the name may hold anything.
fn used(stat: &str) -> Option<Used> {
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let at = |field: usize| fields.get(field - 3)?.parse::<i64>().ok();
    // proc_pid_stat(5): utime, stime, cutime, cstime are fields 14 to 17, processor is field 39.
    Some(Used { ticks: at(14)? + at(15)? + at(16)? + at(17)?, cpu: usize::try_from(at(39)?).ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_read_from_the_kernels_texts() {
        let text = "cpu  3 0 3 30 3 0 3 3 0 0\ncpu0 1 0 1 10 1 2 1 1 0 0\ncpu11 2 0 2 20 2 0 2 2 0 0\n";
        assert_eq!(cpu_ticks(text, &[0]), Some((11, 1, 3)));
        assert_eq!(cpu_ticks(text, &[0, 11]), Some((33, 3, 5)));
        assert_eq!(cpu_ticks(text, &[1]), None);
        let stat = "71 (a) b (c)) S 1 71 71 0 -1 4194560 100 0 0 0 250 50 7 3 20 0 1 0 4000 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 \
                    17 1 0 0";
        assert_eq!(used(stat), Some(Used { ticks: 310, cpu: 1 }));
        assert_eq!(used("71 (cut"), None);
    }

    #[test]
    fn a_difference_is_what_is_left() {
        let at = Instant::now();
        // The second thread was elsewhere before.
        let kernel = |threads: &[(i32, i64)]| threads.iter().copied().collect();
        let before = Moment { at, not_ours: 0, stolen: 0, own: 0, kernel: kernel(&[(7, 5_000_000_000)]) };
        let second = Duration::from_secs(1);
        let after = Moment {
            at: at + second,
            not_ours: 500_000_000,
            stolen: 100_000_000,
            own: 300_000_000,
            kernel: kernel(&[(7, 5_050_000_000), (8, 9_000_000_000)]),
        };
        let others = after.since(&before, 1);
        assert_eq!(
            (others.over_ns, others.foreign_ns, others.stolen_ns),
            (1_000_000_000, 150_000_000, 100_000_000)
        );
    }

    #[test]
    fn the_counters_of_this_machine_can_be_read() {
        let all = crate::machine::allowed_cpus();
        let before = Moment::read(&all, true).unwrap();
        let others = Moment::read(&all, true).unwrap().since(&before, all.len());
        assert!(others.over_ns > 0);
    }
}
