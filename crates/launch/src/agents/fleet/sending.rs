//! Sends agents the programs and inputs that they lack, each once, and has them remove those that are gone here.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::time::SystemTime;

use anyhow::{Context, Result};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use dyno_protocol::Job;
use sha2::{Digest, Sha256};

use super::super::files::{SENT, visit_files};
use super::super::wire::AgentOrder;
use super::{Fleet, line};

/// The number of bytes of a part of a file. A part is a line of 64 KiB.
const PART: usize = 48 << 10;

/// A file's digest, and by what it is known to be the same file still.
pub struct KnownDigest {
    bytes: u64,
    changed: SystemTime,
    sha256: String,
}

impl KnownDigest {
    /// True if it is that of what is at a path now.
    fn is_of(&self, path: &Path) -> bool {
        let about = fs::metadata(path).and_then(|about| Ok((about.len(), about.modified()?)));
        about.is_ok_and(|about| about == (self.bytes, self.changed))
    }
}

/// A file that agents need.
struct NeededFile {
    path: PathBuf,
    executable: bool,
    /// The agents by rank.
    ranks: BTreeSet<usize>,
}

impl Fleet {
    /// Sends agents what they lack for jobs, each with the rank of its agent, and for a runner's program.
    ///
    /// # Errors
    /// A file cannot be read, an agent is lost meanwhile, or a signal asks the run to stop.
    pub fn provide(&self, program: &Path, jobs: &[(usize, &Job)]) -> Result<()> {
        let mut needed: BTreeMap<String, NeededFile> = BTreeMap::new();
        let mut need = |path: &Path, executable: bool, rank: usize| -> Result<()> {
            let new = || NeededFile { path: path.to_owned(), executable, ranks: BTreeSet::new() };
            needed.entry(self.digest(path)?).or_insert_with(new).ranks.insert(rank);
            Ok(())
        };
        for (rank, job) in jobs {
            need(program, true, *rank)?;
            visit_files(&mut (*job).clone(), &mut |path| need(path, false, *rank).map(|()| path.to_owned()))?;
        }
        self.forget();
        needed.into_iter().try_for_each(|(sha256, file)| self.send(&sha256, &file))
    }

    /// Has agents remove what is in no file of this machine any more, such as the steps of an earlier trial: no job can
    /// name it again.
    fn forget(&self) {
        let at_hand: BTreeSet<String> = {
            let mut digests = self.digests.lock().unwrap_or_else(PoisonError::into_inner);
            digests.retain(|path, known| known.is_of(path));
            digests.values().map(|known| known.sha256.clone()).collect()
        };
        for rank in 0..self.agents.len() {
            let mut members = self.roster.lock();
            let files = &mut members.seats[rank].files;
            let gone: Vec<String> = files.difference(&at_hand).cloned().collect();
            files.retain(|sha256| at_hand.contains(sha256));
            drop(members);
            if !gone.is_empty() {
                self.order(rank, AgentOrder::Forget { files: gone });
            }
        }
    }

    /// A job as an agent gets it, in which digests stand for files.
    pub fn job_there(&self, job: &Job) -> Result<Job> {
        let mut there = job.clone();
        visit_files(&mut there, &mut |path| Ok(PathBuf::from(format!("{SENT}{}", self.digest(path)?))))?;
        // The costs of a server are read on its own machine.
        there.server.iter_mut().for_each(|server| server.process = None);
        Ok(there)
    }

    /// The SHA-256 of a file.
    ///
    /// # Errors
    /// It cannot be read, or a signal asks the run to stop.
    pub fn digest(&self, path: &Path) -> Result<String> {
        let mut digests = self.digests.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = digests.get(path).filter(|known| known.is_of(path)) {
            return Ok(known.sha256.clone());
        }
        let what = || format!("cannot read {}", path.display());
        let about = fs::metadata(path).with_context(what)?;
        let changed = about.modified().with_context(what)?;
        let (mut hash, mut file) = (Sha256::new(), File::open(path).with_context(what)?);
        let mut buffer = vec![0; 1 << 16];
        loop {
            self.check()?;
            match file.read(&mut buffer).with_context(what)? {
                0 => break,
                read => hash.update(&buffer[..read]),
            }
        }
        let sha256: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        digests.insert(path.to_owned(), KnownDigest { bytes: about.len(), changed, sha256: sha256.clone() });
        Ok(sha256)
    }

    /// Sends a file to those agents that lack it: once to each launcher.
    fn send(&self, sha256: &str, needed: &NeededFile) -> Result<()> {
        let mut lacking: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        {
            let members = self.roster.lock();
            for &rank in &needed.ranks {
                let seat = &members.seats[rank];
                if !seat.files.contains(sha256) {
                    lacking.entry(seat.launcher).or_default().push(rank);
                }
            }
        }
        for ranks in lacking.values() {
            self.send_to(ranks, sha256, needed)?;
            let mut members = self.roster.lock();
            for &rank in ranks {
                members.seats[rank].files.insert(sha256.to_owned());
            }
        }
        Ok(())
    }

    /// Sends a file to agents of one launcher.
    fn send_to(&self, ranks: &[usize], sha256: &str, needed: &NeededFile) -> Result<()> {
        let what = || format!("cannot read {}", needed.path.display());
        let mut file = File::open(&needed.path).with_context(what)?;
        let names: Vec<String> = ranks.iter().map(|&rank| self.roster.input(rank).0).collect();
        loop {
            self.check()?;
            let mut part = Vec::with_capacity(PART);
            let read = file.by_ref().take(PART as u64).read_to_end(&mut part).with_context(what)?;
            let order = AgentOrder::File {
                sha256: sha256.to_owned(),
                executable: needed.executable,
                part: BASE64_STANDARD.encode(&part),
                last: read < PART,
            };
            self.put(ranks[0], line(names.clone(), order)?)?;
            if read < PART {
                return Ok(());
            }
        }
    }
}
