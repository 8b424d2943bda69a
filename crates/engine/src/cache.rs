//! The cache that an engine manages itself: how its size is set, and how it is read.

use dyno_protocol::{InForce, Setting};
use dyno_record::OwnCache;
use serde::Deserialize;

/// The setting with the size of a page, for engines that report their cache in pages.
const PAGE: &str = "page_size";
/// Placeholders for a size in a value, and the number of bits by which their unit exceeds a byte.
const UNITS: [(&str, u32); 3] = [("{bytes}", 0), ("{kib}", 10), ("{mib}", 20)];

/// The setting for the size of a cache, and the form of its value.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheKnob {
    /// The setting's name.
    pub(crate) setting: String,
    /// Its value, with `{bytes}`, `{kib}` or `{mib}` where the size goes.
    value: String,
}

impl CacheKnob {
    /// The setting for a cache of this size in bytes.
    pub fn of(&self, bytes: u64) -> Setting {
        let fill =
            |value: String, (unit, shift): (&str, u32)| value.replace(unit, &(bytes >> shift).to_string());
        Setting { name: self.setting.clone(), value: UNITS.into_iter().fold(self.value.clone(), fill) }
    }

    /// The cache that is in force, where what was read back has the form of what is set, or is a number of pages.
    /// `asked` are the settings asked for.
    pub fn read(&self, asked: &[Setting], in_force: &[InForce]) -> Option<OwnCache> {
        let value =
            |name: &str| in_force.iter().find(|known| known.name == name).map(|known| known.value.as_str());
        let reported = value(&self.setting)?;
        let by_form = UNITS.into_iter().find_map(|(unit, shift)| {
            let (before, after) = self.value.split_once(unit)?;
            let number: u64 = reported.strip_prefix(before)?.strip_suffix(after)?.parse().ok()?;
            number.checked_shl(shift)
        });
        let by_pages = || reported.parse::<u64>().ok()?.checked_mul(value(PAGE)?.parse().ok()?);
        let bytes = by_form.or_else(by_pages)?;
        Some(OwnCache { bytes, default: !asked.iter().any(|setting| setting.name == self.setting) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(value: &str, reported: &str, page: Option<&str>) -> Option<u64> {
        let knob = CacheKnob { setting: "cache_size".into(), value: value.into() };
        let in_force = |name: &str, value: &str| InForce { name: name.into(), value: value.into() };
        let page = page.map(|page| in_force(PAGE, page));
        let all: Vec<InForce> = [in_force("cache_size", reported)].into_iter().chain(page).collect();
        knob.read(&[], &all).map(|cache| cache.bytes)
    }

    #[test]
    fn what_was_set_is_read() {
        for value in ["{bytes}", "-{kib}", "{mib}MiB"] {
            let knob = CacheKnob { setting: "cache_size".into(), value: value.into() };
            assert_eq!(read(value, &knob.of(64 << 20).value, None), Some(64 << 20), "{value}");
        }
    }

    #[test]
    fn pages_count_as_large_as_they_are() {
        assert_eq!(read("-{kib}", "2000", Some("4096")), Some(8_192_000));
        assert_eq!(read("-{kib}", "-2000", Some("4096")), Some(2_048_000));
        assert_eq!(read("-{kib}", "2000", None), None);
        assert_eq!(read("{mib}MiB", "12.3 GiB", None), None);
    }

    #[test]
    fn a_default_was_not_asked_for() {
        let knob = CacheKnob { setting: "cache_size".into(), value: "{bytes}".into() };
        let in_force = [InForce { name: "cache_size".into(), value: "4096".into() }];
        let default = |asked: &[Setting]| knob.read(asked, &in_force).map(|cache| cache.default);
        assert_eq!(default(&[]), Some(true));
        assert_eq!(default(&[knob.of(4096)]), Some(false));
    }
}
