//! The ordered log of the recorded disk, or the recorded files: writes, flushes, and the lines by which a program
//! acknowledges its commits.
//!
//! The recorder appends to a file in memory, and dyno reads it when the work is over. An entry is its kind, a number
//! (the offset of a write, or the length of a file operation in JSON), the length of its bytes, and these bytes.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::tree::Op;

/// One thing that happened, in the order in which the recorder took notice of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// Bytes were written. They may be lost until a flush follows.
    Write {
        /// The offset in bytes from the beginning of the disk.
        offset: u64,
        /// The written bytes.
        bytes: Vec<u8>,
    },
    /// All writes before it are durable.
    Flush,
    /// The program wrote this to its standard output: one line, or a part of one.
    Text(Vec<u8>),
    /// A write or a flush was refused with an error.
    Refused,
    /// Something was done to files that are recorded themselves, and not the disk below them.
    File(Op),
}

impl Entry {
    /// True if a program waited for something to be durable.
    pub fn is_flush(&self) -> bool {
        matches!(self, Entry::Flush | Entry::File(Op::Sync(_)))
    }

    /// The number of bytes that it writes, if it is a write.
    pub fn written(&self) -> Option<usize> {
        match self {
            Entry::Write { bytes, .. } | Entry::File(Op::Write { bytes, .. }) => Some(bytes.len()),
            _ => None,
        }
    }
}

const WRITE: u8 = 0;
const FLUSH: u8 = 1;
const TEXT: u8 = 2;
const REFUSED: u8 = 3;
const FILE: u8 = 4;

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

    /// Logs a piece of the program's output.
    pub fn text(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.put(TEXT, 0, bytes)
    }

    /// An error that the program was given.
    pub fn refused(&mut self) -> io::Result<()> {
        self.put(REFUSED, 0, &[])
    }

    /// Something that was done to files.
    pub fn file(&mut self, op: &Op) -> io::Result<()> {
        let mut said = serde_json::to_vec(op)?;
        let length = said.len() as u64;
        if let Op::Write { bytes, .. } = op {
            said.extend_from_slice(bytes);
        }
        self.put(FILE, length, &said)
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

/// All entries of a log. An entry that is cut off at the end never happened: no program received an answer to it.
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
            FILE => Entry::File(file_op(&bytes, offset as usize)?),
            other => bail!("the log {} has an entry of an unknown kind, {other}", path.display()),
        });
    }
    Ok(entries)
}

fn file_op(said: &[u8], length: usize) -> Result<Op> {
    let (said, written) = said.split_at(length.min(said.len()));
    let mut op = serde_json::from_slice(said).context("an entry of the log cannot be read")?;
    if let Op::Write { bytes, .. } = &mut op {
        *bytes = written.to_vec();
    }
    Ok(op)
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
        let op = Op::Write { node: 7, offset: 5, bytes: b"\0}".to_vec() };
        log.file(&op).unwrap();
        log.write(0, b"cut off").unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        file.set_len(file.metadata().unwrap().len() - 1).unwrap();
        let write = Entry::Write { offset: 4096, bytes: b"page".to_vec() };
        let text = Entry::Text(b"ack 1\n".to_vec());
        assert_eq!(read(&path).unwrap(), [write, Entry::Flush, text, Entry::Refused, Entry::File(op)]);
    }
}
