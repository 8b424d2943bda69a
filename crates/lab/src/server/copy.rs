//! Copies of data folders, byte by byte.
//!
//! Never by reference (reflink), though file systems offer it: the server's first write to each block
//! would then pay for a copy, within the measured time. For the same reason zeros are written out where
//! a server is to run on the copy: its log then lies in blocks that are its own already, as in a server
//! that has run for a while, whichever way the copy was made.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use dyno_files::{Found, HeldFolder};

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

/// Copies a folder with its files and folders to `to`, which must not exist. Permissions are kept; what is in the copy
/// belongs to `owner`, if one is given. The copy itself stays dyno's, so that its owner can put no link where dyno still
/// writes: the caller hands it over.
///
/// The source may belong to a server's account, whose processes can exchange what is in it meanwhile: each folder is held
/// open, and no link is followed.
///
/// # Errors
/// Those of reading and writing, and anything that is neither a folder nor a file of one name.
pub fn copy_folder(from: &Path, to: &Path, owner: Option<&Account>, zeros: Zeros) -> io::Result<()> {
    copy_held(&HeldFolder::open(from)?, to, owner, zeros)
}

fn copy_held(from: &HeldFolder, to: &Path, owner: Option<&Account>, zeros: Zeros) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(to)?;
    for name in from.names()? {
        let target = to.join(&name);
        match from.find(&name)?.0 {
            Found::Folder(inner) => copy_held(&inner, &target, owner, zeros)?,
            Found::File(source) => copy_file(source, &target, zeros)?,
            _ => return Err(unexpected(&target, "is neither a file nor a folder")),
        }
        owner.map_or(Ok(()), |owner| owner.own(&target))?;
    }
    fs::set_permissions(to, from.about()?.permissions())
}

fn copy_file(mut source: File, to: &Path, zeros: Zeros) -> io::Result<()> {
    // A second name could be that of a file which the account may not read.
    let about = source.metadata()?;
    if about.nlink() > 1 {
        return Err(unexpected(to, "has more than one name"));
    }
    let mode = about.permissions().mode() & 0o777;
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

/// An error about the original of `target`, whose own path goes over descriptors.
fn unexpected(target: &Path, fault: &str) -> io::Error {
    io::Error::other(format!("the original of {} {fault}", target.display()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_is_no_file_of_one_name_is_not_copied() {
        let place = tempfile::tempdir().unwrap();
        let (secret, from) = (place.path().join("secret"), place.path().join("from"));
        fs::write(&secret, "private").unwrap();
        let plant: [&dyn Fn(&Path); 4] = [
            &|path| symlink(&secret, path).unwrap(),
            &|path| fs::hard_link(&secret, path).unwrap(),
            &|path| nix::unistd::mkfifo(path, nix::sys::stat::Mode::S_IRWXU).unwrap(),
            &|path| symlink(place.path(), path).unwrap(),
        ];
        for (number, plant) in plant.iter().enumerate() {
            let _ = fs::remove_dir_all(&from);
            fs::create_dir_all(from.join("inner")).unwrap();
            plant(&from.join("inner/planted"));
            let to = place.path().join(format!("to{number}"));
            let error = copy_folder(&from, &to, None, Zeros::Written).unwrap_err().to_string();
            assert!(error.contains("to") && error.contains("inner/planted"), "{error}");
            assert!(!to.join("inner/planted").exists());
        }
        let link = place.path().join("link");
        symlink(place.path(), &link).unwrap();
        copy_folder(&link, &place.path().join("to"), None, Zeros::Written).unwrap_err();
    }

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
