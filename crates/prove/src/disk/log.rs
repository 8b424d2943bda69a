//! What reached the recorded disk, in order: writes, flushes, and the lines by which a program acknowledges its commits.
//!
//! The recorder appends to a file in memory and dyno reads it when the work is over. An entry is its kind, a
//! number (the offset of a write), the length of its bytes, and these.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};

/// One thing that happened, in the order in which the recorder took notice of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// Bytes were written. They may be lost until a flush follows.
    Write {
        /// Where, in bytes from the beginning of the disk.
        offset: u64,
        /// What.
        bytes: Vec<u8>,
    },
    /// All writes before it are durable.
    Flush,
    /// The program wrote this to its standard output: one line, or a part of one.
    Text(Vec<u8>),
    /// A write or a flush was refused with an error.
    Refused,
}

const WRITE: u8 = 0;
const FLUSH: u8 = 1;
const TEXT: u8 = 2;
const REFUSED: u8 = 3;

/// Appends entries.
pub struct Writer(File);

impl Writer {
    /// To a file that must not be there yet.
    pub fn create(path: &Path) -> io::Result<Writer> {
        Ok(Writer(File::create_new(path)?))
    }

    /// A write.
    pub fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.put(WRITE, offset, bytes)
    }

    /// A flush.
    pub fn flush(&mut self) -> io::Result<()> {
        self.put(FLUSH, 0, &[])
    }

    /// What the program said.
    pub fn text(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.put(TEXT, 0, bytes)
    }

    /// An error that the program was given.
    pub fn refused(&mut self) -> io::Result<()> {
        self.put(REFUSED, 0, &[])
    }

    fn put(&mut self, kind: u8, number: u64, bytes: &[u8]) -> io::Result<()> {
        let mut entry = Vec::with_capacity(17 + bytes.len());
        entry.push(kind);
        entry.extend_from_slice(&number.to_le_bytes());
        entry.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        entry.extend_from_slice(bytes);
        self.0.write_all(&entry)
    }
}

/// Everything that a log holds. An entry that is cut off at the end never happened: nobody was answered.
pub fn read(path: &Path) -> Result<Vec<Entry>> {
    let file = File::open(path).with_context(|| format!("cannot open the log {}", path.display()))?;
    let length = file.metadata()?.len();
    let mut input = BufReader::with_capacity(1 << 20, file);
    let mut entries = Vec::new();
    let mut at = 0;
    let mut head = [0; 17];
    while length - at >= head.len() as u64 {
        input.read_exact(&mut head)?;
        at += head.len() as u64;
        let number = |place: usize| u64::from_le_bytes(head[place..place + 8].try_into().unwrap_or_default());
        let (offset, count) = (number(1), number(9));
        if count > length - at {
            break;
        }
        let mut bytes = vec![0; count as usize];
        input.read_exact(&mut bytes)?;
        at += count;
        entries.push(match head[0] {
            WRITE => Entry::Write { offset, bytes },
            FLUSH => Entry::Flush,
            TEXT => Entry::Text(bytes),
            REFUSED => Entry::Refused,
            other => bail!("the log {} has an entry of an unknown kind, {other}", path.display()),
        });
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_logged_is_read_and_half_an_entry_never_happened() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut log = Writer::create(&path).unwrap();
        log.write(4096, b"page").unwrap();
        log.flush().unwrap();
        log.text(b"ack 1\n").unwrap();
        log.refused().unwrap();
        log.write(0, b"cut off").unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        file.set_len(file.metadata().unwrap().len() - 1).unwrap();
        let write = Entry::Write { offset: 4096, bytes: b"page".to_vec() };
        let text = Entry::Text(b"ack 1\n".to_vec());
        assert_eq!(read(&path).unwrap(), [write, Entry::Flush, text, Entry::Refused]);
    }
}
