//! A number over the time of a mix: its rate, or the weight of a class.
//!
//! `0s 100, 30s 1000, 60s 100` are points with straight lines between them; two points at one moment are a jump, and
//! the last value stays. `…, every 10s` repeats them. `sine 100 to 1000 every 20s` swings between two values.

use std::f64::consts::TAU;
use std::fmt;

use anyhow::{Context, Result, bail, ensure};

/// The notation of a course, for messages.
const WRITTEN: &str = "it is written as `0s 100, 30s 1000, 60s 100`, with `, every 60s` if it repeats, or as \
     `sine 100 to 1000 every 20s`";
/// The number of slices over which a mean is taken.
const SLICES: u32 = 100_000;

/// A number that may change with the time, in seconds since operations began to count.
#[derive(Debug, Clone, PartialEq)]
pub struct Course {
    text: String,
    form: Form,
}

#[derive(Debug, Clone, PartialEq)]
enum Form {
    Steady(f64),
    Points {
        /// Moments in order, each with its value.
        points: Vec<(f64, f64)>,
        /// After how long they begin again.
        every: Option<f64>,
    },
    Sine {
        from: f64,
        to: f64,
        every: f64,
    },
}

impl Course {
    /// A number that never changes.
    pub fn steady(value: f64) -> Course {
        Course { text: value.to_string(), form: Form::Steady(value) }
    }

    /// True if a text looks like a course and not like an expression.
    pub fn is_one(text: &str) -> bool {
        let mut words = text.split_whitespace();
        let first = words.next().unwrap_or_default();
        words.next().is_some() && (first == "sine" || seconds(first).is_ok())
    }

    /// Reads a course, or a number.
    ///
    /// # Errors
    /// It is neither, its moments are not in order, or a value is negative.
    pub fn parse(text: &str) -> Result<Course> {
        let text = text.trim();
        let form = if let Ok(value) = text.parse() {
            Form::Steady(value)
        } else if let Some(sine) = text.strip_prefix("sine ") {
            parse_sine(sine).with_context(|| format!("`{text}` is no course: {WRITTEN}"))?
        } else {
            parse_points(text).with_context(|| format!("`{text}` is no course: {WRITTEN}"))?
        };
        let course = Course { text: text.to_owned(), form };
        let (least, most) = course.bounds();
        ensure!(least >= 0.0 && most.is_finite(), "`{text}`: a value is 0 or more");
        Ok(course)
    }

    /// Its value at a moment; before the first, that of the first.
    pub fn at(&self, seconds: f64) -> f64 {
        let seconds = seconds.max(0.0);
        match &self.form {
            Form::Steady(value) => *value,
            Form::Sine { from, to, every } => {
                from + (to - from) * (0.5 + (TAU * seconds / every).sin() / 2.0)
            }
            Form::Points { points, every } => between(points, every.map_or(seconds, |every| seconds % every)),
        }
    }

    /// Its least and its largest value.
    pub fn bounds(&self) -> (f64, f64) {
        match &self.form {
            Form::Steady(value) => (*value, *value),
            Form::Sine { from, to, .. } => (from.min(*to), from.max(*to)),
            Form::Points { points, .. } => {
                points.iter().fold((f64::MAX, f64::MIN), |(least, most), (_, value)| {
                    (least.min(*value), most.max(*value))
                })
            }
        }
    }

    /// The number that it is, if it never changes.
    pub fn value(&self) -> Option<f64> {
        match self.form {
            Form::Steady(value) => Some(value),
            _ => None,
        }
    }

    /// The mean of its values between two moments.
    pub fn mean(&self, from: f64, until: f64) -> f64 {
        let slice = (until - from) / f64::from(SLICES);
        let at = |place: u32| self.at(from + (f64::from(place) + 0.5) * slice);
        self.value().unwrap_or_else(|| (0..SLICES).map(at).sum::<f64>() / f64::from(SLICES))
    }
}

impl fmt::Display for Course {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}

/// The value at a moment of points with straight lines between them.
fn between(points: &[(f64, f64)], seconds: f64) -> f64 {
    // Of two points at one moment the second counts.
    let next = points.partition_point(|(moment, _)| *moment <= seconds);
    let Some((before, value)) = next.checked_sub(1).map(|place| points[place]) else { return points[0].1 };
    let Some((after, later)) = points.get(next).copied() else { return value };
    value + (later - value) * (seconds - before) / (after - before)
}

fn parse_sine(text: &str) -> Result<Form> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [from, "to", to, "every", every] = words[..] else { bail!("a sine has two values and a time") };
    let every = seconds(every)?;
    ensure!(every > 0.0, "a sine repeats after more than 0 s");
    Ok(Form::Sine { from: number(from)?, to: number(to)?, every })
}

fn parse_points(text: &str) -> Result<Form> {
    let (mut points, mut every) = (Vec::new(), None);
    for piece in text.split(',') {
        let words: Vec<&str> = piece.split_whitespace().collect();
        ensure!(every.is_none(), "`every` comes last");
        match words[..] {
            ["every", time] => every = Some(seconds(time)?),
            [moment, value] => points.push((seconds(moment)?, number(value)?)),
            _ => bail!("`{}` is not a moment and a value", piece.trim()),
        }
    }
    ensure!(!points.is_empty(), "there is no point");
    ensure!(points.is_sorted_by(|a, b| a.0 <= b.0), "the moments are not in order");
    let last = points.last().map_or(0.0, |(moment, _)| *moment);
    ensure!(
        every.is_none_or(|every| every > 0.0 && every >= last),
        "it repeats after {} s, before its last point",
        every.unwrap_or_default()
    );
    Ok(Form::Points { points, every })
}

fn number(text: &str) -> Result<f64> {
    let number: Option<f64> = text.parse().ok();
    number.filter(|number| number.is_finite()).with_context(|| format!("'{text}' is no number"))
}

/// A time with its unit, in seconds.
pub(super) fn seconds(text: &str) -> Result<f64> {
    let start = text.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(text.len());
    let unit = match &text[start..] {
        "ns" => 1e-9,
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => bail!("'{text}' is no time, as 500ms, 30s or 2m"),
    };
    let number = number(&text[..start])?;
    ensure!(number >= 0.0, "'{text}' is no time, as 500ms, 30s or 2m");
    Ok(number * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, moments: &[f64]) -> Vec<f64> {
        let course = Course::parse(text).unwrap();
        moments.iter().map(|&moment| course.at(moment)).collect()
    }

    #[test]
    fn lines_jumps_bursts_and_a_sine() {
        assert_eq!(at("7", &[-1.0, 0.0, 99.0]), [7.0; 3]);
        let ramp = at("0s 100, 30s 1000, 1m 100", &[-1.0, 0.0, 15.0, 30.0, 45.0, 90.0]);
        assert_eq!(ramp, [100.0, 100.0, 550.0, 1000.0, 550.0, 100.0]);
        assert_eq!(at("0s 1, 2s 1, 2s 9", &[0.0, 1.999, 2.0, 50.0]), [1.0, 1.0, 9.0, 9.0]);
        let bursts = at("0s 1, 900ms 1, 900ms 5, every 1s", &[0.5, 0.95, 1.5, 1.95, 7.89]);
        assert_eq!(bursts, [1.0, 5.0, 1.0, 5.0, 1.0]);
        let sine = at("sine 100 to 300 every 4s", &[0.0, 1.0, 2.0, 3.0]);
        assert!(sine.iter().zip([200.0, 300.0, 200.0, 100.0]).all(|(a, b)| (a - b).abs() < 1e-9), "{sine:?}");
        let mean = |text: &str, until| Course::parse(text).unwrap().mean(0.0, until);
        assert!((mean("0s 100, 30s 1000, 60s 100", 60.0) - 550.0).abs() < 0.01);
        assert!((mean("0s 1, 900ms 1, 900ms 5, every 1s", 2.0) - 1.4).abs() < 0.001);
    }

    #[test]
    fn what_is_no_course_is_refused_with_how_one_is_written() {
        assert!(["0s 1", "500ms 1, 2s 7", "sine 1 to 2 every 3s"].iter().all(|text| Course::is_one(text)));
        assert!(["rate", "rate * 2", "100", "0 1", "sine"].iter().all(|text| !Course::is_one(text)));
        for (text, said) in [
            ("0s 1, 5x 2", "'5x' is no time"),
            ("2s 1, 1s 2", "not in order"),
            ("0s 1, 5s 2, every 2s", "before its last point"),
            ("0s 1, every 2s, 3s 1", "`every` comes last"),
            ("0s 1 2", "is not a moment and a value"),
            ("0s -1", "0 or more"),
            ("0s inf", "'inf' is no number"),
            ("inf", "0 or more"),
            ("sine 1 to 2", "two values and a time"),
            ("sine 1 to 2 every 0s", "more than 0 s"),
        ] {
            let error = format!("{:#}", Course::parse(text).unwrap_err());
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
