//! The texts that the numbers of a range are written as: names, texts, dates, fractions, words.

use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use dyno_protocol::StepKind;
use jiff::ToSpan;
use jiff::civil::{Date, DateTime, date};
use toml::value::Datetime;

use crate::{LAST_NAME_BYTES, last_name};

/// The longest text, in bytes.
const LONGEST: usize = 65_536;

/// The text that a number is written as.
#[derive(Debug, Clone, PartialEq)]
pub enum Written {
    /// A name of three syllables, as TPC-C makes last names, filled up with blanks to 16 letters.
    LastName,
    /// The number between two texts, padded with zeros to a number of digits.
    Text {
        /// The text before it.
        before: String,
        /// The text after it.
        after: String,
        /// The least number of digits.
        digits: usize,
    },
    /// As many days after 1970-01-01.
    Date,
    /// As many seconds after 1970-01-01 00:00:00.
    Moment,
    /// Divided by ten to this power.
    Decimals(u32),
    /// The word at that position, from 1.
    Words(Arc<[String]>),
}

impl Written {
    /// Reads `as`: `last-name`, or a text with `{}` or `{08}` in it.
    ///
    /// # Errors
    /// There is no number in the text, or more than one.
    pub(super) fn read(text: &str) -> Result<Written> {
        if text == "last-name" {
            return Ok(Written::LastName);
        }
        let found = || {
            let (before, rest) = text.split_once('{')?;
            let (digits, after) = rest.split_once('}')?;
            let digits = if digits.is_empty() { Some(0) } else { digits.parse().ok() }?;
            (digits <= 64 && !after.contains(['{', '}']))
                .then(|| (before.to_owned(), after.to_owned(), digits))
        };
        let (before, after, digits) = found().with_context(|| {
            format!("`as` is \"last-name\", or a text with one {{}} or {{08}} in it for the number, and not \"{text}\"")
        })?;
        ensure!(text.len() <= LONGEST, "the text of `as` is longer than {LONGEST} bytes");
        Ok(Written::Text { before, after, digits })
    }

    /// The kind of its field in a step, and the field's bytes, for numbers of a range.
    pub fn field(&self, from: i64, to: i64) -> (StepKind, u64) {
        let lengths: Vec<usize> = match self {
            Written::LastName => vec![LAST_NAME_BYTES],
            Written::Date => vec!["1970-01-01".len()],
            Written::Moment => vec!["1970-01-01 00:00:00".len()],
            Written::Decimals(_) => return (StepKind::Real, 8),
            Written::Words(words) => words.iter().map(String::len).collect(),
            Written::Text { .. } => {
                // Those nearest to 0 are the shortest, those furthest from it the longest.
                let nearest = if from <= 0 && to >= 0 { 0 } else { if from > 0 { from } else { to } };
                [from, to, nearest].map(|number| self.text(number).len()).into()
            }
        };
        let longest = lengths.iter().copied().max().unwrap_or_default();
        if lengths.iter().all(|length| *length == longest) {
            return (StepKind::Text, longest as u64);
        }
        (StepKind::VaryingText, 8 + longest as u64)
    }

    /// Writes a number into the bytes of its field.
    pub fn put(&self, number: i64, bytes: &mut [u8]) {
        if let Written::Decimals(decimals) = self {
            let real = number as f64 / 10_f64.powi(decimals.cast_signed());
            bytes.copy_from_slice(&real.to_le_bytes());
            return;
        }
        let text = match self {
            Written::Words(words) => words.get((number - 1) as usize).cloned().unwrap_or_default(),
            _ => self.text(number),
        };
        if text.len() == bytes.len() {
            bytes.copy_from_slice(text.as_bytes());
        } else {
            bytes.fill(0);
            bytes[..8].copy_from_slice(&(text.len() as u64).to_le_bytes());
            bytes[8..8 + text.len()].copy_from_slice(text.as_bytes());
        }
    }

    fn text(&self, number: i64) -> String {
        match self {
            Written::LastName => last_name(number.unsigned_abs()),
            Written::Text { before, after, digits } => format!("{before}{number:0digits$}{after}"),
            Written::Date => DAY.saturating_add(number.days()).to_string(),
            Written::Moment => DAY
                .to_datetime(Default::default())
                .saturating_add(number.seconds())
                .strftime("%F %T")
                .to_string(),
            Written::Decimals(_) | Written::Words(_) => number.to_string(),
        }
    }
}

/// The day from which days are counted.
const DAY: Date = date(1970, 1, 1);

/// The number of a date or of a moment, and what such numbers are written as.
///
/// # Errors
/// It is a time without a date, or has a time zone, or its year is not of four digits.
pub(super) fn dated(written: &Datetime) -> Result<(i64, Written)> {
    ensure!(written.offset.is_none(), "a moment has no time zone here, as 2026-01-31T12:00:00");
    let Some(day) = written.date else { bail!("a time needs a date, as 2026-01-31T12:00:00") };
    ensure!((1000..=9999).contains(&day.year), "a year has four digits");
    if written.time.is_none() {
        let day: Date = written.to_string().parse().context("it is no date")?;
        return Ok((i64::from((day - DAY).get_days()), Written::Date));
    }
    let moment: DateTime = written.to_string().parse().context("it is no moment")?;
    let seconds = moment.duration_since(DAY.to_datetime(Default::default())).as_secs();
    Ok((seconds, Written::Moment))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(written: &Written, (from, to): (i64, i64), number: i64) -> (StepKind, String) {
        let (kind, bytes) = written.field(from, to);
        let mut cell = vec![b'?'; bytes as usize];
        written.put(number, &mut cell);
        let text = match kind {
            StepKind::VaryingText => {
                let length = u64::from_le_bytes(cell[..8].try_into().unwrap()) as usize;
                cell[8..8 + length].to_vec()
            }
            _ => cell,
        };
        (kind, String::from_utf8(text).unwrap())
    }

    #[test]
    fn numbers_become_texts_dates_and_words() {
        let read = |text: &str| Written::read(text).unwrap();
        let varying = (StepKind::VaryingText, "user-7!".to_owned());
        assert_eq!(cell(&read("user-{}!"), (1, 100), 7), varying);
        assert_eq!(cell(&read("user-{06}"), (1, 100), 7), (StepKind::Text, "user-000007".into()));
        assert_eq!(cell(&read("{}"), (-100, 5), 0), (StepKind::VaryingText, "0".into()));
        assert_eq!(cell(&Written::LastName, (0, 999), 371), (StepKind::Text, "PRICALLYOUGHT   ".into()));
        let words = Written::Words(["a", "", "été"].map(str::to_owned).into());
        assert_eq!(cell(&words, (1, 3), 2), (StepKind::VaryingText, String::new()));
        assert_eq!(cell(&words, (1, 3), 3).1, "été");
        for bad in ["user", "{a}", "{} {}", "}{"] {
            assert!(Written::read(bad).unwrap_err().to_string().contains("with one {}"), "{bad}");
        }
    }

    #[test]
    fn dates_are_days_and_moments_seconds() {
        let of = |text: &str| dated(&text.parse().unwrap());
        assert_eq!(of("1970-01-02").unwrap(), (1, Written::Date));
        assert_eq!(of("2024-02-29").unwrap().0, 19_782);
        assert_eq!(of("1970-01-01T00:01:00").unwrap(), (60, Written::Moment));
        assert_eq!(cell(&Written::Date, (0, 1), 19_783), (StepKind::Text, "2024-03-01".into()));
        let moment = of("2026-11-24T01:16:53").unwrap().0;
        assert_eq!(cell(&Written::Moment, (0, 1), moment).1, "2026-11-24 01:16:53");
        assert!(of("2024-02-29T00:00:00Z").unwrap_err().to_string().contains("no time zone"));
        assert!(of("12:00:00").unwrap_err().to_string().contains("needs a date"));
    }

    #[test]
    fn fractions_are_numbers() {
        let mut cell = [0; 8];
        Written::Decimals(2).put(1234, &mut cell);
        assert_eq!(f64::from_le_bytes(cell), 12.34);
    }
}
