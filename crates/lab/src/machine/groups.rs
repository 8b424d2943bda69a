//! The control groups of this process, and what they take away: processor time and memory.

use std::path::{Path, PathBuf};

use super::fact;
use super::mounts::{self, Mount};

/// Folders of the control groups that dyno is in, from its own up to the root of what it can see: a
/// limit on any of them holds.
pub(crate) struct Groups {
    pub(crate) cpu: Vec<PathBuf>,
    pub(crate) memory: Vec<PathBuf>,
}

impl Groups {
    /// Those that the kernel shows.
    pub(crate) fn read() -> Groups {
        let (mounts, own) = (mounts::read(), fact("/proc/self/cgroup").unwrap_or_default());
        Groups { cpu: folders(&mounts, &own, "cpu"), memory: folders(&mounts, &own, "memory") }
    }

    /// The lowest quota, in CPUs, and how often the groups were throttled since they exist.
    pub(crate) fn quota(&self) -> (Option<f64>, u64) {
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
    pub(crate) fn memory_left(&self) -> Option<u64> {
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

#[cfg(test)]
mod tests {
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
}
