//! Checks of the processor and of what the system runs in, from what the kernel says of them.

use dyno_record::{Cpu, Machine, Virtualisation, cpu_list};

use super::Check;

pub(super) fn checks(machine: &Machine) -> Vec<Check> {
    let cpu = &machine.cpu;
    let mut checks = vec![count(cpu)];
    checks.extend(hyper_threads(cpu));
    checks.push(governor(cpu));
    checks.extend(turbo(cpu));
    checks.push(virtualisation(&machine.virtualisation));
    checks
}

fn count(cpu: &Cpu) -> Check {
    let subject = "processors";
    let model = cpu.model.as_deref().unwrap_or(&cpu.architecture);
    let found = format!("{} of {} CPUs allowed, {model}", cpu.allowed.len(), cpu.online);
    if cpu.allowed.len() < 2 {
        let advice = "dyno and what else runs share the CPU with the measured process; sync-bound and \
                      client-server tests will be unsteady. Use a machine with two CPUs or more";
        return Check::warning(subject, found, advice);
    }
    Check::good(subject, found)
}

fn hyper_threads(cpu: &Cpu) -> Option<Check> {
    let subject = "hyper-threads";
    Some(match (cpu.smt?, cpu.cores) {
        (true, Some(cores)) => Check::note(
            subject,
            format!("{} CPUs on {cores} cores", cpu.online),
            "what runs on the other thread of a core slows the measured one by up to a half; dyno keeps off \
             it, other processes do not",
        ),
        (true, None) => Check::note(subject, "on", "CPUs of one core slow each other"),
        // A guest sees the threads that the host shows, which need not be true.
        (false, _) => Check::good(subject, "none seen: every CPU shows as a separate core"),
    })
}

fn governor(cpu: &Cpu) -> Check {
    let subject = "frequency governor";
    if cpu.governors.is_empty() {
        return Check::good(subject, "none shown: firmware or host sets the frequency");
    }
    let list: Vec<String> = cpu.governors.iter().map(|(name, cpus)| format!("{name} (CPU {cpus})")).collect();
    let found = list.join(", ");
    let slow = |(name, cpus): (&String, &String)| {
        let cpus = cpu_list::parse(cpus).unwrap_or_default();
        name != "performance" && cpus.iter().any(|cpu_number| cpu.allowed.contains(cpu_number))
    };
    if cpu.governors.iter().any(slow) {
        let advice = "CPUs slow down when idle and take time to speed up, which sync-bound tests feel most; \
                      as root: cpupower frequency-set -g performance";
        return Check::warning(subject, found, advice);
    }
    Check::good(subject, found)
}

fn turbo(cpu: &Cpu) -> Option<Check> {
    Some(if cpu.turbo? {
        let advice = "frequency falls as the processor warms up or more cores work; interleaved trials cancel \
                      the drift, but it widens the intervals. For the narrowest ones switch it off: 1 in \
                      /sys/devices/system/cpu/intel_pstate/no_turbo or 0 in /sys/devices/system/cpu/cpufreq/boost";
        Check::note("turbo", "on", advice)
    } else {
        Check::good("turbo", "off")
    })
}

fn virtualisation(found: &Virtualisation) -> Check {
    let subject = "virtualisation";
    let product = found.product.as_ref().map_or(String::new(), |product| format!(" ({product})"));
    match (found.hypervisor, &found.container) {
        (Some(true), container) => {
            let inside = container.as_ref().map_or(String::new(), |kind| format!(", in a {kind} container"));
            let advice = "neighbours on the host take CPU, cache and disk time that nothing here can see in \
                          full; repeat important runs at another hour";
            Check::note(subject, format!("virtual machine{product}{inside}"), advice)
        }
        (_, Some(kind)) => Check::note(
            subject,
            format!("{kind} container{product}"),
            "the machine is shared with what runs outside the container",
        ),
        (Some(false), None) => Check::good(subject, format!("none found{product}")),
        (None, None) => Check::good(subject, format!("no sign of any{product}")),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::Level;
    use super::*;

    fn cpu(allowed: &[usize], governors: &[(&str, &str)]) -> Cpu {
        let owned = |(name, cpus): &(&str, &str)| ((*name).to_owned(), (*cpus).to_owned());
        Cpu {
            architecture: "x86_64".into(),
            model: None,
            online: 8,
            cores: Some(4),
            allowed: allowed.to_vec(),
            quota_ns: None,
            smt: Some(true),
            caches: vec![],
            governors: governors.iter().map(owned).collect::<BTreeMap<_, _>>(),
            turbo: Some(true),
        }
    }

    #[test]
    fn one_cpu_is_too_few() {
        assert_eq!(count(&cpu(&[3], &[])).level, Level::Warning);
        assert_eq!(count(&cpu(&[0, 3], &[])).level, Level::Good);
    }

    #[test]
    fn only_governors_of_allowed_cpus_matter() {
        let mixed = [("performance", "0-3"), ("powersave", "4-7")];
        assert_eq!(governor(&cpu(&[0, 1], &mixed)).level, Level::Good);
        assert_eq!(governor(&cpu(&[0, 4], &mixed)).level, Level::Warning);
        assert_eq!(governor(&cpu(&[0], &[])).level, Level::Good);
    }

    #[test]
    fn guests_are_noted() {
        let guest = |hypervisor, container: Option<&str>| {
            let container = container.map(str::to_owned);
            virtualisation(&Virtualisation { hypervisor, product: Some("QEMU".into()), container })
        };
        assert_eq!(guest(Some(true), None).found, "virtual machine (QEMU)");
        assert_eq!(guest(Some(false), Some("docker")).found, "docker container (QEMU)");
        assert_eq!(guest(Some(false), None).level, Level::Good);
    }
}
