//! Durations of operations, as a histogram that every language can read.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An HdrHistogram of nanoseconds with three significant digits, in its own compressed encoding of version 2 and as
/// base64: what `encodeIntoCompressedByteBuffer` of HdrHistogram's Java library makes, and those of Go, Python and others.
/// See <https://hdrhistogram.github.io/HdrHistogram/>. Empty: nothing was timed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Response(pub String);

/// The error for a text that is not a histogram.
#[derive(Debug, thiserror::Error)]
#[error("'{0}' is no histogram in HdrHistogram's compressed encoding")]
pub struct NoHistogram(String);

/// The longest duration that is distinguished from longer ones: one hour, in nanoseconds.
const LONGEST: u64 = 3_600_000_000_000;

/// The number of characters that a message quotes of a text that is not a histogram.
const QUOTED: usize = 40;

/// An empty histogram of durations with this number of significant digits, with all of its memory reserved.
///
/// # Panics
/// The digits are not 1 to 5.
pub fn empty_histogram(digits: u8) -> Histogram<u64> {
    Histogram::new_with_bounds(1, LONGEST, digits).expect("the bounds are constants that are fine")
}

/// The time below which a share of some operations stayed, in nanoseconds: of those that were `done`, and of others that
/// had no success and count as slower than all that were done. If the share includes some of these, it is the longest
/// time of one that was done. `None` if no operation was done.
pub fn quantile(done: &Histogram<u64>, share: f64, never: u64) -> Option<u64> {
    let all = done.len() + never;
    let among = if never == 0 { share } else { share * all as f64 / done.len() as f64 };
    (!done.is_empty()).then(|| done.value_at_quantile(among.min(1.0)))
}

impl Response {
    /// A histogram as text.
    pub fn of(histogram: &Histogram<u64>) -> Response {
        if histogram.is_empty() {
            return Response::default();
        }
        let mut bytes = Vec::new();
        // Writing to memory cannot fail, and neither can compressing to it.
        let _ = V2DeflateSerializer::new().serialize(histogram, &mut bytes);
        Response(BASE64_STANDARD.encode(&bytes))
    }

    /// The histogram; `None` if nothing was timed.
    ///
    /// # Errors
    /// The text is no histogram.
    pub fn histogram(&self) -> Result<Option<Histogram<u64>>, NoHistogram> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let unreadable = || NoHistogram(self.0.chars().take(QUOTED).collect());
        let bytes = BASE64_STANDARD.decode(&self.0).map_err(|_| unreadable())?;
        Deserializer::new().deserialize(&mut bytes.as_slice()).map(Some).map_err(|_| unreadable())
    }

    /// Several histograms as one; `None` if nothing was timed. A text that is not a histogram adds nothing: readers of
    /// run files have refused it before.
    pub fn merged<'r>(responses: impl IntoIterator<Item = &'r Response>) -> Option<Histogram<u64>> {
        let histograms = responses.into_iter().filter_map(|response| response.histogram().ok().flatten());
        histograms.reduce(|mut sum, histogram| {
            // Adding cannot fail: all histograms have the same bounds.
            let _ = sum.add(histogram);
            sum
        })
    }

    /// Adds what another has counted.
    pub fn add(&mut self, other: &Response) {
        if self.is_empty() {
            self.clone_from(other);
        } else if !other.is_empty() {
            *self =
                Response::merged([&*self, other]).map_or_else(Response::default, |sum| Response::of(&sum));
        }
    }

    /// True if nothing was timed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_is_the_same_after_its_way_through_text() {
        let mut histogram = empty_histogram(3);
        for nanoseconds in [1, 999, 1_000_000, 1_000_001, 3_600_000_000_000] {
            histogram.record(nanoseconds).unwrap();
        }
        let response = Response::of(&histogram);
        assert!(response.0.starts_with("HISTFAAA"), "{response:?}");
        assert_eq!(response.histogram().unwrap().unwrap(), histogram);
        let twice = Response::merged([&response, &Response::default(), &response]).unwrap();
        assert_eq!((twice.len(), twice.count_at(999)), (10, 2));
        histogram.clear();
        assert!(Response::of(&histogram).is_empty());
        assert!(Response::default().histogram().unwrap().is_none());
    }

    #[test]
    fn shares_merge_to_the_histogram_of_one_process_bucket_by_bucket() {
        let mut one = empty_histogram(3);
        let mut shares = [empty_histogram(3), empty_histogram(3), empty_histogram(3)];
        // Durations from 1 ns to an hour, some of them often, in turns of unequal length.
        for at in 0..10_000_u64 {
            let nanoseconds = (1 << (at * 7 % 42)) | (at * at % 997);
            let nanoseconds = nanoseconds.min(LONGEST);
            one.record(nanoseconds).unwrap();
            shares[usize::from(at % 5 > 0) + usize::from(at % 11 > 7)].record(nanoseconds).unwrap();
        }
        let shares = shares.map(|share| Response::of(&share));
        let merged = Response::merged(&shares).unwrap();
        assert_eq!(merged, one);
        let buckets = |histogram: &Histogram<u64>| {
            let recorded = histogram.iter_recorded();
            recorded.map(|at| (at.value_iterated_to(), at.count_at_value())).collect::<Vec<_>>()
        };
        assert_eq!(buckets(&merged), buckets(&one));
        let mut sum = Response::default();
        shares.iter().for_each(|share| sum.add(share));
        assert_eq!(sum, Response::of(&one));
    }

    #[test]
    fn what_other_libraries_encode_is_read() {
        // Of Go's hdrhistogram-go: 1 to 1,000 ns, and two seconds.
        let text = "HISTFAAAADN42pJpmSzMwMD8lgECmKE0IwMDs5vBjgUM9h+gIkyjYBSMgmEPJp9jYgIEAAD//2ILDnA=";
        let histogram = Response(text.into()).histogram().unwrap().unwrap();
        assert_eq!((histogram.len(), histogram.value_at_quantile(0.5)), (1001, 501));
        assert!((1_999_000_000..2_001_000_000).contains(&histogram.max()));
    }

    #[test]
    fn what_was_never_done_is_slower_than_all_that_was() {
        let mut done = empty_histogram(3);
        (1..=900).for_each(|nanoseconds| done.record(nanoseconds).unwrap());
        assert_eq!(quantile(&done, 0.9, 0), Some(810));
        // Of a thousand operations 90 % are those that were done, and 99 % are more than those.
        assert_eq!([0.5, 0.9, 0.99].map(|share| quantile(&done, share, 100)), [500, 900, 900].map(Some));
        assert_eq!(quantile(&empty_histogram(3), 0.5, 7), None);
    }

    #[test]
    fn text_that_is_not_a_histogram_is_refused() {
        let said = Response("rubbish".into()).histogram().unwrap_err().to_string();
        assert!(said.contains("'rubbish' is no histogram"), "{said}");
    }
}
