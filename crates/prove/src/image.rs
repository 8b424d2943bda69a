//! The content of a disk or a file, in memory: pages that are not empty, and a digest that is kept up to date.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use nix::unistd::{Whence, lseek};
use sha2::{Digest, Sha256};

/// The length of a page, in bytes.
pub const PAGE: usize = 4096;
/// The number of bytes that are read or written at once.
const PART: usize = 1 << 20;

type Page = Box<[u8; PAGE]>;

/// The content of a disk or a file.
#[derive(Debug, Clone, Default)]
pub struct Image {
    /// By their places, counted in pages. One that is not there holds zeros.
    pages: BTreeMap<u64, std::sync::Arc<Page>>,
    /// Its length, in bytes.
    length: u64,
    /// The sum of the pages' digests: it does not depend on the order in which they were written.
    digest: u128,
}

impl Image {
    /// Reads one from a file, whose holes cost nothing. Of a file that grows meanwhile, what was there at first is read.
    ///
    /// # Errors
    /// It cannot be read, or became shorter meanwhile.
    pub fn read(file: &File) -> io::Result<Image> {
        let length = file.metadata()?.len();
        let mut image = Image { length, ..Image::default() };
        let mut at = 0;
        // There are no more data when the kernel finds none.
        while at < length as i64
            && let Ok(start) = lseek(file, at, Whence::SeekData)
        {
            let end = lseek(file, start, Whence::SeekHole)?.min(length as i64);
            // A part at a time: a database may have filled a log of gigabytes with zeros.
            for part in (start..end).step_by(PART) {
                let mut bytes = vec![0; (end - part).min(PART as i64) as usize];
                file.read_exact_at(&mut bytes, part as u64)?;
                image.put(part as u64, &bytes);
            }
            at = end;
        }
        Ok(image)
    }

    /// Writes bytes at an offset. Its length grows if it must.
    pub fn put(&mut self, offset: u64, mut bytes: &[u8]) {
        self.length = self.length.max(offset + bytes.len() as u64);
        let mut at = offset;
        while !bytes.is_empty() {
            let (place, within) = (at / PAGE as u64, (at % PAGE as u64) as usize);
            let count = bytes.len().min(PAGE - within);
            let old = self.pages.remove(&place);
            let mut page = old.as_ref().map_or_else(|| Box::new([0; PAGE]), |page| Page::clone(page));
            if let Some(old) = &old {
                self.digest = self.digest.wrapping_sub(digest(place, old));
            }
            page[within..within + count].copy_from_slice(&bytes[..count]);
            if page.iter().any(|&byte| byte != 0) {
                self.digest = self.digest.wrapping_add(digest(place, &page));
                self.pages.insert(place, page.into());
            }
            at += count as u64;
            bytes = &bytes[count..];
        }
    }

    /// The length, in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Cuts it off, or makes it longer by zeros.
    pub fn set_length(&mut self, length: u64) {
        if length < self.length {
            let first = length / PAGE as u64;
            let rest: Vec<u64> = self.pages.range(first..).map(|(&place, _)| place).collect();
            for place in rest {
                let start = length.max(place * PAGE as u64);
                let count = (place + 1) * PAGE as u64 - start;
                self.put(start, &[0; PAGE][..count as usize]);
            }
        }
        self.length = length;
    }

    /// The bytes from an offset on; fewer than asked for at the end.
    pub fn bytes(&self, offset: u64, count: usize) -> Vec<u8> {
        let end = self.length.min(offset + count as u64).max(offset);
        let mut bytes = vec![0; end.saturating_sub(offset) as usize];
        let last = end.div_ceil(PAGE as u64);
        for (&place, page) in self.pages.range(offset / PAGE as u64..last.max(offset / PAGE as u64)) {
            let start = place * PAGE as u64;
            let (from, to) = (offset.max(start), end.min(start + PAGE as u64));
            let within = (from - start) as usize..(to - start) as usize;
            bytes[(from - offset) as usize..(to - offset) as usize].copy_from_slice(&page[within]);
        }
        bytes
    }

    /// A digest of the whole content.
    pub fn digest(&self) -> u128 {
        self.digest
    }

    /// Writes the content to an empty file.
    ///
    /// # Errors
    /// There is no room for it.
    pub fn write(&self, file: &File) -> io::Result<()> {
        // Neighbours go together: most of the time goes into calls.
        let mut run: Vec<u8> = Vec::new();
        let mut start = 0;
        for (&place, page) in &self.pages {
            let at = place * PAGE as u64;
            if at != start + run.len() as u64 || run.len() >= PART {
                file.write_all_at(&run, start)?;
                run.clear();
                start = at;
            }
            run.extend_from_slice(&page[..]);
        }
        file.write_all_at(&run, start)?;
        // The last page may be longer than what it holds.
        file.set_len(self.length)
    }
}

fn digest(place: u64, page: &[u8; PAGE]) -> u128 {
    let hash = Sha256::new().chain_update(place.to_le_bytes()).chain_update(page).finalize();
    u128::from_le_bytes(hash[..16].try_into().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_and_the_digest_is_of_the_content_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("disk");
        let mut one = Image { length: 1 << 24, ..Image::default() };
        one.put(5000, &[7; 10_000]);
        one.put(1 << 20, b"far away");
        let mut other = Image { length: 1 << 24, ..Image::default() };
        other.put(1 << 20, b"xxxxxxxx");
        other.put(5000, &[7; 5000]);
        assert_ne!(one.digest(), other.digest());
        other.put(10_000, &[7; 5000]);
        other.put(1 << 20, b"far away");
        assert_eq!(one.digest(), other.digest());
        one.write(&File::create(&path).unwrap()).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(bytes.len(), 1 << 24);
        assert_eq!(&bytes[1 << 20..(1 << 20) + 8], b"far away");
        assert_eq!(bytes[5000..15_000], [7; 10_000]);
        assert_eq!(bytes.iter().filter(|&&byte| byte != 0).count(), 10_008);
        assert_eq!(Image::read(&File::open(&path).unwrap()).unwrap().digest(), one.digest());
        one.put(0, &vec![0; 1 << 24]);
        assert_eq!(one.digest(), 0);
    }
}
