//! Limits and memory: what a control group takes away, what memory is left, how it is paged.

use super::Check;
use crate::machine::groups::Groups;
use crate::machine::{chosen, fact, meminfo};

/// Below this, engines with generous caches push each other's files out of memory.
const LITTLE_MEMORY: u64 = 1 << 30;
const MUCH_SWAP: u64 = 64 << 20;

pub(super) fn checks(cpus: usize) -> Vec<Check> {
    let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let groups = Groups::read();
    let mut checks = vec![quota(&groups, cpus)];
    checks.extend(available(&memory, groups.memory_left()));
    checks.extend(swap(&memory));
    checks.extend(fact("/sys/kernel/mm/transparent_hugepage/enabled").map(|list| huge_pages(&chosen(&list))));
    checks
}

fn quota(groups: &Groups, cpus: usize) -> Check {
    let subject = "CPU quota";
    let advice = "a group over its quota stops for the rest of each period, which shows as sudden gaps; run \
                  without a CPU limit (docker: without --cpus)";
    match groups.quota() {
        (Some(quota), throttled) if quota < cpus as f64 || throttled > 0 => {
            Check::warning(subject, format!("{quota:.1} CPUs, throttled {throttled} times so far"), advice)
        }
        (Some(quota), _) => Check::good(subject, format!("{quota:.1} CPUs, never throttled")),
        (None, _) => Check::good(subject, "none"),
    }
}

fn available(meminfo_text: &str, group_left: Option<u64>) -> Option<Check> {
    let machine = meminfo(meminfo_text, "MemAvailable")?;
    let left = group_left.map_or(machine, |group| group.min(machine));
    let limited = if left < machine { " (limit of the control group)" } else { "" };
    let found = format!("{:.1} GiB available{limited}", left as f64 / f64::from(1 << 30));
    Some(if left < LITTLE_MEMORY {
        let advice = "files may not stay in memory, so reads measure the disk at random; free some";
        Check::warning("memory", found, advice)
    } else {
        Check::good("memory", found)
    })
}

fn swap(meminfo_text: &str) -> Option<Check> {
    let (total, free) = (meminfo(meminfo_text, "SwapTotal")?, meminfo(meminfo_text, "SwapFree")?);
    let used = total.saturating_sub(free);
    Some(if total == 0 {
        Check::good("swap", "none")
    } else if used > MUCH_SWAP {
        let advice = "memory was short before; pages that come back from disk disturb what is measured";
        Check::note("swap", format!("{} MiB in use", used >> 20), advice)
    } else {
        Check::good("swap", format!("{} MiB of {} in use", used >> 20, total >> 20))
    })
}

fn huge_pages(mode: &str) -> Check {
    let subject = "huge pages";
    match mode {
        "always" => Check::note(
            subject,
            "transparent, always",
            "speeds up large caches and may stop a process for a moment when pages are merged; engines differ \
             in what they gain. The usual setting elsewhere is madvise",
        ),
        mode => Check::good(subject, format!("transparent, {mode}")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;

    fn group(files: &[(&str, &str)]) -> (tempfile::TempDir, Groups) {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(dir.path().join(name), text).unwrap();
        }
        let own = vec![dir.path().to_owned()];
        (dir, Groups { cpu: own.clone(), memory: own })
    }

    #[test]
    fn quotas_of_both_versions_are_read() {
        let (_dir, v2) =
            group(&[("cpu.max", "150000 100000\n"), ("cpu.stat", "usage_usec 5\nnr_throttled 7\n")]);
        assert_eq!(v2.quota(), (Some(1.5), 7));
        assert_eq!(quota(&v2, 4).level, Level::Warning);
        let (_dir, v1) = group(&[("cpu.cfs_quota_us", "400000\n"), ("cpu.cfs_period_us", "100000\n")]);
        assert_eq!(v1.quota(), (Some(4.0), 0));
        assert_eq!(quota(&v1, 4).level, Level::Good);
        let (_dir, free) = group(&[("cpu.max", "max 100000"), ("cpu.cfs_quota_us", "-1")]);
        assert_eq!(free.quota(), (None, 0));
    }

    #[test]
    fn memory_is_what_the_tightest_limit_leaves() {
        let (_dir, limited) = group(&[("memory.max", "1073741824"), ("memory.current", "1073000000")]);
        let check = available("MemAvailable:   24315264 kB\n", limited.memory_left()).unwrap();
        assert_eq!(check.level, Level::Warning);
        assert!(check.found.ends_with("(limit of the control group)"));
        let (_dir, free) = group(&[("memory.max", "max"), ("memory.current", "1")]);
        assert_eq!(free.memory_left(), None);
    }

    #[test]
    fn swap_matters_when_it_is_used() {
        let text = |free: u64| format!("SwapTotal:  1048576 kB\nSwapFree:  {free} kB\n");
        assert_eq!(swap(&text(1_048_576)).unwrap().level, Level::Good);
        assert_eq!(swap(&text(0)).unwrap().level, Level::Note);
        assert!(swap("").is_none());
    }
}
