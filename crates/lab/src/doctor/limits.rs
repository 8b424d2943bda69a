//! Limits and memory: what a control group takes away, what memory is left, how it is paged.

use std::path::{Path, PathBuf};

use super::Check;
use crate::machine::mounts::{self, Mount};
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

/// Folders of the control groups that dyno is in, from its own up to the root of what it can see: a
/// limit on any of them holds.
struct Groups {
    cpu: Vec<PathBuf>,
    memory: Vec<PathBuf>,
}

impl Groups {
    fn read() -> Groups {
        let (mounts, own) = (mounts::read(), fact("/proc/self/cgroup").unwrap_or_default());
        Groups { cpu: folders(&mounts, &own, "cpu"), memory: folders(&mounts, &own, "memory") }
    }

    /// The lowest quota, in CPUs, and how often the groups were throttled since they exist.
    fn quota(&self) -> (Option<f64>, u64) {
        let number = |path: PathBuf| fact(path)?.parse::<f64>().ok();
        let v1 = |group: &PathBuf| {
            let quota = number(group.join("cpu.cfs_quota_us")).filter(|quota| *quota > 0.0)?;
            Some(quota / number(group.join("cpu.cfs_period_us"))?)
        };
        let v2 = |group: &PathBuf| cpu_max(&fact(group.join("cpu.max"))?);
        let quotas = self.cpu.iter().filter_map(|group| v2(group).or_else(|| v1(group)));
        let throttled = self.cpu.iter().filter_map(|group| throttled(&fact(group.join("cpu.stat"))?));
        (quotas.min_by(f64::total_cmp), throttled.max().unwrap_or(0))
    }

    /// The memory that the tightest limit leaves, in bytes.
    fn memory_left(&self) -> Option<u64> {
        let number = |path: PathBuf| fact(path)?.parse::<u64>().ok();
        let left = |group: &PathBuf| {
            let v2 = number(group.join("memory.max")).zip(number(group.join("memory.current")));
            let v1 = || {
                let limit = number(group.join("memory.limit_in_bytes"));
                limit.zip(number(group.join("memory.usage_in_bytes")))
            };
            v2.or_else(v1).map(|(limit, used)| limit.saturating_sub(used))
        };
        self.memory.iter().filter_map(left).min()
    }
}

/// The folders that govern `controller`, given the mounts and the text of `/proc/self/cgroup`
/// (`4:memory:/path` in version 1, `0::/path` in version 2), in both versions where both are mounted.
fn folders(mounts: &[Mount], own: &str, controller: &str) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for line in own.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        let unified = controllers.is_empty();
        if !unified && !controllers.split(',').any(|name| name == controller) {
            continue;
        }
        let mount = mounts.iter().find(|mount| match unified {
            true => mount.kind == "cgroup2",
            false => mount.kind == "cgroup" && mount.options.iter().any(|option| option == controller),
        });
        let Some(mount) = mount else { continue };
        // Only a part of the tree may be mounted, as in a container; the path is from the whole tree's root.
        let inside = Path::new(path).strip_prefix(&mount.root).unwrap_or(Path::new(""));
        folders.extend(inside.ancestors().map(|group| mount.point.join(group)));
    }
    folders
}

/// CPUs from the text of `cpu.max`: quota and period, or `max`.
fn cpu_max(text: &str) -> Option<f64> {
    let (quota, period) = text.split_once(' ')?;
    Some(quota.parse::<f64>().ok()? / period.parse::<f64>().ok()?)
}

/// Periods in which a group had to wait, from the text of `cpu.stat`.
fn throttled(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix("nr_throttled "))?.trim().parse().ok()
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

    const MOUNTS: &str = "\
32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 /docker/c25d /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
";

    #[test]
    fn groups_are_followed_up_to_the_root() {
        let mounts = mounts::parse(MOUNTS);
        let own = "4:memory:/docker/c25d/job\n2:cpuacct,cpu:/a/b\n0::/\n";
        let paths = |list: &[&str]| list.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert_eq!(
            folders(&mounts, own, "cpu"),
            paths(&[
                "/sys/fs/cgroup/cpu/a/b",
                "/sys/fs/cgroup/cpu/a",
                "/sys/fs/cgroup/cpu",
                "/sys/fs/cgroup/unified"
            ])
        );
        let memory = folders(&mounts, own, "memory");
        assert_eq!(memory[..2], paths(&["/sys/fs/cgroup/memory/job", "/sys/fs/cgroup/memory"]));
    }

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
