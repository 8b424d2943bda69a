//! Faults that the recorded disk is asked to have: errors of writes and flushes, at a place and for a while, and a block
//! that cannot be read.

use std::str::FromStr;

/// The length of a block that cannot be read, in bytes.
pub const BLOCK: u64 = 4096;

/// The kind of refused request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Writes.
    Write,
    /// Flushes.
    Flush,
}

/// The requests that a disk refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Writes or flushes, from one of them on.
    Refused {
        /// The kind of refused request.
        kind: Kind,
        /// The number of requests of the kind that succeed before, since the disk was made.
        after: u64,
        /// True if every later one of the kind is refused too.
        for_good: bool,
    },
    /// Reads of a block.
    Unreadable {
        /// The offset of the block in bytes from the beginning of the disk.
        offset: u64,
    },
}

impl FromStr for Fault {
    type Err = String;

    /// `write:17`, `flush:5+` or `read:4096`, as [`std::fmt::Display`] writes it.
    fn from_str(text: &str) -> Result<Fault, String> {
        let fault = || {
            let (kind, number) = text.split_once(':')?;
            let kind = match kind {
                "write" => Kind::Write,
                "flush" => Kind::Flush,
                "read" => return Some(Fault::Unreadable { offset: number.parse().ok()? }),
                _ => return None,
            };
            let for_good = number.ends_with('+');
            Some(Fault::Refused { kind, after: number.trim_end_matches('+').parse().ok()?, for_good })
        };
        fault().ok_or_else(|| format!("`{text}` is no fault; write write:17, flush:5+ or read:4096"))
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, to: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Fault::Unreadable { offset } => write!(to, "read:{offset}"),
            Fault::Refused { kind, after, for_good } => {
                let kind = match kind {
                    Kind::Write => "write",
                    Kind::Flush => "flush",
                };
                write!(to, "{kind}:{after}{}", if *for_good { "+" } else { "" })
            }
        }
    }
}

/// The treatment of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reaction {
    /// Do it.
    Work,
    /// Answer with an error and do nothing.
    Refuse,
}

/// Counts writes and flushes and says which requests fail.
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
    pub fn write(&mut self) -> Reaction {
        self.writes += 1;
        self.reaction(Kind::Write, self.writes - 1)
    }

    /// The next flush.
    pub fn flush(&mut self) -> Reaction {
        self.flushes += 1;
        self.reaction(Kind::Flush, self.flushes - 1)
    }

    /// A read of `length` bytes from an offset on.
    pub fn read(&self, start: u64, length: u64) -> Reaction {
        match self.fault {
            Some(Fault::Unreadable { offset }) if start < offset + BLOCK && offset < start + length => {
                Reaction::Refuse
            }
            _ => Reaction::Work,
        }
    }

    fn reaction(&self, wanted: Kind, number: u64) -> Reaction {
        match self.fault {
            Some(Fault::Refused { kind, after, for_good })
                if kind == wanted && (number == after || for_good && number > after) =>
            {
                Reaction::Refuse
            }
            _ => Reaction::Work,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_comes_once_or_for_good() {
        let verdicts = |text: &str| {
            let mut faults = Faults::new(Some(text.parse().unwrap()));
            (0..4).map(|_| faults.flush() == Reaction::Refuse).collect::<Vec<_>>()
        };
        assert_eq!(verdicts("flush:2"), [false, false, true, false]);
        assert_eq!(verdicts("flush:2+"), [false, false, true, true]);
        assert_eq!(verdicts("write:2"), [false; 4]);
        assert_eq!("flush:2+".parse::<Fault>().unwrap().to_string(), "flush:2+");
        assert!("flash:2".parse::<Fault>().is_err());
    }

    #[test]
    fn a_block_that_cannot_be_read_spoils_each_read_of_it() {
        let mut faults = Faults::new(Some("read:8192".parse().unwrap()));
        let is_refused = |start, length| faults.read(start, length) == Reaction::Refuse;
        assert_eq!([is_refused(0, 8192), is_refused(0, 8193)], [false, true]);
        assert_eq!([is_refused(12_287, 1), is_refused(12_288, 4096)], [true, false]);
        assert_eq!((faults.write(), faults.flush()), (Reaction::Work, Reaction::Work));
        assert_eq!("read:8192".parse::<Fault>().unwrap().to_string(), "read:8192");
    }
}
