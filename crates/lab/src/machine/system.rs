//! The system around the processor: kernel, distribution, C library, memory, virtualisation.

use std::path::Path;

use dyno_record::{Kernel, Virtualisation};

use super::fact;

/// The kernel's name, version and settings.
pub(super) fn kernel() -> Kernel {
    let name = nix::sys::utsname::uname().ok();
    let text = |part: Option<&std::ffi::OsStr>| {
        part.map_or_else(|| "unknown".to_owned(), |part| part.to_string_lossy().into_owned())
    };
    Kernel {
        release: text(name.as_ref().map(|name| name.release())),
        version: text(name.as_ref().map(|name| name.version())),
    }
}

/// The virtualisation that the system runs in, as the kernel reports it.
pub(super) fn virtualisation() -> Virtualisation {
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let dmi = |name: &str| fact(format!("/sys/class/dmi/id/{name}"));
    let product = [dmi("sys_vendor"), dmi("product_name")].into_iter().flatten().collect::<Vec<_>>();
    let xen = fact("/sys/hypervisor/type").map(|_| true);
    Virtualisation {
        hypervisor: hypervisor_flag(&cpuinfo).or(xen),
        product: (!product.is_empty()).then(|| product.join(" ")),
        container: container(),
    }
}

/// Returns whether the flags in the text of `/proc/cpuinfo` name a hypervisor; `None` without flags.
fn hypervisor_flag(cpuinfo: &str) -> Option<bool> {
    let mut fields = cpuinfo.lines().filter_map(|line| line.split_once(':'));
    let (_, flags) = fields.find(|(key, _)| key.trim() == "flags")?;
    Some(flags.split_whitespace().any(|flag| flag == "hypervisor"))
}

fn container() -> Option<String> {
    if Path::new("/.dockerenv").exists() {
        return Some("docker".to_owned());
    }
    if Path::new("/run/.containerenv").exists() {
        return Some("podman".to_owned());
    }
    fact("/run/systemd/container")
}

pub(super) fn distribution() -> Option<String> {
    let text = fact("/etc/os-release").or_else(|| fact("/usr/lib/os-release"))?;
    pretty_name(&text)
}

/// The name in the text of an `os-release` file, unquoted.
fn pretty_name(text: &str) -> Option<String> {
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.trim().strip_prefix(name)?.strip_prefix('='))?;
        let line = line.trim();
        let quoted = |quote: char| line.strip_prefix(quote)?.strip_suffix(quote);
        let value = quoted('"').or_else(|| quoted('\'')).unwrap_or(line).replace('\\', "");
        (!value.is_empty()).then_some(value)
    };
    field("PRETTY_NAME").or_else(|| field("NAME"))
}

/// Bytes of one line of `/proc/meminfo` or `/proc/PID/status`, given its text.
pub fn meminfo(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// The memory that programs can have without swapping, in bytes; none if the kernel does not report it.
pub fn available_memory() -> Option<u64> {
    meminfo(&std::fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable")
}

#[cfg(target_env = "gnu")]
pub(super) fn libc_version() -> Option<String> {
    // SAFETY: the function takes nothing and returns a string that lives as long as the library.
    let version = unsafe { std::ffi::CStr::from_ptr(nix::libc::gnu_get_libc_version()) };
    Some(format!("glibc {}", version.to_str().ok()?))
}

#[cfg(not(target_env = "gnu"))]
pub(super) fn libc_version() -> Option<String> {
    cfg!(target_env = "musl").then(|| "musl".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distribution_names_itself() {
        let debian = "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nNAME=\"Debian GNU/Linux\"\nID=debian\n";
        assert_eq!(pretty_name(debian).unwrap(), "Debian GNU/Linux 12 (bookworm)");
        assert_eq!(pretty_name("NAME=Void\nID=\"void\"\n").unwrap(), "Void");
        assert_eq!(pretty_name("NAME='Bob\\'s'\n").unwrap(), "Bob's");
        assert_eq!(pretty_name("ID=x\n"), None);
    }

    #[test]
    fn memory_is_in_bytes() {
        let text = "MemTotal:       24684084 kB\nMemFree:        24032608 kB\nHugePages_Total:       0\n";
        assert_eq!(meminfo(text, "MemTotal"), Some(24_684_084 * 1024));
        assert_eq!(meminfo(text, "Mem"), None);
        assert_eq!(meminfo(text, "HugePages_Total"), None);
    }

    #[test]
    fn a_hypervisor_is_a_flag_and_not_a_part_of_one() {
        assert_eq!(hypervisor_flag("flags\t\t: fpu hypervisor lahf_lm\n"), Some(true));
        assert_eq!(hypervisor_flag("flags\t\t: fpu nohypervisor\n"), Some(false));
        assert_eq!(hypervisor_flag("Features\t: fp asimd\n"), None);
    }
}
