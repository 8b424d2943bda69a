//! The file as it is read from several places at the same time.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

/// A file that threads read concurrently: it has no shared position that one thread could move for another.
pub struct Positioned {
    file: Arc<File>,
    length: u64,
}

impl Positioned {
    /// An open file.
    ///
    /// # Errors
    /// Its length cannot be read.
    pub fn new(file: File) -> io::Result<Positioned> {
        let length = file.metadata()?.len();
        Ok(Positioned { file: Arc::new(file), length })
    }
}

impl Length for Positioned {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for Positioned {
    type T = BufReader<FileTail>;

    fn get_read(&self, start: u64) -> Result<BufReader<FileTail>> {
        Ok(BufReader::new(FileTail { file: self.file.clone(), at: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        // A damaged file states any length, for which no memory is to be taken.
        if start.checked_add(length as u64).is_none_or(|end| end > self.length) {
            return Err(ParquetError::EOF("it names bytes behind its end".into()));
        }
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, start)?;
        Ok(bytes.into())
    }
}

/// The file from a place on.
pub struct FileTail {
    file: Arc<File>,
    at: u64,
}

impl Read for FileTail {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.file.read_at(buffer, self.at) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                outcome => {
                    self.at += *outcome.as_ref().unwrap_or(&0) as u64;
                    return outcome;
                }
            }
        }
    }
}
