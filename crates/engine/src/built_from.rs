//! The folder of the sources that a program was built from. A package names none.

use std::ffi::OsStr;
use std::hint::black_box;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The longest path that Linux takes, with the zero after it.
const LONGEST: usize = 4096;

/// The path with zeros after it. `packaging/dist.sh` overwrites this section with zeros: the same commit then gives the
/// same package in every folder, and no package looks for a folder of the machine that made it.
#[used]
#[unsafe(link_section = ".dyno.sources")]
static BUILT_FROM: [u8; LONGEST] = with_zeros(env!("CARGO_MANIFEST_DIR").as_bytes());

/// The folder of this crate's sources; `None` in a package.
pub fn built_from() -> Option<&'static Path> {
    // The bytes of a package are others than those that the compiler sees here.
    path_in(black_box(&BUILT_FROM))
}

/// What stands before the first zero; `None` if that is nothing.
fn path_in(bytes: &[u8]) -> Option<&Path> {
    let path = bytes.split(|byte| *byte == 0).next().filter(|path| !path.is_empty())?;
    Some(Path::new(OsStr::from_bytes(path)))
}

const fn with_zeros(path: &[u8]) -> [u8; LONGEST] {
    assert!(path.len() < LONGEST, "the path of the clone is too long");
    let mut bytes = [0; LONGEST];
    let mut at = 0;
    while at < path.len() {
        bytes[at] = path[at];
        at += 1;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_names_its_sources_and_a_package_none() {
        assert!(built_from().unwrap().join("src/built_from.rs").is_file());
        assert_eq!(path_in(&[0; LONGEST]), None);
    }
}
