//! The input of the model `statements`: a mapped file of texts, each ended by one NUL byte.
//!
//! Mapping a file does not read it. The search for the ends of the statements does, so that every
//! page is resident before the clock starts.

use std::ffi::CStr;
use std::fs::File;
use std::ops::Range;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use memmap2::Mmap;

/// The statements of one test, in memory.
#[derive(Debug)]
pub struct Statements {
    text: Mmap,
    /// The end of each statement: the position of its NUL byte plus one.
    ends: Vec<usize>,
}

impl Statements {
    /// Maps a file and finds its statements.
    ///
    /// `ends` is a vector to use again, so that a long list does not leave its mark on the memory
    /// allocator that the engine shares; [`Statements::release`] gives it back.
    pub fn load(path: &Path, count: u64, ends: Vec<usize>) -> Result<Statements> {
        let file = || format!("statements file {}", path.display());
        let opened = File::open(path).with_context(|| format!("cannot open the {}", file()))?;
        // SAFETY: dyno wrote the file for this trial and nothing changes it while the runner lives.
        let text = unsafe { Mmap::map(&opened) }.with_context(|| format!("cannot map the {}", file()))?;
        let mut statements = Statements { text, ends };
        statements.find().with_context(file)?;
        let found = statements.len();
        ensure!(found == count, "{} holds {found} statements where the job says {count}", file());
        Ok(statements)
    }

    fn find(&mut self) -> Result<()> {
        self.ends.clear();
        let mut start = 0;
        while start < self.text.len() {
            let rest = &self.text[start..];
            let number = self.ends.len() + 1;
            let Ok(statement) = CStr::from_bytes_until_nul(rest) else {
                let tail = String::from_utf8_lossy(&rest[..rest.len().min(60)]);
                anyhow::bail!(
                    "statement {number} has no NUL byte at its end: the file is cut off (it ends with '{}')",
                    tail.escape_debug()
                );
            };
            ensure!(!statement.is_empty(), "statement {number} is empty");
            start += statement.count_bytes() + 1;
            self.ends.push(start);
        }
        Ok(())
    }

    /// The number of statements.
    pub fn len(&self) -> u64 {
        self.ends.len() as u64
    }

    /// Returns true if there are no statements.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The length of all texts together in bytes, without the NUL bytes.
    pub fn bytes(&self) -> u64 {
        (self.text.len() - self.ends.len()) as u64
    }

    /// The statements in order.
    pub fn iter(&self) -> impl Iterator<Item = &CStr> {
        self.range(0..self.len())
    }

    /// Some of the statements in order, by their places from zero. Going to the next costs two additions: a statement is a
    /// pointer, a length, and the NUL byte that a C library wants.
    ///
    /// # Panics
    /// There are not as many.
    #[inline]
    pub fn range(&self, places: Range<u64>) -> impl Iterator<Item = &CStr> {
        let text: &[u8] = &self.text;
        let places = places.start as usize..places.end as usize;
        let mut start = places.start.checked_sub(1).map_or(0, |last| self.ends[last]);
        self.ends[places].iter().map(move |&end| {
            // SAFETY: `find` left ascending ends within the text, each just past the first NUL byte
            // after the one before.
            let statement = unsafe { CStr::from_bytes_with_nul_unchecked(text.get_unchecked(start..end)) };
            start = end;
            statement
        })
    }

    /// The statement at a place counted from zero.
    pub fn get(&self, index: u64) -> Option<&CStr> {
        self.iter().nth(usize::try_from(index).ok()?)
    }

    /// Unmaps the file and gives back the vector of ends.
    pub fn release(self) -> Vec<usize> {
        self.ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(bytes: &[u8], count: u64) -> Result<Statements> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("1.sql");
        std::fs::write(&path, bytes).unwrap();
        Statements::load(&path, count, Vec::new())
    }

    fn complaint(bytes: &[u8], count: u64) -> String {
        format!("{:#}", load(bytes, count).unwrap_err())
    }

    #[test]
    fn statements_are_found() {
        let statements = load(b"BEGIN\0SELECT 1\0COMMIT\0", 3).unwrap();
        assert_eq!(statements.iter().collect::<Vec<_>>(), [c"BEGIN", c"SELECT 1", c"COMMIT"]);
        assert_eq!((statements.len(), statements.bytes()), (3, 19));
        assert_eq!(statements.range(1..3).collect::<Vec<_>>(), [c"SELECT 1", c"COMMIT"]);
        assert_eq!(statements.get(1), Some(c"SELECT 1"));
        assert_eq!(statements.get(3), None);
    }

    #[test]
    fn no_statements_are_fine_where_none_are_promised() {
        assert!(load(b"", 0).unwrap().is_empty());
    }

    #[test]
    fn a_bad_file_is_named_with_what_is_wrong() {
        assert!(complaint(b"SELECT 1\0SELECT", 2).contains("statement 2 has no NUL byte at its end"));
        assert!(complaint(b"SELECT 1\0\0", 2).contains("statement 2 is empty"));
        assert!(complaint(b"SELECT 1\0", 2).contains("holds 1 statements where the job says 2"));
        let missing = Statements::load(Path::new("/nowhere/1.sql"), 1, Vec::new()).unwrap_err();
        assert!(format!("{missing:#}").contains("cannot open the statements file /nowhere/1.sql"));
    }
}
