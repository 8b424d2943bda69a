//! The file: opened, unpacked by its first bytes, its bytes counted, its text made UTF-8.

mod sample;
mod stamp;

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use anyhow::{Context, Result, ensure};
use encoding_rs::Encoding;
use nix::libc;

use crate::contents::is_parquet;
use crate::encoding::Decoder;
use crate::error::Input;
use crate::gzip::Gzip;
use crate::names::escaped;
use crate::stream::CancellableReader;
pub use sample::Sample;
pub use stamp::{Stamp, check_stamp};

/// Bytes read at once.
const BLOCK: usize = 256 << 10;
/// Bytes of text from which shape and types are inferred; of standard input more, because it cannot be
/// read again.
const SAMPLE: [u64; 2] = [1 << 20, 16 << 20];

/// The source of the rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A file.
    File(PathBuf),
    /// Standard input.
    Stdin,
}

/// The compression of the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    /// Not at all.
    Plain,
    /// By gzip.
    Gzip,
    /// By zstd.
    Zstd,
}

/// An open source, from its first byte of text.
pub struct Opened {
    /// The text, in UTF-8 unless it is not: that is checked field by field.
    pub text: Box<dyn BufRead + Send>,
    /// Its beginning, which is still to be read.
    pub sample: Sample,
    /// True if the sample is the whole text.
    pub whole: bool,
    /// The compression.
    pub packing: Packing,
    /// The file that was opened, as it was then; None of standard input, and of what is no regular file.
    pub stamp: Option<Stamp>,
    /// Bytes read of the file as it lies there.
    pub read: Arc<AtomicU64>,
    /// Set once the rest is not needed, so that no thread waits for it.
    pub is_unwanted: Arc<AtomicBool>,
}

/// The bytes that show how a file is packed, and those of the longest byte order mark.
const PACKING: u64 = 4;
const MARK: u64 = 3;

impl Source {
    /// The file that a word of the command line means; `-` is standard input.
    pub fn new(word: &Path) -> Source {
        if word == Path::new("-") { Source::Stdin } else { Source::File(word.to_owned()) }
    }

    /// The source's name in messages, where bytes that are not UTF-8 are escaped.
    pub fn name(&self) -> String {
        match self {
            Source::File(path) => escaped(path),
            Source::Stdin => "standard input".into(),
        }
    }

    /// True if it can be read a second time; the path of a pipe cannot.
    pub fn is_repeatable(&self) -> bool {
        matches!(self, Source::File(path) if path.is_file())
    }

    /// Its size in bytes as it lies there.
    pub fn bytes(&self) -> Option<u64> {
        match self {
            Source::File(path) if path.is_file() => path.metadata().ok().map(|data| data.len()),
            _ => None,
        }
    }

    /// The rights that standard input gives if it is a regular file. Those of a file by name are in its [`Stamp`].
    pub fn rights_of_input(&self) -> Option<u32> {
        let Source::Stdin = self else { return None };
        let data = standard_input().and_then(|file| file.metadata()).ok()?;
        Stamp::of(&data).map(|stamp| stamp.rights())
    }

    /// Distinguishes this state of the file from others; None if it is no file.
    pub fn stamp(&self) -> Option<Stamp> {
        let Source::File(path) = self else { return None };
        Stamp::of(&path.metadata().ok()?)
    }

    /// True if its name is a text: only such a name can be a value or part of a program.
    pub fn is_named_in_utf_8(&self) -> bool {
        match self {
            Source::File(path) => path.to_str().is_some(),
            Source::Stdin => true,
        }
    }

    /// The file's name without its folder and without what says how it is packed and written; None if it is no text.
    pub fn stem(&self) -> Option<String> {
        let Source::File(path) = self else { return None };
        let mut name = path.file_name()?.to_str()?.to_owned();
        for ending in [
            ".gz", ".zst", ".zstd", ".csv", ".tsv", ".tab", ".psv", ".txt", ".jsonl", ".ndjson", ".json",
            ".parquet",
        ] {
            let end = name.len().saturating_sub(ending.len());
            if end > 0 && name.is_char_boundary(end) && name[end..].eq_ignore_ascii_case(ending) {
                name.truncate(end);
            }
        }
        Some(name)
    }

    /// True if its name has this ending, before that of a compression.
    pub fn is_named(&self, ending: &str) -> bool {
        let Source::File(path) = self else { return false };
        let name = path.to_string_lossy().to_ascii_lowercase();
        let name =
            [".gz", ".zst", ".zstd"].iter().find_map(|packed| name.strip_suffix(packed)).unwrap_or(&name);
        name.ends_with(ending)
    }

    /// Opens it and reads its beginning.
    pub fn open(&self, encoding: Option<&'static Encoding>) -> Result<Opened> {
        self.open_counted(encoding, Arc::default(), Arc::default())
    }

    /// The same where bytes are counted, and no longer wanted, together with those of other files.
    pub fn open_counted(
        &self,
        encoding: Option<&'static Encoding>,
        read: Arc<AtomicU64>,
        is_unwanted: Arc<AtomicBool>,
    ) -> Result<Opened> {
        self.open_sampled(encoding, self.sample_size(), read, is_unwanted)
    }

    /// The bytes of text that are looked at first.
    pub fn sample_size(&self) -> u64 {
        SAMPLE[usize::from(!self.is_repeatable())]
    }

    /// The same with a beginning of `limit` bytes.
    pub fn open_sampled(
        &self,
        encoding: Option<&'static Encoding>,
        limit: u64,
        read: Arc<AtomicU64>,
        is_unwanted: Arc<AtomicBool>,
    ) -> Result<Opened> {
        let file = match self {
            Source::File(path) => {
                // Else to open a FIFO would wait for a program that writes it, deaf to what stops the import.
                let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path);
                let file = file.with_context(|| format!("cannot open {}", escaped(path))).input()?;
                ensure_file(&file, path).input()?;
                file
            }
            Source::Stdin => standard_input()?,
        };
        let data = file.metadata()?;
        let stamp = Stamp::of(&data).filter(|_| *self != Source::Stdin);
        let bytes: Box<dyn Read + Send> = match data.is_file() {
            true => Box::new(file),
            false => Box::new(CancellableReader { file, is_unwanted: is_unwanted.clone() }),
        };
        let mut bytes = Counted { bytes, read: read.clone() };
        let start =
            first_bytes(&mut bytes, PACKING).with_context(|| format!("cannot read {}", self.name()))?;
        let packing = packing(&start);
        // Decoding would hide that it is a Parquet file.
        let encoding = encoding.filter(|_| !is_parquet(&start));
        let bytes = rejoined(&start, bytes);
        let mut text: Box<dyn BufRead + Send> = match packing {
            Packing::Plain => Box::new(bytes),
            Packing::Gzip => Box::new(BufReader::with_capacity(BLOCK, Gzip::new(bytes))),
            Packing::Zstd => Box::new(BufReader::with_capacity(BLOCK, zstd::Decoder::with_buffer(bytes)?)),
        };
        let start = first_bytes(&mut text, MARK);
        let start = &*start.with_context(|| format!("cannot read {}", self.name())).input()?;
        let (encoding, mark) = match encoding {
            Some(encoding) => (encoding, mark_of(encoding, start).with_context(|| self.name()).input()?),
            None => {
                let found = Encoding::for_bom(start);
                (found.map_or(encoding_rs::UTF_8, |(found, _)| found), found)
            }
        };
        text = Box::new(rejoined(&start[mark.map_or(0, |(_, length)| length)..], text));
        if encoding != encoding_rs::UTF_8 {
            text = Box::new(BufReader::with_capacity(BLOCK, Decoder::new(text, encoding)));
        }
        let mut sample = Vec::with_capacity(limit as usize);
        let taken = (&mut text).take(limit).read_to_end(&mut sample);
        taken.with_context(|| format!("cannot read {}", self.name())).input()?;
        let whole = (sample.len() as u64) < limit;
        let sample = Sample(Arc::new(sample));
        let text = Box::new(sample.read().chain(text));
        Ok(Opened { text, sample, whole, packing, stamp, read, is_unwanted })
    }
}

/// The first bytes, up to `wanted`: one read of a pipe may return fewer.
fn first_bytes(text: &mut impl Read, wanted: u64) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    text.take(wanted).read_to_end(&mut start)?;
    Ok(start)
}

/// A reader of bytes that were read already, and of the rest behind them.
fn rejoined<R: Read>(start: &[u8], rest: R) -> BufReader<impl Read + use<R>> {
    BufReader::with_capacity(BLOCK, Cursor::new(start.to_vec()).chain(rest))
}

fn standard_input() -> io::Result<File> {
    Ok(File::from(io::stdin().as_fd().try_clone_to_owned()?))
}

/// The byte order mark with which a text of an encoding begins, and its length; an error if it is that of another one.
fn mark_of(encoding: &'static Encoding, start: &[u8]) -> Result<Option<(&'static Encoding, usize)>> {
    let found = Encoding::for_bom(start);
    if let Some((other, _)) = found {
        ensure!(
            other == encoding,
            "it begins with the byte order mark of {}, and --encoding says {}: leave --encoding out",
            other.name(),
            encoding.name()
        );
    }
    Ok(found)
}

/// The encoding of a label, as web pages and `iconv` spell it.
pub fn encoding(label: &str) -> Result<&'static Encoding> {
    ensure!(
        !["ascii", "us-ascii"].contains(&label.to_ascii_lowercase().as_str()),
        "ASCII is read as UTF-8, which it is a part of: leave --encoding {label} out"
    );
    Encoding::for_label(label.as_bytes()).with_context(|| {
        format!("no encoding is called '{label}': write utf-8, latin1, windows-1252, utf-16le or another label of encoding.spec.whatwg.org")
    })
}

fn ensure_file(file: &File, path: &Path) -> Result<()> {
    ensure!(!file.metadata()?.is_dir(), "{} is a folder, not a file", escaped(path));
    Ok(())
}

/// The compression that the first bytes show.
fn packing(start: &[u8]) -> Packing {
    match start {
        [0x1f, 0x8b, ..] => Packing::Gzip,
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Packing::Zstd,
        // A frame that is to be skipped, with which some programs begin.
        [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Packing::Zstd,
        _ => Packing::Plain,
    }
}

/// A reader that counts.
struct Counted {
    bytes: Box<dyn Read + Send>,
    read: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read(buffer)?;
        self.read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}
