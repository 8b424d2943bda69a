//! The versions of crates that a runner is built from, for engines that are crates and do not report their own.

use anyhow::{Context, Result};

/// The repository's lock file, with the version of every dependency.
const LOCK: &str = include_str!("../../../Cargo.lock");

/// The version of a crate in this build, as `4.5.0`.
pub fn locked_version(package: &str) -> Result<String> {
    find(LOCK, package).map(str::to_owned).with_context(|| format!("Cargo.lock does not name {package}"))
}

fn find<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
    let (_, rest) = lock.split_once(&format!("name = \"{package}\"\nversion = \""))?;
    rest.split_once('"').map(|(version, _)| version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_has_the_version_that_is_locked() {
        let lock = "[[package]]\nname = \"redb-derive\"\nversion = \"1.0.0\"\n\n[[package]]\nname = \"redb\"\nversion = \"4.5.0\"\n";
        assert_eq!(find(lock, "redb"), Some("4.5.0"));
        assert_eq!(find(lock, "red"), None);
        assert!(locked_version("anyhow").unwrap().starts_with("1."));
    }
}
