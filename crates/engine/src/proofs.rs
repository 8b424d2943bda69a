//! The results of `dyno prove` on this machine, kept in one file, and their effect on the levels of contenders.
//!
//! A result holds of the same build of an engine with the same settings in force on the same file system, and of
//! nothing else. It holds for later versions of dyno too, as long as they ask for the same evidence.

use std::collections::BTreeMap;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use dyno_protocol::{Hello, InForce};
use dyno_record::{EVIDENCE, FIRST_FAIR, Hole, KeptProof, Level, PROOF_SCHEMA, Safety, Standing, Survival};
use serde::Deserialize;

use crate::Contender;
use crate::home::kept_files;

/// Names another file than the usual one.
const VARIABLE: &str = "DYNO_PROOFS";
/// The file within dyno's folder of data.
const NAME: &str = "proofs.jsonl";

/// The name under which a build has the digest of a server's program.
const SERVER: &str = "server";
/// From how many cuts or kills on it is said that a level was survived; fewer are observations.
const ENOUGH: u64 = 10;

/// All results, oldest first.
#[derive(Debug, Clone, Default)]
pub struct Proofs {
    kept: Vec<KeptProof>,
}

/// The fields of every line, whichever version wrote it.
#[derive(Deserialize)]
struct ProofHeader {
    schema: String,
}

impl Proofs {
    /// Those of this user and those that root kept for everybody. The texts say which lines could not be read.
    pub fn load() -> (Proofs, Vec<String>) {
        let (mut proofs, mut troubles) = (Proofs::default(), Vec::new());
        for path in places() {
            match dyno_files::read_found(&path) {
                Ok(text) => proofs.read(&text, &path, &mut troubles),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => troubles.push(format!("cannot read {}: {error}", path.display())),
            }
        }
        (proofs, troubles)
    }

    fn read(&mut self, text: &str, path: &Path, troubles: &mut Vec<String>) {
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.is_empty()) {
            // A later dyno may write what this one does not know.
            if serde_json::from_str::<ProofHeader>(line).is_ok_and(|head| head.schema != PROOF_SCHEMA) {
                continue;
            }
            match serde_json::from_str(line) {
                Ok(proof) => self.kept.push(proof),
                Err(error) => troubles.push(format!(
                    "{}:{}: {error}; the line is left out, and can be removed",
                    path.display(),
                    number + 1
                )),
            }
        }
    }

    /// Those of an engine.
    pub fn of_engine<'a>(&'a self, engine: &'a str) -> impl Iterator<Item = &'a KeptProof> {
        self.kept.iter().filter(move |proof| proof.engine == engine)
    }

    /// The result for a contender with the settings in force on a file system. A loss that was once found always
    /// counts; of results without losses, the one with the most cuts counts.
    pub fn find(&self, contender: &Contender, hello: &Hello, file_system: &str) -> Option<&Survival> {
        let wanted = subject(contender, hello);
        let alike = self.kept.iter().filter(|proof| {
            subject_of(proof) == wanted
                && proof.survival.file_system == file_system
                && still_counts(&proof.survival)
        });
        let rank = |survival: &Survival| (is_lossy(survival), survival.cuts.tried, survival.kills.tried);
        alike.map(|proof| &proof.survival).max_by_key(|survival| rank(survival))
    }

    /// The safety of a contender by its rules and by the results.
    pub fn judge(&self, safety: Safety, contender: &Contender, hello: &Hello, file_system: &str) -> Safety {
        match self.find(contender, hello, file_system) {
            Some(survival) if contender.url.is_none() => tried(safety, survival.clone()),
            _ => safety,
        }
    }
}

/// True if a result is as strong as today's, or is a loss that today's tries would find too.
fn still_counts(survival: &Survival) -> bool {
    survival.evidence == EVIDENCE || (survival.evidence >= FIRST_FAIR && is_lossy(survival))
}

fn is_lossy(survival: &Survival) -> bool {
    let Survival { cuts, kills, errors, unflushed, .. } = survival;
    let is_harmed = errors.is_some_and(|errors| errors.lost > 0) || *unflushed > 0;
    cuts.tried + kills.tried > cuts.survived + kills.survived || is_harmed
}

/// The subject of a result: engine, its version, what else identifies it, an encrypted file system, settings.
type Subject<'a> =
    (&'a str, &'a str, BTreeMap<String, Vec<String>>, Option<&'a str>, BTreeMap<&'a str, &'a str>);

fn subject<'a>(contender: &'a Contender, hello: &'a Hello) -> Subject<'a> {
    let encrypted = contender.file_system.map(|system| system.name());
    let Hello { engine_version, settings, .. } = hello;
    (&contender.engine.name, engine_version, build(contender, hello), encrypted, by_name(settings))
}

fn subject_of(proof: &KeptProof) -> Subject<'_> {
    let KeptProof { engine, engine_version, build, encrypted, settings, .. } = proof;
    (engine, engine_version, build.clone(), encrypted.as_deref(), by_name(settings))
}

fn by_name(settings: &[InForce]) -> BTreeMap<&str, &str> {
    settings.iter().map(|setting| (setting.name.as_str(), setting.value.as_str())).collect()
}

/// The identity of the build, besides the engine's version. The client of a server makes nothing durable, so only the
/// server program identifies a server's build.
fn build(contender: &Contender, hello: &Hello) -> BTreeMap<String, Vec<String>> {
    if contender.engine.is_server() {
        let program = hello.build.get_key_value(SERVER);
        return program.map(|(name, digest)| (name.clone(), digest.clone())).into_iter().collect();
    }
    let variant = contender.variant.iter().map(|variant| variant.name.clone());
    let driver = [contender.driver.name.clone(), hello.driver_version.clone()].into_iter().chain(variant);
    let mut build = hello.build.clone();
    build.insert("driver".to_owned(), driver.collect());
    build
}

/// A result as it is kept.
pub fn keep(contender: &Contender, hello: &Hello, survival: Survival) -> KeptProof {
    KeptProof {
        schema: PROOF_SCHEMA.to_owned(),
        label: contender.label.clone(),
        engine: contender.engine.name.clone(),
        engine_version: hello.engine_version.clone(),
        build: build(contender, hello),
        encrypted: contender.file_system.map(|system| system.name().to_owned()),
        settings: hello.settings.clone(),
        survival,
    }
}

/// Adds a result to the file, and says which that is.
///
/// # Errors
/// There is no place for it, or it cannot be written.
pub fn add(proof: &KeptProof) -> Result<PathBuf> {
    let path = places()
        .into_iter()
        .next()
        .context("there is no folder to keep the result in: neither HOME nor XDG_DATA_HOME is set")?;
    let write = || -> io::Result<()> {
        // One write: lines of two that prove at once do not mix. After half a line, of a disk that was full, a new one
        // begins.
        let begun = lacks_end(&path);
        let line = format!("{}{}\n", if begun { "\n" } else { "" }, serde_json::to_string(proof)?);
        dyno_files::append(&path, line.as_bytes())
    };
    write().with_context(|| format!("cannot keep the result in {}", path.display()))?;
    Ok(path)
}

/// True if the last line of a file was not written completely.
fn lacks_end(path: &Path) -> bool {
    let last = || -> io::Result<u8> {
        let mut file = dyno_files::open_found(path)?;
        file.seek(SeekFrom::End(-1))?;
        let mut last = [0];
        file.read_exact(&mut last)?;
        Ok(last[0])
    };
    last().is_ok_and(|last| last != b'\n')
}

/// The files, that of this user first.
fn places() -> Vec<PathBuf> {
    kept_files(VARIABLE, NAME)
}

/// The safety with the results: the level that is left, how it is known, and the caveats for readers.
pub fn tried(safety: Safety, survival: Survival) -> Safety {
    let Survival { cuts, kills, .. } = &survival;
    let is_known = safety.hole == Some(Hole::LastCommit) && cuts.most_lost <= 1 && cuts.broken == 0;
    let crashes = kills.survived < kills.tried;
    let breaches = if is_known && !crashes { Vec::new() } else { survival.breaches(&safety) };
    if !breaches.is_empty() {
        let level = if crashes { Level::None } else { safety.level.min(Level::ProcessCrash) };
        let caveat = format!(
            "dyno prove disproved what its settings promise, {}: {}",
            safety.name(),
            breaches.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
        );
        let consistent = safety.consistent && cuts.broken == 0 && kills.broken == 0;
        let caveat = Some(caveat);
        let standing = Standing::Disproved;
        return Safety {
            level,
            consistent,
            standing,
            caveat,
            hole: None,
            survival: Some(survival),
            ..safety
        };
    }
    let survived = match safety.level {
        Level::PowerLoss => cuts.is_whole() && cuts.tried >= ENOUGH && !crashes,
        Level::ProcessCrash => kills.is_whole() && kills.tried >= ENOUGH,
        Level::None => false,
    };
    let standing = if survived { Standing::Survived } else { Standing::Observed };
    Safety { standing, survival: Some(survival), ..safety }
}

#[cfg(test)]
mod tests;
