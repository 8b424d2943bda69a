//! Searches files for texts that must not be there, and measures how random their bytes are.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use memchr::memmem::Finder;

/// The size of one read, in bytes.
const PIECE: usize = 1 << 20;
/// The piece of a file that counts as empty where it holds zeros alone, in bytes.
const BLOCK: usize = 4096;
/// The smallest number of bytes whose entropy is judged.
const ENOUGH: u64 = 64 << 10;

/// The number of occurrences of each byte value.
pub struct Bytes([u64; 256]);

impl Default for Bytes {
    fn default() -> Bytes {
        Bytes([0; 256])
    }
}

impl Bytes {
    fn add(&mut self, piece: &[u8]) {
        for block in piece.chunks(BLOCK).filter(|block| block.iter().any(|&byte| byte != 0)) {
            block.iter().for_each(|&byte| self.0[usize::from(byte)] += 1);
        }
    }

    /// Shannon's entropy in bits a byte; none of too few bytes.
    pub fn entropy(&self) -> Option<f64> {
        let all: u64 = self.0.iter().sum();
        if all < ENOUGH {
            return None;
        }
        let share = |&count: &u64| count as f64 / all as f64;
        Some(self.0.iter().map(share).filter(|&p| p > 0.0).map(|p| -p * p.log2()).sum())
    }
}

/// Reads a file to its end, counts its bytes into `counted` if that is given, and returns its length and which
/// of the needles it holds.
pub fn look_through(
    file: &File,
    needles: &[Vec<u8>],
    mut counted: Option<&mut Bytes>,
) -> io::Result<(u64, Vec<bool>)> {
    let finders: Vec<Finder> = needles.iter().map(Finder::new).collect();
    let overlap = needles.iter().map(Vec::len).max().unwrap_or(0);
    let mut found = vec![false; needles.len()];
    let mut buffer = vec![0; PIECE];
    // The end of the previous piece, so that a needle across two pieces is found.
    let mut before: Vec<u8> = Vec::new();
    let mut offset = 0;
    loop {
        let read = file.read_at(&mut buffer, offset)?;
        if read == 0 {
            return Ok((offset, found));
        }
        offset += read as u64;
        if let Some(counted) = &mut counted {
            counted.add(&buffer[..read]);
        }
        before.extend_from_slice(&buffer[..read]);
        for (finder, found) in finders.iter().zip(&mut found) {
            *found |= finder.find(&before).is_some();
        }
        before.drain(..before.len().saturating_sub(overlap));
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn file(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    #[test]
    fn a_text_is_found_wherever_it_stands() {
        let needles = [b"marker".to_vec(), b"absent".to_vec()];
        for place in [0, PIECE - 3, PIECE, 2 * PIECE - 6] {
            let mut bytes = vec![b'x'; 2 * PIECE];
            bytes[place..place + 6].copy_from_slice(b"marker");
            let (length, found) = look_through(&file(&bytes), &needles, None).unwrap();
            assert_eq!((length, found), (bytes.len() as u64, vec![true, false]), "{place}");
        }
    }

    #[test]
    fn entropy_separates_text_from_noise() {
        let entropy = |bytes: &[u8]| {
            let mut counted = Bytes::default();
            look_through(&file(bytes), &[], Some(&mut counted)).unwrap();
            counted.entropy()
        };
        let mut noise = vec![0; 1 << 17];
        io::Read::read_exact(&mut File::open("/dev/urandom").unwrap(), &mut noise).unwrap();
        assert!(entropy(&noise).unwrap() > 7.99);
        // Space that was only reserved says nothing.
        assert!(entropy(&[noise, vec![0; 1 << 20]].concat()).unwrap() > 7.99);
        assert!(entropy("one hundred thirty two ".repeat(10_000).as_bytes()).unwrap() < 4.5);
        assert_eq!(entropy(b"short"), None);
    }
}
