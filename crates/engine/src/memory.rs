//! Settings that follow from the machine's memory, as `shared_buffers={memory*0.25}MB` in a profile.
//!
//! The part becomes a number of MiB. It is rounded down, to whole GiB or below one to 128 MiB, because
//! servers take memory in pieces (MySQL's buffer pool in up to 1 GiB) and a value that is rounded by the
//! server is not the one that was asked for.

use anyhow::{Context, Result, bail};

const GIB: u64 = 1 << 10;
const PIECE: u64 = 128;

/// Replaces `{memory*F}` in a value, where F is a part between 0 and 1.
///
/// # Errors
/// The text in braces is something else, or this system does not report its memory.
pub(super) fn fill(value: &str) -> Result<String> {
    if !value.contains('{') {
        return Ok(value.to_owned());
    }
    let text = std::fs::read_to_string("/proc/meminfo").context("cannot read how much memory there is")?;
    fill_with(value, mebibytes(&text).context("/proc/meminfo does not report MemTotal")?)
}

fn fill_with(value: &str, memory: u64) -> Result<String> {
    let Some((before, rest)) = value.split_once('{') else { return Ok(value.to_owned()) };
    let part = rest.split_once('}').and_then(|(inside, after)| {
        let factor: f64 = inside.strip_prefix("memory*")?.parse().ok()?;
        (factor > 0.0 && factor < 1.0).then_some((factor, after))
    });
    let Some((factor, after)) = part else {
        bail!("'{value}' has a part in braces that is not as {{memory*0.25}}, with a number between 0 and 1");
    };
    let share = (memory as f64 * factor) as u64;
    let piece = if share >= GIB { GIB } else { PIECE };
    let whole = (share / piece * piece).max(PIECE);
    Ok(format!("{before}{whole}{}", fill_with(after, memory)?))
}

/// The machine's memory in MiB.
fn mebibytes(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes / 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_the_memory_is_a_whole_number_of_pieces() {
        let share = |memory| fill_with("{memory*0.25}MB", memory).unwrap();
        assert_eq!(share(24_105), "5120MB");
        assert_eq!(share(4_096), "1024MB");
        assert_eq!(share(2_000), "384MB");
        assert_eq!(share(256), "128MB");
        assert_eq!(fill("64MB").unwrap(), "64MB");
    }

    #[test]
    fn other_parts_in_braces_are_refused() {
        for bad in ["{memory}", "{memory*2}", "{memory*0.5", "{cpus*0.5}"] {
            assert!(fill_with(bad, 1024).unwrap_err().to_string().contains("{memory*0.25}"), "{bad}");
        }
    }

    #[test]
    fn the_memory_is_read() {
        assert_eq!(mebibytes("MemTotal:       24684084 kB\nMemFree:  1 kB\n"), Some(24_105));
    }
}
