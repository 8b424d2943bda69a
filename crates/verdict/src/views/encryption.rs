//! The cost of encryption: each contender that encrypts over the same engine and driver unencrypted, test by test and
//! as a geometric mean.

use dyno_record::{ContenderRecord, Run};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::against::{Against, mark_significant};
use crate::test_verdict::TestVerdict;

/// The pages of a database that was searched for plaintext, of an engine that reports their size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EncryptedPages {
    /// The contender, by its position in the run.
    pub contender: usize,
    /// The largest number of pages that was seen.
    pub pages: u64,
    /// The size of one, in bytes.
    pub page_bytes: u64,
}

/// The overheads of a run's encrypted contenders, in their order.
pub(super) fn overheads(run: &Run, tests: &[TestVerdict]) -> Vec<Against> {
    let shown: Vec<(usize, &ContenderRecord)> = run.shown_contenders().collect();
    let encrypted = shown.iter().filter(|(_, contender)| encrypts(contender) == Some(true));
    let pairs = encrypted.filter_map(|&(index, contender)| {
        let is_plain = |other: &ContenderRecord| {
            encrypts(other) == Some(false)
                && (&other.engine, &other.driver) == (&contender.engine, &contender.driver)
        };
        // If several qualify, the first of those that are equally safe and whose other settings differ least. If a file
        // system lowers the level, that is part of its price.
        let is_as_safe =
            |other: &ContenderRecord| contender.file_system.is_some() || level(other) == level(contender);
        let unlike = |other: &ContenderRecord| (!is_as_safe(other), differing(other, contender));
        let plain = shown.iter().filter(|(_, other)| is_plain(other));
        Some((index, plain.min_by_key(|(_, other)| unlike(other))?.0))
    });
    let against =
        pairs.map(|(contender, over)| Against::new(run, tests, contender, over, TestVerdict::is_of_means));
    let mut overheads: Vec<Against> = against.collect();
    mark_significant(run, tests, &mut overheads, TestVerdict::is_of_means);
    overheads
}

/// The sizes of the databases that were searched for plaintext.
pub(super) fn pages(run: &Run) -> Vec<EncryptedPages> {
    let looked = run.shown_contenders().filter(|(_, contender)| contender.proof.is_some());
    let of = |(index, contender): (usize, &ContenderRecord)| {
        let settings = contender.hello.iter().flat_map(|hello| &hello.settings);
        let mut sizes = settings.filter(|setting| setting.name == "page_size");
        let page_bytes = sizes.find_map(|setting| setting.value.parse().ok()).filter(|&size| size > 0)?;
        let trials = run.trials.iter().filter(|trial| trial.contender == index);
        let largest =
            trials.flat_map(|trial| &trial.samples).map(|sample| sample.sample.database_bytes).max()?;
        (largest > 0).then(|| EncryptedPages { contender: index, pages: largest / page_bytes, page_bytes })
    };
    looked.filter_map(of).collect()
}

/// The number of settings that one contender asks for and the other does not.
fn differing(one: &ContenderRecord, other: &ContenderRecord) -> usize {
    let lacks = |one: &ContenderRecord, other: &ContenderRecord| {
        one.asked.iter().filter(|setting| !other.asked.contains(setting)).count()
    };
    lacks(one, other) + lacks(other, one)
}

fn encrypts(contender: &ContenderRecord) -> Option<bool> {
    contender.proof.as_ref().map(|proof| proof.encrypts)
}

fn level(contender: &ContenderRecord) -> Option<dyno_record::Level> {
    contender.safety.as_ref().map(|safety| safety.level)
}
