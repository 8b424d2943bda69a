//! A folder of the build, which a program names and its package does not.

use std::ffi::OsStr;
use std::hint::black_box;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The longest path that Linux takes, with the zero after it.
const LONGEST: usize = 4096;

/// The path of a folder that only a build has, with zeros after it. It must be a static in the section `.dyno.folders`,
/// which `packaging/dist.sh` overwrites with zeros: the same commit then gives the same package in every folder, and no
/// package looks for a folder of the machine that made it.
#[derive(Debug)]
pub struct BuildFolder([u8; LONGEST]);

impl BuildFolder {
    /// The folder with this path, as the compiler knows it.
    pub const fn new(path: &str) -> BuildFolder {
        let path = path.as_bytes();
        assert!(path.len() < LONGEST, "the path of the build is too long");
        let mut bytes = [0; LONGEST];
        let mut at = 0;
        while at < path.len() {
            bytes[at] = path[at];
            at += 1;
        }
        BuildFolder(bytes)
    }

    /// The path; `None` in a package.
    pub fn path(&'static self) -> Option<&'static Path> {
        // The bytes of a package are others than those that the compiler sees here.
        let path = black_box(&self.0).split(|byte| *byte == 0).next().filter(|path| !path.is_empty())?;
        Some(Path::new(OsStr::from_bytes(path)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_names_its_folder_and_a_package_none() {
        static BUILT: BuildFolder = BuildFolder::new("/a/b c");
        static PACKED: BuildFolder = BuildFolder([0; LONGEST]);
        assert_eq!(BUILT.path(), Some(Path::new("/a/b c")));
        assert_eq!(PACKED.path(), None);
    }
}
