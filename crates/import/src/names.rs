//! Names of files, which need not be UTF-8.

use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;

/// A name as messages show it: each byte that is not UTF-8 as an escape such as `\xe9`, so that two names never look the
/// same.
pub fn escaped(name: impl AsRef<OsStr>) -> String {
    let mut text = String::new();
    for chunk in name.as_ref().as_bytes().utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

/// A name with something added at its end.
pub fn with_ending(name: impl AsRef<OsStr>, ending: &str) -> OsString {
    let mut name = name.as_ref().to_owned();
    name.push(ending);
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_not_utf_8_are_shown_and_kept() {
        let name = OsStr::from_bytes(b"caf\xe9 \xc3\xa9\xff.csv");
        assert_eq!(escaped(name), "caf\\xe9 é\\xff.csv");
        assert_eq!(with_ending(name, "-wal").as_bytes(), b"caf\xe9 \xc3\xa9\xff.csv-wal");
        assert_eq!(escaped("plain"), "plain");
    }
}
