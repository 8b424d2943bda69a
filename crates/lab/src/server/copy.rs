//! Copies of data folders, byte by byte.
//!
//! Never by reference (reflink), though file systems offer it: the server's first write to each block
//! would then pay for a copy, within the measured time. For the same reason zeros are written out where
//! a server is to run on the copy: its log then lies in blocks that are its own already, as in a server
//! that has run for a while, whichever way the copy was made.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use super::account::Account;

/// The size of one read, in bytes.
const CHUNK: usize = 1 << 16;

/// The treatment of runs of zeros.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Zeros {
    /// They are written.
    Written,
    /// They become holes, which take no space.
    Skipped,
}

/// Copies a folder with its files and folders to `to`, which must not exist. Permissions are kept; the
/// copy belongs to `owner`, if one is given.
///
/// # Errors
/// Those of reading and writing, and anything that is neither a file nor a folder.
pub fn copy_folder(from: &Path, to: &Path, owner: Option<&Account>, zeros: Zeros) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy_folder(&source, &target, owner, zeros)?;
        } else if kind.is_file() {
            copy_file(&source, &target, zeros)?;
            owner.map_or(Ok(()), |owner| owner.own(&target))?;
        } else {
            return Err(io::Error::other(format!("{} is neither a file nor a folder", source.display())));
        }
    }
    fs::set_permissions(to, fs::metadata(from)?.permissions())?;
    owner.map_or(Ok(()), |owner| owner.own(to))
}

fn copy_file(from: &Path, to: &Path, zeros: Zeros) -> io::Result<()> {
    let mut source = File::open(from)?;
    let mode = source.metadata()?.permissions().mode() & 0o777;
    let mut target = OpenOptions::new().write(true).create_new(true).mode(mode).open(to)?;
    let mut chunk = vec![0; CHUNK];
    let mut length = 0;
    loop {
        let read = source.read(&mut chunk)?;
        if read == 0 {
            break;
        }
        length += read as u64;
        let bytes = &chunk[..read];
        if zeros == Zeros::Skipped && bytes.iter().all(|&byte| byte == 0) {
            target.seek(SeekFrom::Current(read as i64))?;
        } else {
            target.write_all(bytes)?;
        }
    }
    // A hole at the end is not yet part of the file.
    target.set_len(length)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn a_copy_has_the_same_bytes_and_permissions() {
        let place = tempfile::tempdir().unwrap();
        let (from, sparse, full) =
            (place.path().join("a"), place.path().join("sparse"), place.path().join("full"));
        fs::create_dir_all(from.join("inner")).unwrap();
        let mut bytes = vec![7; 100];
        bytes.resize(1 << 20, 0);
        fs::write(from.join("inner/log"), &bytes).unwrap();
        fs::set_permissions(from.join("inner/log"), fs::Permissions::from_mode(0o640)).unwrap();
        copy_folder(&from, &sparse, None, Zeros::Skipped).unwrap();
        copy_folder(&sparse, &full, None, Zeros::Written).unwrap();
        for copy in [&sparse, &full] {
            let log = copy.join("inner/log");
            assert_eq!(fs::read(&log).unwrap(), bytes);
            assert_eq!(fs::metadata(&log).unwrap().permissions().mode() & 0o777, 0o640);
        }
        let blocks = |folder: &Path| {
            let file = File::open(folder.join("inner/log")).unwrap();
            file.sync_all().unwrap();
            file.metadata().unwrap().blocks()
        };
        assert!(blocks(&sparse) < blocks(&full), "zeros take as much space as before");
    }
}
