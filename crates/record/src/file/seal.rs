//! Seals: each line of a run file carries its number and a digest of itself and of the seal before it, so that a line
//! that was changed, removed or moved afterwards is noticed. They are no signature: who makes all of them anew leaves
//! no trace.
//!
//! The seal is the last key of the object that a line holds, `"seal":"NUMBER-DIGEST"`. The digest is the SHA-256 of the
//! seal before (nothing before the first), the number and the line without its seal, each of the former ended by a line
//! break.

use std::fmt::Write as _;
use std::fmt::{self, Display};

use sha2::{Digest, Sha256};

/// The text before a seal.
const KEY: &str = "\"seal\":\"";
/// The end of every line, with a seal and without.
const END: &str = "}}";

/// The result of checking the seals of a run file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Seals {
    /// Each line is as it was written; or the run comes from no file.
    #[default]
    Whole,
    /// The file has none.
    Missing,
    /// A line, from 1, is not as it was written, or not where.
    Broken {
        /// The first such line.
        line: usize,
        /// The fault.
        how: Break,
    },
}

/// The fault of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Break {
    /// It does not fit its seal.
    Changed,
    /// It carries the number of another line, and no line carries its own.
    Removed,
    /// It stands where another line was written.
    Moved,
    /// It has no end.
    Cut,
}

impl Display for Seals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Seals::Whole => write!(f, "is as dyno wrote it"),
            Seals::Missing => write!(f, "has no seals, so nothing shows whether it was changed"),
            Seals::Broken { line, how } => match how {
                Break::Changed => write!(f, "is not as dyno wrote it: line {line} was changed"),
                Break::Removed => write!(f, "is not as dyno wrote it: a line is missing before line {line}"),
                Break::Moved => write!(f, "is not as dyno wrote it: line {line} is in another place"),
                Break::Cut => write!(f, "was cut off: line {line} has no end and is left out"),
            },
        }
    }
}

/// Seals the lines of a file, one after another.
#[derive(Debug, Clone, Default)]
pub(super) struct Sealer {
    lines: u64,
    last: String,
}

impl Sealer {
    /// Adds the seal to a line, which is a JSON object that holds one object and nothing after it.
    pub(super) fn seal(&mut self, line: &mut String) {
        let Some(body) = line.strip_suffix(END) else { return };
        self.lines += 1;
        let seal = format!("{}-{}", self.lines, digest(&self.last, self.lines, body));
        line.truncate(body.len());
        let comma = if line.ends_with('{') { "" } else { "," };
        // A string takes what is written to it.
        let _ = write!(line, "{comma}{KEY}{seal}\"{END}");
        self.last = seal;
    }
}

/// A line as it is read.
struct Sealed<'a> {
    body: &'a str,
    number: u64,
    digest: &'a str,
    seal: &'a str,
}

impl<'a> Sealed<'a> {
    /// The parts of a line; none where it has no seal.
    fn of(line: &'a str) -> Option<Sealed<'a>> {
        let line = line.strip_suffix(END)?.strip_suffix('"')?;
        let place = line.rfind(KEY)?;
        let (before, seal) = (&line[..place], &line[place + KEY.len()..]);
        let (number, digest) = seal.split_once('-')?;
        let body = match before.ends_with('{') {
            true => before,
            false => before.strip_suffix(',')?,
        };
        Some(Sealed { body, number: number.parse().ok()?, digest, seal })
    }
}

/// Checks the seals of a file.
pub(super) fn check(text: &str) -> Seals {
    let lines: Vec<Option<Sealed>> =
        text.split_inclusive('\n').map_while(|line| line.strip_suffix('\n')).map(Sealed::of).collect();
    if lines.iter().all(Option::is_none) {
        return Seals::Missing;
    }
    let mut last = "";
    for (place, sealed) in lines.iter().enumerate() {
        let line = place + 1;
        if let Some(how) = wrong(sealed.as_ref(), line as u64, last, &lines) {
            return Seals::Broken { line, how };
        }
        last = sealed.as_ref().map_or("", |sealed| sealed.seal);
    }
    match text.ends_with('\n') {
        true => Seals::Whole,
        false => Seals::Broken { line: lines.len() + 1, how: Break::Cut },
    }
}

/// The fault of the line that stands at a place, after a line with the seal `last`; None if it has none.
fn wrong(sealed: Option<&Sealed>, place: u64, last: &str, all: &[Option<Sealed>]) -> Option<Break> {
    let Some(sealed) = sealed else { return Some(Break::Changed) };
    if sealed.number != place {
        let is_elsewhere = all.iter().flatten().any(|other| other.number == place);
        return Some(if is_elsewhere { Break::Moved } else { Break::Removed });
    }
    (digest(last, place, sealed.body) != sealed.digest).then_some(Break::Changed)
}

fn digest(last: &str, number: u64, body: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(format!("{last}\n{number}\n"));
    hash.update(body);
    hash.update(END);
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealed(lines: &[&str]) -> Vec<String> {
        let mut sealer = Sealer::default();
        let seal = |line: &&str| {
            let mut line = (*line).to_owned();
            sealer.seal(&mut line);
            line
        };
        lines.iter().map(seal).collect()
    }

    fn said(lines: &[&String]) -> Seals {
        check(&lines.iter().map(|line| format!("{line}\n")).collect::<String>())
    }

    #[test]
    fn a_line_that_was_changed_removed_or_moved_is_named() {
        let lines = sealed(&[r#"{"a":{"b":1}}"#, r#"{"c":{}}"#, r#"{"d":{"e":[2]}}"#, r#"{"f":{"g":3}}"#]);
        let [a, c, d, f] = &lines[..] else { panic!() };
        assert!(c.starts_with(r#"{"c":{"seal":"2-"#), "{c}");
        assert_eq!(said(&[a, c, d, f]), Seals::Whole);
        let broken = |line, how| Seals::Broken { line, how };
        assert_eq!(said(&[a, c, &d.replace("[2]", "[3]"), f]), broken(3, Break::Changed));
        assert_eq!(said(&[a, c, f]), broken(3, Break::Removed));
        assert_eq!(said(&[a, d, c, f]), broken(2, Break::Moved));
        assert_eq!(said(&[a, c, c, d, f]), broken(3, Break::Moved));
        assert_eq!(said(&[a, c, &r#"{"d":{"e":[2]}}"#.to_owned(), f]), broken(3, Break::Changed));
        assert_eq!(check(&format!("{a}\n{c}\n{}", &d[..9])), broken(3, Break::Cut));
        assert_eq!(said(&[&r#"{"a":{"b":1}}"#.to_owned()]), Seals::Missing);
        // No seal can show that lines are missing after the last.
        assert_eq!(said(&[a, c]), Seals::Whole);
    }
}
