//! The files that dyno has sent to an agent.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};

use super::digest_of;

/// Files by their SHA-256, in a folder that is removed with the agent's.
pub struct SentFiles {
    folder: PathBuf,
    /// Those that have come whole.
    known: BTreeSet<String>,
    incoming: Option<IncomingFile>,
}

/// A file of which parts are still to come.
struct IncomingFile {
    sha256: String,
    file: File,
    hash: Sha256,
}

impl SentFiles {
    /// Makes the folder.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn new(folder: PathBuf) -> Result<SentFiles> {
        fs::DirBuilder::new()
            .mode(0o700)
            .create(&folder)
            .with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(SentFiles { folder, known: BTreeSet::new(), incoming: None })
    }

    /// Takes the next part of a file.
    ///
    /// # Errors
    /// It cannot be kept, as on a full disk, or the whole is not what was sent.
    pub fn take(&mut self, sha256: &str, executable: bool, part: &str, last: bool) -> Result<()> {
        let path = self.folder.join(digest_of(Path::new(&format!("{}{sha256}", super::SENT)))?);
        let what = || format!("a file of the run cannot be kept in {}", self.folder.display());
        let mut incoming = match self.incoming.take().filter(|incoming| incoming.sha256 == sha256) {
            Some(incoming) => incoming,
            None => {
                let mode = if executable { 0o700 } else { 0o600 };
                let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&path);
                let (sha256, hash) = (sha256.to_owned(), Sha256::new());
                IncomingFile { sha256, file: file.with_context(what)?, hash }
            }
        };
        let bytes = BASE64_STANDARD.decode(part).context("dyno sent a part of a file that is no base64")?;
        incoming.file.write_all(&bytes).with_context(what)?;
        incoming.hash.update(&bytes);
        if !last {
            self.incoming = Some(incoming);
            return Ok(());
        }
        let found: String = incoming.hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        ensure!(found == sha256, "a file came with the SHA-256 {found}, and {sha256} was sent");
        self.known.insert(found);
        Ok(())
    }

    /// Removes a file that no job names any more.
    ///
    /// # Errors
    /// It cannot be removed.
    pub fn forget(&mut self, sha256: &str) -> Result<()> {
        if !self.known.remove(sha256) {
            return Ok(());
        }
        let path = self.folder.join(sha256);
        fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))
    }

    /// The path of the file for which a digest stands in a job.
    ///
    /// # Errors
    /// It has not come.
    pub fn path(&self, path: &Path) -> Result<PathBuf> {
        let digest = digest_of(path)?;
        ensure!(self.known.contains(digest), "a file of the job was not sent: this is an error in dyno");
        Ok(self.folder.join(digest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn a_file_is_there_when_it_is_whole_and_what_was_sent() {
        let place = tempfile::tempdir().unwrap();
        let mut files = SentFiles::new(place.path().join("files")).unwrap();
        let name = PathBuf::from(format!("{}{ABC}", super::super::SENT));
        let encode = |text: &str| BASE64_STANDARD.encode(text);
        files.take(ABC, false, &encode("a"), false).unwrap();
        assert!(files.path(&name).unwrap_err().to_string().contains("was not sent"));
        files.take(ABC, false, &encode("bc"), true).unwrap();
        assert_eq!(fs::read_to_string(files.path(&name).unwrap()).unwrap(), "abc");
        files.forget(ABC).unwrap();
        assert!(files.path(&name).unwrap_err().to_string().contains("was not sent"));
        assert_eq!(fs::read_dir(place.path().join("files")).unwrap().count(), 0);
        // It may come again.
        files.take(ABC, false, &encode("abc"), true).unwrap();
        assert_eq!(fs::read_to_string(files.path(&name).unwrap()).unwrap(), "abc");
        let other = ABC.replace('b', "c");
        let error = files.take(&other, true, &encode("abc"), true).unwrap_err().to_string();
        assert!(error.contains(ABC), "{error}");
        files.forget("../x").unwrap();
        for path in ["../x", "/etc/passwd"] {
            assert!(files.take(path, false, "", true).is_err() && files.path(Path::new(path)).is_err());
        }
    }
}
