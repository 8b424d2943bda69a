//! The pass itself, and how it goes for engines within the runner's own process.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use dyno_engine::{Contender, Key, ScratchServer};
use dyno_plan::probe;
use dyno_protocol::{Secret, Setting, Test, Value};
use dyno_record::{Attempt, EncryptionProof, MARKED_ROWS};
use tempfile::TempDir;

use super::plant;
use super::search::{Bytes, look_through};
use super::watch::{FileWatch, WatchedFiles};
use crate::scratch::Scratch;
use crate::trial::{Outcome, Servers, Trial, TrialOptions};

/// The marker is planted this many times at most, where the machine is too busy to see every file of a transaction.
const MOST_PLANTINGS: u32 = 5;

/// Looks whether contenders encrypt.
pub struct Prover<'a> {
    /// The conduct of trials.
    pub conduct: &'a TrialOptions,
    /// The folder for files.
    pub scratch: &'a Scratch,
    /// The servers and file systems of the contenders.
    pub servers: &'a mut Servers,
}

/// The settings, the key and the place with which data are opened.
pub struct Opening<'a> {
    pub settings: &'a [Setting],
    pub key: Option<&'a Secret>,
    pub server: Option<ScratchServer>,
    pub directory: &'a Path,
}

impl Prover<'_> {
    /// Plants the marker and looks for it.
    ///
    /// # Errors
    /// It cannot be planted or looked for at all; or the run is asked to stop.
    pub fn prove(&mut self, contender: &Contender) -> Result<EncryptionProof> {
        let mut proof = EncryptionProof { encrypts: contender.encrypts(), ..EncryptionProof::default() };
        match contender.engine.is_server() {
            true => self.server(contender, &mut proof)?,
            false => self.embedded(contender, &mut proof)?,
        }
        if contender.file_system.is_some() {
            self.try_to_mount(contender, &mut proof)?;
        }
        Ok(proof)
    }

    fn embedded(&mut self, contender: &Contender, proof: &mut EncryptionProof) -> Result<()> {
        let marker = plant::marker()?;
        let settings = &contender.settings;
        let mut planted = self.plant_watched(contender, &marker)?;
        for _ in 1..MOST_PLANTINGS {
            if planted.2.saw_all {
                break;
            }
            planted = self.plant_watched(contender, &marker)?;
        }
        let (directory, trial, WatchedFiles { files, .. }) = planted;
        let right =
            Opening { settings, key: contender.engine_key(), server: None, directory: directory.path() };
        take_cipher(contender, &trial, proof);
        examine(contender, &files, &marker, proof)?;
        let Some(encryption) = contender.engine.encryption().filter(|_| contender.engine_key().is_some())
        else {
            return Ok(());
        };
        let other = contender.key.as_ref().map(Key::another);
        let without = encryption.without(settings);
        let no_key = Opening { settings: &without, key: None, ..right };
        proof.without_key = Some(self.attempt(contender, &no_key)?);
        let wrong = Opening { settings, key: other.as_ref().map(Key::secret), ..no_key };
        proof.wrong_key = Some(self.attempt(contender, &wrong)?);
        let right = Opening { key: contender.engine_key(), ..wrong };
        // The right key must open what the wrong ones must not, or refusing proves nothing.
        proof.own_key = Some(self.attempt(contender, &right)?);
        Ok(())
    }

    /// Puts the marker into data of a new folder, and keeps the files open that are there meanwhile.
    fn plant_watched(
        &mut self,
        contender: &Contender,
        marker: &str,
    ) -> Result<(TempDir, Trial, WatchedFiles)> {
        let place = self.servers.place(contender)?;
        let directory = self.scratch.trial_in(&place)?;
        let (settings, key) = (&contender.settings, contender.engine_key());
        let opening = Opening { settings, key, server: None, directory: directory.path() };
        let watch = FileWatch::begin(vec![self.files_of(contender, directory.path())?]);
        let planted = self.plant(contender, &opening, marker);
        let files = watch.end();
        Ok((directory, planted?, files))
    }

    /// The folder of the contender's files as they are on the device, for data in `folder`.
    pub(super) fn files_of(&mut self, contender: &Contender, folder: &Path) -> Result<PathBuf> {
        match contender.file_system {
            None => Ok(folder.to_owned()),
            Some(_) => Ok(self.servers.mounted(contender)?.encrypted().to_owned()),
        }
    }

    /// Puts the marker into the data.
    pub(super) fn plant(&self, contender: &Contender, opening: &Opening, marker: &str) -> Result<Trial> {
        let dialect = &contender.engine.dialect;
        let trial = self.run(contender, opening, |folder| plant::put(dialect, marker, folder))?;
        match &trial.outcome {
            Outcome::Finished => Ok(trial),
            Outcome::Failed { message, .. } => bail!("the marker could not be planted: {message}"),
            Outcome::Interrupted => bail!("interrupted"),
        }
    }

    /// Reads the marked rows, or is refused.
    pub(super) fn attempt(&self, contender: &Contender, opening: &Opening) -> Result<Attempt> {
        let dialect = &contender.engine.dialect;
        let trial = self.run(contender, opening, |folder| plant::read(dialect, folder))?;
        match trial.outcome {
            Outcome::Interrupted => bail!("interrupted"),
            Outcome::Failed { message, .. } => {
                let encryption = contender.engine.encryption();
                let refused = encryption.is_some_and(|encryption| encryption.is_refusal(&message));
                Ok(Attempt { refused, said: message })
            }
            Outcome::Finished => {
                let row = trial.answers.first().and_then(|answer| answer.kept.first());
                let whole = row.and_then(|row| row.first()) == Some(&Value::Integer(plant::ROWS));
                let said = if whole { MARKED_ROWS } else { "gave other rows than were put" };
                Ok(Attempt { refused: false, said: said.to_owned() })
            }
        }
    }

    fn run(
        &self,
        contender: &Contender,
        opening: &Opening,
        test: impl FnOnce(&Path) -> Result<Test>,
    ) -> Result<Trial> {
        let inputs = self.scratch.trial()?;
        let contender = &Contender { settings: opening.settings.to_vec(), ..contender.clone() };
        let mut job = probe(contender, opening.directory);
        job.key = opening.key.cloned();
        if let Some(served) = &opening.server {
            self.conduct.serve_version(contender, &mut job, served, None)?;
        }
        job.tests.push(test(inputs.path())?);
        self.conduct.run(contender, &job, |_| {})
    }

    /// The files of an encrypted file system must not be mounted with another key. Without one there is only
    /// what was searched.
    fn try_to_mount(&mut self, contender: &Contender, proof: &mut EncryptionProof) -> Result<()> {
        let place = self.scratch.trial()?;
        let other = contender.key.as_ref().map(Key::another).context("there is no key")?;
        let said = self.servers.mounted(contender)?.refuses(place.path(), &other)?;
        proof.wrong_key =
            Some(Attempt { refused: said.is_some(), said: said.unwrap_or_else(|| "was mounted".to_owned()) });
        Ok(())
    }
}

/// Records what the engine reported of its cipher.
pub fn take_cipher(contender: &Contender, trial: &Trial, proof: &mut EncryptionProof) {
    let Some(encryption) = contender.engine.encryption().filter(|_| contender.engine_key().is_some()) else {
        return;
    };
    let settings = trial.hello.iter().flat_map(|hello| &hello.settings);
    proof.cipher = settings.filter(|setting| encryption.concerns(&setting.name)).cloned().collect();
}

/// Looks through the files for the marker and the key.
pub fn examine(
    contender: &Contender,
    files: &[(PathBuf, File)],
    marker: &str,
    proof: &mut EncryptionProof,
) -> Result<()> {
    let mut needles = vec![marker.as_bytes().to_vec()];
    if let Some(key) = &contender.key {
        needles.push(key.secret().reveal().as_bytes().to_vec());
        needles.extend(from_hexadecimal(key.secret().reveal()));
    }
    let mut bytes = Bytes::default();
    for (path, file) in files {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let name = name.trim_end_matches(" (deleted)").to_owned();
        let is_data = match (contender.file_system, contender.engine.encryption()) {
            (None, Some(encryption)) => encryption.holds_data(&name),
            _ => true,
        };
        let counted = is_data.then_some(&mut bytes);
        let (length, found) = look_through(file, &needles, counted)
            .with_context(|| format!("cannot look through {}", path.display()))?;
        proof.files += 1;
        proof.bytes += length;
        if found[0] && !proof.marker_in.contains(&name) {
            proof.marker_in.push(name.clone());
        }
        if found[1..].contains(&true) {
            proof.key_in.push(name);
        }
    }
    proof.entropy = bytes.entropy();
    Ok(())
}

fn from_hexadecimal(text: &str) -> Option<Vec<u8>> {
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}
