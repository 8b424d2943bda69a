//! Names the packages to install for what is missing, from the list `needs.txt`. dyno and the runners in Rust share it,
//! so that package names are kept in one place.

use std::fmt;

/// The list; its head explains the columns.
const LIST: &str = include_str!("../../../needs.txt");

/// A line of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Need {
    /// `build`, `test` or `extra`.
    pub when: &'static str,
    /// Debian's package, Ubuntu's after `ubuntu:`, or an address.
    pub package: &'static str,
    /// The file or program that exists once it is installed.
    pub proof: &'static str,
    /// Its description.
    pub about: &'static str,
}

impl Need {
    /// The file, program or module that the proof is about: `libpq.so.5`, `postgres`, `go`.
    pub fn name(&self) -> &'static str {
        let proof = self.proof.split(">=").next().unwrap_or(self.proof);
        let proof = proof.trim_matches(['<', '>']);
        proof.rsplit('/').next().unwrap_or(proof)
    }

    /// The source: an address, or the command for Debian.
    pub fn source(&self) -> String {
        if self.package.starts_with("http") {
            return self.package.to_owned();
        }
        let (system, package) = match self.package.strip_prefix("ubuntu:") {
            Some(package) => ("Ubuntu", package),
            None => ("Debian", self.package),
        };
        format!("{system}: sudo apt-get install --no-install-recommends {package}")
    }
}

/// Prints description and source, as `LMDB (Debian: sudo apt-get install …)`.
impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.about, self.source())
    }
}

/// All lines of the list.
pub fn all() -> impl Iterator<Item = Need> {
    LIST.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let (when, rest) = line.split_once(' ')?;
        let (package, rest) = rest.trim_start().split_once(' ')?;
        let (proof, about) = rest.trim_start().split_once(' ')?;
        Some(Need { when, package, proof, about: about.trim() })
    })
}

/// The line of a file or a program. Versions that end a library's name may be more or fewer than the list's.
pub fn of(name: &str) -> Option<Need> {
    let longer = |long: &str, short: &str| long.strip_prefix(short).is_some_and(|rest| rest.starts_with('.'));
    let fits = |known: &str| known == name || longer(known, name) || longer(name, known);
    all().find(|need| fits(need.name()))
}

/// The end of an error message about a missing file or program; empty if the list does not have it.
pub fn advice(name: &str) -> String {
    of(name).map(|need| format!("; install it ({})", need.source())).unwrap_or_default()
}

/// A text in which names in braces are replaced by what they stand for: `{go}`, `{libpq.so.5}`.
///
/// # Errors
/// The list has no such name; this is the name.
pub fn fill(text: &str) -> Result<String, String> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, (name, after))) =
        rest.split_once('{').and_then(|(before, behind)| Some((before, behind.split_once('}')?)))
    {
        let need = of(name).ok_or_else(|| name.to_owned())?;
        filled += &format!("{before}{need}");
        rest = after;
    }
    Ok(filled + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_has_its_columns() {
        let lines = LIST.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
        assert_eq!(lines.count(), all().count());
        for need in all() {
            assert!(["build", "test", "extra"].contains(&need.when), "{need:?}");
            assert!(!need.about.is_empty() && !need.name().is_empty(), "{need:?}");
            assert_eq!(of(need.name()), Some(need), "two lines are about {}", need.name());
        }
    }

    #[test]
    fn a_library_is_found_by_any_of_its_names() {
        for name in ["liblmdb.so", "liblmdb.so.0", "liblmdb.so.0.0.0"] {
            assert_eq!(of(name).unwrap().package, "liblmdb0");
        }
        assert_eq!(of("postgres").unwrap().package, "postgresql");
        assert_eq!(of("crypto.h").unwrap().package, "libssl-dev");
        assert_eq!(of("liblmdb.sox"), None);
        assert!(advice("libpq.so.5").ends_with("install --no-install-recommends libpq5)"));
        assert_eq!(advice("libnothing.so"), "");
    }

    #[test]
    fn names_in_braces_are_replaced() {
        let filled = fill("{go}, and {cc} for some").unwrap();
        assert!(filled.starts_with("Go 1.26 or later (https://go.dev/dl/), and a C compiler (Debian: sudo "));
        assert!(filled.ends_with("install --no-install-recommends gcc) for some"));
        assert_eq!(fill("nothing {"), Ok("nothing {".to_owned()));
        assert_eq!(fill("{libnothing.so}"), Err("libnothing.so".to_owned()));
    }
}
