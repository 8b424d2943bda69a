//! Devices that fail: a write or a flush is refused, once or for good, or the disk is full. Whatever the program then
//! does, what it acknowledges must be there when the device works again.
//!
//! After a failure that comes once, the program is also started again without a reboot. The file system stays mounted,
//! and may answer from memory what never reached the disk (A. Rebello and others, Can Applications Recover from fsync
//! Failures?, USENIX ATC 2020).

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use anyhow::{Context, Result, bail};
use dyno_record::{DeviceFailure, Harm, Restarted};
use nix::fcntl::{FallocateFlags, fallocate};
use nix::sys::statvfs::statvfs;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use crate::content::Content;
use crate::context::ProofContext;
use crate::cuts::{Cut, KeptWrites, Replay, Why};
use crate::disk::faults::{Fault, Kind};
use crate::disk::log::Entry;
use crate::history::History;
use crate::judge::{Losses, judge_at};
use crate::phase::PhaseMarker;
use crate::storage::Recorded;
use crate::subject::{Contents, Subject, WorkMode};
use crate::tree::Tree;

/// The file that fills a disk.
const FILLER: &str = "filler";
/// At how many places a write fails once, and a flush.
const PLACES: usize = 3;
/// After how many of the last acknowledgements the power is cut too, when the device has failed.
const LAST: usize = 4;
/// The same for those that came after a restart.
const LAST_RESTARTED: usize = 2;
/// The space left on a disk that is about to be full, in bytes: less than the commits need.
const LEFT: u64 = 32 << 10;

/// The outcome of a restart, before the record of the disk is read.
struct Restart {
    /// The findings, where it could be looked at.
    found: Option<Contents>,
    said: Option<String>,
}

impl ProofContext {
    /// Lets the device of a subject fail during its work, in each way. `history` is its work without a failure, and
    /// says where that is; `seed` draws the places.
    ///
    /// Of whom a cut without a failure takes commits, this says nothing more.
    ///
    /// # Errors
    /// As for a proof.
    pub fn fail(
        &self,
        subject: &dyn Subject,
        base: &Content,
        history: &History,
        seed: u64,
    ) -> Result<Vec<DeviceFailure>> {
        let mut failed = Vec::new();
        for (fault, device) in faults(history, seed) {
            self.interrupts.check()?;
            failed.push(self.once(subject, base, Some(fault), device)?);
        }
        if !failed.is_empty() {
            let full = self.nearly_full(base)?;
            failed.push(self.once(subject, &full, None, "the disk is full".to_owned())?);
        }
        Ok(failed)
    }

    fn once(
        &self,
        subject: &dyn Subject,
        base: &Content,
        fault: Option<Fault>,
        device: String,
    ) -> Result<DeviceFailure> {
        let disk = self.recorded(base, fault)?;
        let said = self.worked(subject, &disk, WorkMode::default())?;
        let restart = match fault {
            Some(Fault::Refused { for_good: false, .. }) => Some(self.restart(subject, &disk)?),
            _ => None,
        };
        let history = History::new(disk.finish()?, |line| subject.read(line));
        let end = PhaseMarker::Ends.first(history.entries()).unwrap_or(history.entries().len());
        let promised = history.promised(end);
        let refused = history.entries().iter().position(|entry| *entry == Entry::Refused);
        let afterwards = refused.map_or(0, |place| promised.len() - history.promised(place.min(end)).len());
        let mut failed = DeviceFailure {
            device,
            said,
            acknowledged: promised.len(),
            afterwards,
            harm: Harm::default(),
            restarted: None,
        };
        if promised.is_empty() {
            // Perhaps it did not even start, and nothing was asked of it.
            return Ok(failed);
        }
        let mut replay = Replay::new(history.entries(), base.clone());
        let acknowledgements = history.acknowledgements();
        let (before, after): (Vec<usize>, Vec<usize>) =
            acknowledgements.into_iter().partition(|&place| place <= end);
        let written = Cut { place: history.entries().len(), kept: KeptWrites::All, why: Why::Flushed };
        let mut cuts = strict(&before, LAST, end);
        cuts.extend(restart.is_none().then(|| written.clone()));
        failed.harm = self.after_cuts(subject, &history, &mut replay, &cuts)?.harm();
        if let Some(Restart { found, said }) = restart {
            let mut cuts = strict(&after, LAST_RESTARTED, history.places(true).end);
            cuts.push(written);
            let mut losses = self.after_cuts(subject, &history, &mut replay, &cuts)?;
            if let Some(found) = found {
                losses.add(judge_at(subject, &history, end, &found));
            }
            failed.restarted = Some(Restarted { said, acknowledged: after.len(), harm: losses.harm() });
        }
        Ok(failed)
    }

    /// Starts a subject again on a disk that is still mounted, looks for its commits, and lets it make a few more.
    fn restart(&self, subject: &dyn Subject, disk: &Recorded) -> Result<Restart> {
        let looked = self.look_beside(subject, disk.folder()?);
        self.interrupts.check()?;
        let found = match looked {
            Ok(found) => found,
            Err(error) => return Ok(Restart { found: None, said: Some(format!("{error:#}")) }),
        };
        if let Some(why) = found.troubles.first().or(found.late.as_ref()) {
            return Ok(Restart { said: Some(why.clone()), found: None });
        }
        let mut said = None;
        if let Some(&last) = found.commits.last()
            && subject.can_go_on()
        {
            let manner = WorkMode { after: Some(last), ..WorkMode::default() };
            said = self.worked(subject, disk, manner)?;
        }
        Ok(Restart { found: Some(found), said })
    }

    /// Looks at a copy of files, as they are read now: to look changes some databases.
    pub(crate) fn look_beside(&self, subject: &dyn Subject, folder: &Path) -> Result<Contents> {
        // A server's user must be able to reach it.
        let copy = self.place.join("copy");
        let made = DirBuilder::new().mode(0o755).create(&copy);
        made.with_context(|| format!("cannot make {}", copy.display()))?;
        let looked =
            Tree::of(folder).and_then(|tree| tree.put_into(&copy)).and_then(|()| subject.check(&copy));
        fs::remove_dir_all(&copy).with_context(|| format!("cannot remove {}", copy.display()))?;
        looked
    }

    /// Data that are missing or wrong after any of some cuts of one history, in the order of their places.
    fn after_cuts(
        &self,
        subject: &dyn Subject,
        history: &History,
        replay: &mut Replay,
        cuts: &[Cut],
    ) -> Result<Losses> {
        let mut losses = Losses::default();
        for cut in cuts {
            self.interrupts.check()?;
            let image = replay.content(cut);
            let Some((found, _)) = self.look(subject, &image)? else {
                losses.broken.push("the file system cannot be mounted".to_owned());
                continue;
            };
            if let Some(why) = &found.late {
                bail!(
                    "the data could not be looked at after a device failed: {why}; give it more time by --timeout"
                );
            }
            losses.add(judge_at(subject, history, cut.place, &found));
        }
        Ok(losses)
    }

    /// The disk with a file on it that leaves little room.
    fn nearly_full(&self, base: &Content) -> Result<Content> {
        let stand = self.stand(base)?;
        fill(stand.folder()).context("cannot fill a disk")?;
        self.content(stand)
    }
}

/// The failures of the device, in words too: of writes and of flushes, each once in the middle of the work and at other
/// places that are drawn, and for good from the middle on.
fn faults(history: &History, seed: u64) -> Vec<(Fault, String)> {
    let acknowledged = history.acknowledgements();
    let (Some(&first), Some(&last)) = (acknowledged.first(), acknowledged.last()) else { return Vec::new() };
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let is_write: fn(&Entry) -> bool = |entry| matches!(entry, Entry::Write { .. });
    let is_flush: fn(&Entry) -> bool = |entry| *entry == Entry::Flush;
    let mut faults = Vec::new();
    for (kind, is_kind, what) in [(Kind::Write, is_write, "write"), (Kind::Flush, is_flush, "flush")] {
        let before =
            |place: usize| history.entries()[..place].iter().filter(|entry| is_kind(entry)).count() as u64;
        let (middle, within) = (before(acknowledged[acknowledged.len() / 2]), before(first)..before(last));
        let drawn = (1..PLACES).filter(|_| !within.is_empty()).map(|_| random.random_range(within.clone()));
        let once: BTreeSet<u64> = [middle].into_iter().chain(drawn).collect();
        for (after, for_good) in once.into_iter().map(|after| (after, false)).chain([(middle, true)]) {
            let how = if for_good { "for good" } else { "once" };
            let device = format!("a {what} fails {how}, after {after} others");
            faults.push((Fault::Refused { kind, after, for_good }, device));
        }
    }
    faults
}

/// Cuts that keep only what was flushed: right after the last of some acknowledgements, and at an end. A later flush
/// may have made commits durable that were acknowledged too early.
fn strict(acknowledged: &[usize], last: usize, end: usize) -> Vec<Cut> {
    let places = acknowledged[acknowledged.len().saturating_sub(last)..].iter().copied().chain([end]);
    places.map(|place| Cut { place, kept: KeptWrites::None, why: Why::Acknowledged }).collect()
}

fn fill(folder: &Path) -> Result<()> {
    let room = statvfs(folder)?;
    let bytes = (room.blocks_available() * room.fragment_size()).saturating_sub(LEFT);
    let filler = File::create_new(folder.join(FILLER))?;
    Ok(fallocate(&filler, FallocateFlags::empty(), 0, bytes as i64)?)
}

/// Frees space on a disk that was filled, as an administrator would.
pub fn make_room(folder: &Path) {
    let _ = fs::remove_file(folder.join(FILLER));
}
