//! A column of CSV and the value that stands in it.

use dyno_record::{Commits, Hole};
use dyno_verdict::statistics::Ratio;
use serde::Serialize;

use crate::without_formula;

/// A column of a line: its name, and what stands there. `docs/run-file.md` explains them.
pub(crate) type Column = (&'static str, Field);

/// The value of a column.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Field {
    Absent,
    Text(String),
    Count(u64),
    Number(f64),
    Flag(bool),
}

impl<T: Into<Field>> From<Option<T>> for Field {
    fn from(value: Option<T>) -> Field {
        value.map_or(Field::Absent, Into::into)
    }
}

impl From<&str> for Field {
    fn from(text: &str) -> Field {
        Field::Text(without_formula(text).into_owned())
    }
}

impl From<usize> for Field {
    fn from(count: usize) -> Field {
        Field::Count(count as u64)
    }
}

impl From<u64> for Field {
    fn from(count: u64) -> Field {
        Field::Count(count)
    }
}

impl From<f64> for Field {
    fn from(number: f64) -> Field {
        Field::Number(number)
    }
}

impl From<bool> for Field {
    fn from(flag: bool) -> Field {
        Field::Flag(flag)
    }
}

impl From<Hole> for Field {
    fn from(hole: Hole) -> Field {
        match hole {
            Hole::LastCommit => "last-commit".into(),
            Hole::TornPages => "torn-pages".into(),
        }
    }
}

impl From<Commits> for Field {
    fn from(commits: Commits) -> Field {
        match commits {
            Commits::Each(operations) => operations.into(),
            Commits::Whole => "all".into(),
        }
    }
}

/// A ratio with its interval, under three names.
pub(crate) fn ratio(names: [&'static str; 3], ratio: Option<&Ratio>) -> [Column; 3] {
    let interval = ratio.and_then(|ratio| ratio.interval);
    let fields = [
        ratio.map(|ratio| ratio.ratio).into(),
        interval.map(|interval| interval.low).into(),
        interval.map(|interval| interval.high).into(),
    ];
    let mut fields = fields.into_iter();
    names.map(|name| (name, fields.next().unwrap_or(Field::Absent)))
}
