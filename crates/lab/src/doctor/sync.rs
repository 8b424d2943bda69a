//! The time of a sync in the folder to be measured: the figure that bounds every safe commit.
//!
//! One round overwrites 4 KiB of a file and calls `fdatasync`, as an engine with a preallocated log
//! does. A sync that also has to record a new file size costs more.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use dyno_record::Storage;

use super::Check;
use crate::machine::{Kind, kind};
use crate::scratch::Scratch;

const ROUNDS: usize = 50;
/// Slow disks get fewer rounds, so that the whole look stays short.
const BUDGET: Duration = Duration::from_millis(600);
/// Below this, no disk can have been asked: the fastest need about as long for one write alone.
const TOO_QUICK: Duration = Duration::from_micros(20);
/// Above this, sync-bound tests are the disk's and take minutes.
const SLOW: Duration = Duration::from_millis(10);

pub(super) fn check(dir: &Path, storage: &Storage) -> Check {
    match measure(dir) {
        Ok(times) => judge(times, kind(&storage.file_system)),
        Err(error) => Check::warning(
            "sync time",
            format!("cannot write and sync a file: {error:#}"),
            "choose a folder that you may write to with --dir",
        ),
    }
}

/// Times of single rounds, ascending; at least one.
fn measure(dir: &Path) -> Result<Vec<Duration>> {
    // A file with a name: some file systems skip the sync of one that would vanish on a crash.
    let scratch = Scratch::create(dir)?;
    let file = File::create_new(scratch.folder().join("synced"))?;
    let mut block = [0x5a_u8; 4096];
    file.write_all_at(&block, 0)?;
    file.sync_all()?;
    let start = Instant::now();
    let mut times = Vec::with_capacity(ROUNDS);
    while times.is_empty() || (times.len() < ROUNDS && start.elapsed() < BUDGET) {
        block[0] = block[0].wrapping_add(1);
        let round = Instant::now();
        file.write_all_at(&block, 0)?;
        file.sync_data()?;
        times.push(round.elapsed());
    }
    times.sort_unstable();
    Ok(times)
}

/// Judges times in ascending order, of which there is at least one.
fn judge(times: Vec<Duration>, kind: Kind) -> Check {
    let subject = "sync time";
    let median = times[times.len() / 2];
    let late = times[times.len() * 9 / 10];
    let found = format!(
        "median {}, one in ten above {} ({} rounds of 4 KiB + fdatasync)",
        text(median),
        text(late),
        times.len()
    );
    if kind == Kind::Memory {
        return Check::note(subject, found, "nothing is written: see the file system");
    }
    if median < TOO_QUICK {
        let advice = "too quick for a disk: the device or the host seems to acknowledge from memory, so \
                      power-loss safety is likely untrue here and its cost not measured";
        return Check::warning(subject, found, advice);
    }
    if median > SLOW {
        return Check::note(subject, found, "sync-bound tests will show the disk and little of the engine");
    }
    if late > median * 2 {
        let advice = "unsteady: others may use the disk; sync-bound tests will need more trials";
        return Check::note(subject, found, advice);
    }
    Check::good(subject, found)
}

/// A duration with three digits and its unit.
fn text(time: Duration) -> String {
    let micros = time.as_secs_f64() * 1e6;
    match micros {
        below if below < 10.0 => format!("{below:.1} µs"),
        below if below < 1e3 => format!("{below:.0} µs"),
        below if below < 1e4 => format!("{:.2} ms", below / 1e3),
        above => format!("{:.1} ms", above / 1e3),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;

    fn micros(times: &[u64]) -> Vec<Duration> {
        times.iter().map(|&time| Duration::from_micros(time)).collect()
    }

    #[test]
    fn times_are_judged_by_what_a_disk_can_do() {
        let level = |times: &[u64], kind| judge(micros(times), kind).level;
        assert_eq!(level(&[100, 110, 120], Kind::Local), Level::Good);
        assert_eq!(level(&[3, 4, 5], Kind::Local), Level::Warning);
        assert_eq!(level(&[3, 4, 5], Kind::Memory), Level::Note);
        assert_eq!(level(&[100, 110, 400], Kind::Local), Level::Note);
        assert_eq!(level(&[30_000], Kind::Local), Level::Note);
    }

    #[test]
    fn times_are_short_texts() {
        let texts: Vec<_> = micros(&[4, 118, 2345, 30_000]).into_iter().map(text).collect();
        assert_eq!(texts, ["4.0 µs", "118 µs", "2.35 ms", "30.0 ms"]);
    }
}
