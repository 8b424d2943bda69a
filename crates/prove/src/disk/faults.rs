//! Faults that the recorded disk is asked to have: errors of writes and flushes, at a place and for a while.

use std::str::FromStr;

/// The kind of refused request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Writes.
    Write,
    /// Flushes.
    Flush,
}

/// A fault: from which write or flush on, and whether once or for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// The kind of refused request.
    pub kind: Kind,
    /// The number of requests of the kind that succeed before, since the disk was made.
    pub after: u64,
    /// Every later one of the kind is refused too.
    pub for_good: bool,
}

impl FromStr for Fault {
    type Err = String;

    /// `write:17` or `flush:5+`, as [`std::fmt::Display`] writes it.
    fn from_str(text: &str) -> Result<Fault, String> {
        let fault = || {
            let (kind, after) = text.split_once(':')?;
            let kind = match kind {
                "write" => Kind::Write,
                "flush" => Kind::Flush,
                _ => return None,
            };
            let for_good = after.ends_with('+');
            Some(Fault { kind, after: after.trim_end_matches('+').parse().ok()?, for_good })
        };
        fault().ok_or_else(|| format!("`{text}` is no fault; write write:17 or flush:5+"))
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, to: &mut std::fmt::Formatter) -> std::fmt::Result {
        let kind = match self.kind {
            Kind::Write => "write",
            Kind::Flush => "flush",
        };
        write!(to, "{kind}:{}{}", self.after, if self.for_good { "+" } else { "" })
    }
}

/// The treatment of a write or a flush.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Do it.
    Work,
    /// Answer with an error and do nothing.
    Refuse,
}

/// Counts writes and flushes and says which fail.
#[derive(Debug, Default)]
pub struct Faults {
    fault: Option<Fault>,
    writes: u64,
    flushes: u64,
}

impl Faults {
    /// With a fault, or without any.
    pub fn new(fault: Option<Fault>) -> Faults {
        Faults { fault, ..Faults::default() }
    }

    /// The next write.
    pub fn write(&mut self) -> Verdict {
        self.writes += 1;
        self.verdict(Kind::Write, self.writes - 1)
    }

    /// The next flush.
    pub fn flush(&mut self) -> Verdict {
        self.flushes += 1;
        self.verdict(Kind::Flush, self.flushes - 1)
    }

    fn verdict(&self, kind: Kind, number: u64) -> Verdict {
        let fails = |fault: Fault| {
            fault.kind == kind && (number == fault.after || fault.for_good && number > fault.after)
        };
        if self.fault.is_some_and(fails) { Verdict::Refuse } else { Verdict::Work }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_comes_once_or_for_good() {
        let verdicts = |text: &str| {
            let mut faults = Faults::new(Some(text.parse().unwrap()));
            (0..4).map(|_| faults.flush() == Verdict::Refuse).collect::<Vec<_>>()
        };
        assert_eq!(verdicts("flush:2"), [false, false, true, false]);
        assert_eq!(verdicts("flush:2+"), [false, false, true, true]);
        assert_eq!(verdicts("write:2"), [false; 4]);
        assert_eq!("flush:2+".parse::<Fault>().unwrap().to_string(), "flush:2+");
        assert!("flash:2".parse::<Fault>().is_err());
    }
}
