//! Reads samples as dyno writes them, and as the versions before protocol 2 wrote them: what the section took stood
//! flat in the sample, and durations were a list with how many operations took so long.

use dyno_protocol::{Class, Cost, Response, Sample, Section, empty_histogram};
use serde::{Deserialize, Deserializer};

use super::SampleRecord;
use crate::{ActivitySample, FunctionCounts, RateAttempt, TimeBudget};

/// The fields of a sample of either form.
#[derive(Deserialize)]
struct Form {
    #[serde(flatten)]
    sample: Sample,
    answer: usize,
    #[serde(default)]
    extrapolated_to: Option<u64>,
    #[serde(default)]
    judged_percentile: Option<f64>,
    #[serde(default)]
    due: Option<u64>,
    #[serde(default)]
    sought: Option<RateAttempt>,
    #[serde(default)]
    slices: Option<u32>,
    #[serde(default)]
    around: Vec<ActivitySample>,
    #[serde(default)]
    beat_ns: Option<f64>,
    #[serde(default)]
    budget: Option<TimeBudget>,
    #[serde(default)]
    functions: Option<FunctionCounts>,
    /// Of an earlier version only.
    nanoseconds: Option<u64>,
    #[serde(flatten)]
    client: Cost,
    #[serde(default)]
    server: Option<Cost>,
    #[serde(default)]
    latency: Vec<(u64, u64)>,
}

impl<'de> Deserialize<'de> for SampleRecord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<SampleRecord, D::Error> {
        let form = Form::deserialize(deserializer)?;
        let mut sample = form.sample;
        if let Some(nanoseconds) = form.nanoseconds {
            sample.section =
                Section { nanoseconds, client: form.client, server: form.server, ..Section::default() };
            sample.classes = class(&form.latency).into_iter().collect();
        }
        for class in &sample.classes {
            class.response.histogram().map_err(serde::de::Error::custom)?;
        }
        let Form { answer, extrapolated_to, judged_percentile, due, sought, .. } = form;
        let Form { slices, around, beat_ns, budget, functions, .. } = form;
        Ok(SampleRecord {
            sample,
            answer,
            extrapolated_to,
            judged_percentile,
            due,
            sought,
            slices,
            around,
            beat_ns,
            budget,
            functions,
        })
    }
}

/// The one class of a sample whose operations were timed.
fn class(latency: &[(u64, u64)]) -> Option<Class> {
    let mut histogram = empty_histogram(3);
    for &(nanoseconds, times) in latency {
        histogram.saturating_record_n(nanoseconds, times);
    }
    let class = Class { done: histogram.len(), response: Response::of(&histogram), ..Class::default() };
    (class.done > 0).then_some(class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_of_an_earlier_version_is_read() {
        let old = r#"{"test":"1","nanoseconds":5,"operations":4,"user_ns":3,"server":{"user_ns":2},"answer":7,
            "latency":[[1023,3],[5001215,1]]}"#;
        let record: SampleRecord = serde_json::from_str(old).unwrap();
        let section = &record.sample.section;
        assert_eq!((section.nanoseconds, section.client.user_ns, record.sample.operations), (5, 3, 4));
        assert_eq!((section.server.unwrap().user_ns, record.answer), (2, 7));
        let histogram = record.sample.classes[0].response.histogram().unwrap().unwrap();
        let steps: Vec<_> =
            histogram.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value())).collect();
        assert_eq!(steps, [(1023, 3), (5_001_215, 1)]);
        let new = serde_json::to_string(&record).unwrap();
        assert_eq!(serde_json::from_str::<SampleRecord>(&new).unwrap(), record);
    }

    #[test]
    fn a_histogram_that_is_none_is_an_error() {
        let broken = r#"{"test":"1","answer":0,"classes":[{"class":"get","done":1,"response":"HIST"}]}"#;
        let said = serde_json::from_str::<SampleRecord>(broken).unwrap_err().to_string();
        assert!(said.contains("'HIST' is no histogram"), "{said}");
    }
}
