//! Durations of operations, second by second, as a log of HdrHistograms that other tools read.

use std::time::Duration;

use anyhow::{Context, Result};
use dyno_protocol::{Sample, Tick};
use dyno_record::{Run, Seals};
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, IntervalLogWriterError, Tag};

use super::rows::trials;

/// The log gives maxima in milliseconds, as its readers expect, and histograms in nanoseconds.
const NANOSECONDS_PER_MAX: f64 = 1e6;

/// The log of some runs, and the number of its intervals. A sample of a mix that lasts a time has one for each second
/// of each class, and any other sample whose operations were timed has one for each class. Each class of a contender
/// has a tag; its trials follow one another.
///
/// # Errors
/// A histogram cannot be read.
pub fn log(runs: &[(String, Run)], all: bool) -> Result<(usize, Vec<u8>)> {
    let (mut bytes, mut serializer, mut count) = (Vec::new(), V2DeflateSerializer::new(), 0);
    let mut builder = IntervalLogWriterBuilder::new();
    builder.add_comment("dyno: durations of operations in nanoseconds; a tag is contender/test/class, its trials one after another");
    for (name, run) in runs.iter().filter(|(_, run)| run.seals != Seals::Whole) {
        builder.add_comment(&format!("{name} {}", run.seals));
    }
    builder.with_max_value_divisor(NANOSECONDS_PER_MAX);
    let mut writer = builder.begin_log_with(&mut bytes, &mut serializer)?;
    for (name, run) in runs {
        for (contender, known) in run.contenders.iter().enumerate() {
            // The tests of a contender in order, each over all trials.
            for test in &run.tests {
                let samples = trials(run, all).filter(|trial| trial.contender == contender);
                let samples = samples.flat_map(|trial| &trial.samples).map(|record| &record.sample);
                let mut start = Duration::ZERO;
                for sample in samples.filter(|sample| sample.test == test.id) {
                    for (from, until, classes) in intervals(sample) {
                        for class in classes {
                            let histogram = class.response.histogram().with_context(|| name.clone())?;
                            let Some(histogram) = histogram else { continue };
                            let tag = tag(&[&known.label, &test.id, &class.class]);
                            let tag = Tag::new(&tag).context("a tag without letters")?;
                            let written =
                                writer.write_histogram(&histogram, start + from, until - from, Some(tag));
                            written.map_err(|error| match error {
                                IntervalLogWriterError::IoError(error) => {
                                    anyhow::Error::from(error).context("cannot write a histogram")
                                }
                                IntervalLogWriterError::SerializeError(_) => {
                                    anyhow::anyhow!("a histogram of {name} cannot be encoded")
                                }
                            })?;
                            count += 1;
                        }
                    }
                    start += Duration::from_nanos(sample.section.nanoseconds);
                }
            }
        }
    }
    Ok((count, bytes))
}

/// The intervals of a sample: from, until, and the classes.
fn intervals(sample: &Sample) -> Vec<(Duration, Duration, &[dyno_protocol::Class])> {
    if sample.ticks.is_empty() {
        return vec![(Duration::ZERO, Duration::from_nanos(sample.section.nanoseconds), &sample.classes)];
    }
    let mut from = Duration::ZERO;
    let interval = |tick: &'_ Tick| {
        let until = Duration::from_nanos(tick.ended_ns);
        (std::mem::replace(&mut from, until), until)
    };
    let spans: Vec<(Duration, Duration)> = sample.ticks.iter().map(interval).collect();
    spans
        .into_iter()
        .zip(&sample.ticks)
        .map(|((from, until), tick)| (from, until, &tick.classes[..]))
        .collect()
}

/// The tag of a class: a log has no commas and no blanks in them.
fn tag(names: &[&str]) -> String {
    names.join("/").replace(|letter: char| letter == ',' || letter.is_whitespace(), ";")
}
