//! Devices that fail: a write or a flush is refused, once or for good, or the disk is full. Whatever the program then does,
//! what it acknowledges must be there when the device works again.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;

use anyhow::{Context, Result};
use nix::fcntl::{FallocateFlags, fallocate};
use nix::sys::statvfs::statvfs;
use serde::Serialize;

use crate::content::Content;
use crate::cuts::{Cut, KeptWrites, Replay, Why};
use crate::disk::faults::{Fault, Kind};
use crate::disk::log::Entry;
use crate::history::History;
use crate::judge::{Verdict, judge_at};
use crate::proof::ProofContext;
use crate::subject::{Subject, WorkMode};

/// The file that fills a disk.
const FILLER: &str = "filler";
/// After how many of the last acknowledgements the power is cut too, when the device has failed.
const LAST: usize = 4;
/// The space left on a disk that is about to be full, in bytes: less than the commits need.
const LEFT: u64 = 32 << 10;

/// The behaviour of a subject when its device failed.
#[derive(Debug, Clone, Serialize)]
pub struct Failed {
    /// The failure, in words.
    pub device: String,
    /// The error that the subject reported; none where it continued as if nothing had happened.
    pub said: Option<String>,
    /// The number of commits that it acknowledged.
    pub acknowledged: usize,
    /// The number of commits that it acknowledged after the failure.
    pub afterwards: usize,
    /// The finding once the device worked again: after cuts that keep only what was flushed, right after the last
    /// acknowledgements and at the end, and with everything that was written.
    pub verdict: Verdict,
}

impl ProofContext {
    /// Lets the device of a subject fail in the middle of its work, in each way. `history` is its work without a
    /// failure, and says where the middle is.
    ///
    /// Of whom a cut without a failure takes commits, this says nothing more.
    ///
    /// # Errors
    /// As for a proof.
    pub fn fail(&self, subject: &dyn Subject, base: &Content, history: &History) -> Result<Vec<Failed>> {
        let middle = history.acknowledgements().get(history.acknowledgements().len() / 2).copied();
        let Some(middle) = middle else { return Ok(Vec::new()) };
        let before = |is_kind: fn(&Entry) -> bool| {
            history.entries()[..middle].iter().filter(|entry| is_kind(entry)).count() as u64
        };
        let writes = before(|entry| matches!(entry, Entry::Write { .. }));
        let flushes = before(|entry| *entry == Entry::Flush);
        let mut failed = Vec::new();
        for (kind, after, what) in [(Kind::Write, writes, "write"), (Kind::Flush, flushes, "flush")] {
            for (for_good, how) in [(false, "once"), (true, "for good")] {
                self.interrupts.check()?;
                let fault = Fault { kind, after, for_good };
                let device = format!("a {what} fails {how}");
                failed.push(self.once(subject, base, Some(fault), device)?);
            }
        }
        let full = self.nearly_full(base)?;
        failed.push(self.once(subject, &full, None, "the disk is full".to_owned())?);
        Ok(failed)
    }

    fn once(
        &self,
        subject: &dyn Subject,
        base: &Content,
        fault: Option<Fault>,
        device: String,
    ) -> Result<Failed> {
        let (history, said) = self.record(subject, base, fault, WorkMode::default())?;
        let end = history.places(true).end;
        let promised = history.promised(end);
        let refused = history.entries().iter().position(|entry| *entry == Entry::Refused);
        let afterwards = refused.map_or(0, |place| promised.len() - history.promised(place).len());
        let mut verdict = Verdict::default();
        if promised.is_empty() {
            // Perhaps it did not even start, and nothing was asked of it.
            return Ok(Failed { device, said, acknowledged: 0, afterwards: 0, verdict });
        }
        let mut roll = Replay::new(history.entries(), base.clone());
        // A later flush may have made commits durable that were acknowledged too early.
        let mut strict = history.acknowledgements();
        strict.drain(..strict.len().saturating_sub(LAST));
        strict.push(end);
        let strict =
            strict.into_iter().map(|place| Cut { place, kept: KeptWrites::None, why: Why::Acknowledged });
        let written = Cut { place: history.entries().len(), kept: KeptWrites::All, why: Why::Flushed };
        for cut in strict.chain([written]) {
            let image = roll.content(&cut);
            let Some((found, _)) = self.look(subject, &image)? else {
                verdict.broken.push("the file system cannot be mounted".to_owned());
                continue;
            };
            if found.late.is_some() {
                continue;
            }
            let one = judge_at(subject, &history, cut.place, &found);
            verdict.lost = verdict.lost.union(&one.lost).copied().collect::<BTreeSet<u64>>();
            verdict.broken.extend(one.broken);
            verdict.is_by_client = one.is_by_client;
        }
        Ok(Failed { device, said, acknowledged: promised.len(), afterwards, verdict })
    }

    /// The disk with a file on it that leaves little room.
    fn nearly_full(&self, base: &Content) -> Result<Content> {
        let stand = self.stand(base)?;
        fill(stand.folder()).context("cannot fill a disk")?;
        self.content(stand)
    }
}

fn fill(folder: &Path) -> Result<()> {
    let room = statvfs(folder)?;
    let bytes = (room.blocks_available() * room.fragment_size()).saturating_sub(LEFT);
    let filler = File::create(folder.join(FILLER))?;
    Ok(fallocate(&filler, FallocateFlags::empty(), 0, bytes as i64)?)
}

/// Frees space on a disk that was filled, as an administrator would.
pub fn make_room(folder: &Path) {
    let _ = fs::remove_file(folder.join(FILLER));
}
