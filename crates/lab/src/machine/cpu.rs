//! The processor: what it is, how its CPUs share cores and caches, and how its speed is governed.

use std::collections::BTreeMap;
use std::path::PathBuf;

use dyno_record::{Cache, Cpu, cpu_list};
use nix::sched::{CpuSet, sched_getaffinity};
use nix::unistd::Pid;

use super::fact;
use super::groups::Groups;

/// Reads the kernel's description of the processor.
pub(super) fn read() -> Cpu {
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let online = online();
    let topology = Topology::read(&online);
    let allowed = allowed();
    Cpu {
        architecture: std::env::consts::ARCH.to_owned(),
        model: model(&cpuinfo),
        online: online.len(),
        cores: topology.cores(),
        smt: topology.smt(),
        caches: caches(allowed.first().copied().unwrap_or(0)),
        governors: governors(&online),
        turbo: turbo(),
        quota_ns: Groups::read().quota().0.map(|cpus| (cpus * 1e9) as u64),
        allowed,
    }
}

/// CPUs that the calling thread may use, ascending; those online where the kernel does not say.
pub fn allowed() -> Vec<usize> {
    match sched_getaffinity(Pid::from_raw(0)) {
        Ok(set) => (0..CpuSet::count()).filter(|&cpu| set.is_set(cpu).unwrap_or(false)).collect(),
        // A machine with more CPUs than the C library's set has room for.
        Err(_) => online(),
    }
}

/// CPUs that exist and are switched on, ascending; never empty.
fn online() -> Vec<usize> {
    let listed = fact("/sys/devices/system/cpu/online").and_then(|text| cpu_list::parse(&text).ok());
    listed.filter(|cpus| !cpus.is_empty()).unwrap_or_else(|| {
        let count = std::thread::available_parallelism().map_or(1, usize::from);
        (0..count).collect()
    })
}

/// The sharing of cores by CPUs, and the set of fast CPUs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Topology {
    /// Per CPU, itself and the CPUs of the same core. A CPU whose core is unknown is absent.
    pub siblings: BTreeMap<usize, Vec<usize>>,
    /// Per CPU, a number that is larger for a faster one, comparable within the machine only. A CPU
    /// whose speed is unknown is absent.
    pub speed: BTreeMap<usize, u64>,
}

impl Topology {
    /// Reads what the kernel shows of some CPUs.
    pub fn read(cpus: &[usize]) -> Topology {
        let mut topology = Topology::default();
        for &cpu in cpus {
            let siblings = fact(sys(cpu, "topology/thread_siblings_list"));
            if let Some(siblings) = siblings.and_then(|list| cpu_list::parse(&list).ok()) {
                topology.siblings.insert(cpu, siblings);
            }
            let speed = fact(sys(cpu, "cpu_capacity")).or_else(|| fact(sys(cpu, "cpufreq/cpuinfo_max_freq")));
            if let Some(speed) = speed.and_then(|number| number.parse().ok()) {
                topology.speed.insert(cpu, speed);
            }
        }
        topology
    }

    /// The CPUs that share `cpu`'s core, itself among them.
    pub fn core_of(&self, cpu: usize) -> Vec<usize> {
        self.siblings.get(&cpu).cloned().unwrap_or_else(|| vec![cpu])
    }

    fn cores(&self) -> Option<usize> {
        let cores: std::collections::BTreeSet<_> = self.siblings.values().collect();
        (!cores.is_empty()).then_some(cores.len())
    }

    fn smt(&self) -> Option<bool> {
        (!self.siblings.is_empty()).then(|| self.siblings.values().any(|core| core.len() > 1))
    }
}

fn sys(cpu: usize, file: &str) -> PathBuf {
    PathBuf::from(format!("/sys/devices/system/cpu/cpu{cpu}/{file}"))
}

/// The model's name from the text of `/proc/cpuinfo`. ARM kernels give numbers only.
fn model(cpuinfo: &str) -> Option<String> {
    let field = |name: &str| {
        let mut lines = cpuinfo.lines().filter_map(|line| line.split_once(':'));
        lines.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim().to_owned())
    };
    field("model name").or_else(|| field("cpu model")).or_else(|| field("Processor")).or_else(|| {
        let (implementer, part) = (field("CPU implementer")?, field("CPU part")?);
        Some(format!("implementer {implementer} part {part}"))
    })
}

fn caches(cpu: usize) -> Vec<Cache> {
    let read = |index: usize| {
        let file = |name: &str| fact(sys(cpu, &format!("cache/index{index}/{name}")));
        Some(Cache {
            level: file("level")?.parse().ok()?,
            kind: file("type")?,
            bytes: size(&file("size")?)?,
            shared_by: cpu_list::parse(&file("shared_cpu_list")?).ok()?.len(),
        })
    };
    (0..).map_while(read).collect()
}

/// Bytes of a size such as `48K` or `32M`.
fn size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

fn governors(cpus: &[usize]) -> BTreeMap<String, String> {
    let mut by_name: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for &cpu in cpus {
        if let Some(governor) = fact(sys(cpu, "cpufreq/scaling_governor")) {
            by_name.entry(governor).or_default().push(cpu);
        }
    }
    by_name.into_iter().map(|(name, cpus)| (name, cpu_list::format(&cpus))).collect()
}

fn turbo() -> Option<bool> {
    if let Some(off) = fact("/sys/devices/system/cpu/intel_pstate/no_turbo") {
        return Some(off == "0");
    }
    fact("/sys/devices/system/cpu/cpufreq/boost").map(|on| on == "1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_is_named_on_every_kind_of_processor() {
        let x86 = "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel\t\t: 207\n\
                   model name\t: Intel(R) Xeon(R) Processor\nstepping\t: 2\n";
        assert_eq!(model(x86).unwrap(), "Intel(R) Xeon(R) Processor");
        let arm = "processor\t: 0\nBogoMIPS\t: 243.75\nCPU implementer\t: 0x41\nCPU architecture: 8\n\
                   CPU variant\t: 0x3\nCPU part\t: 0xd0c\nCPU revision\t: 1\n";
        assert_eq!(model(arm).unwrap(), "implementer 0x41 part 0xd0c");
        assert_eq!(model(""), None);
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!(size("48K"), Some(49_152));
        assert_eq!(size("266240K"), Some(272_629_760));
        assert_eq!(size("4M"), Some(4 << 20));
        assert_eq!(size("unknown"), None);
    }

    #[test]
    fn cores_are_counted_by_their_siblings() {
        let pair = |a, b| vec![a, b];
        let siblings = BTreeMap::from([(0, pair(0, 2)), (1, pair(1, 3)), (2, pair(0, 2)), (3, pair(1, 3))]);
        let threaded = Topology { siblings, speed: BTreeMap::new() };
        assert_eq!((threaded.cores(), threaded.smt()), (Some(2), Some(true)));
        assert_eq!(threaded.core_of(3), [1, 3]);
        let unknown = Topology::default();
        assert_eq!((unknown.cores(), unknown.smt()), (None, None));
        assert_eq!(unknown.core_of(3), [3]);
    }
}
