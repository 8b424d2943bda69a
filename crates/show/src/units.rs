//! Quantities as people read them: three significant digits and a unit.

use std::fmt;

/// Digits and what follows them.
pub(crate) struct Scaled {
    pub digits: String,
    /// The unit, with a space before it where one belongs there.
    pub unit: String,
}

impl fmt::Display for Scaled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.digits, self.unit)
    }
}

/// A duration from nanoseconds: `1.23 ms`.
pub fn duration(nanoseconds: f64) -> String {
    in_time(nanoseconds).to_string()
}

pub(crate) fn in_time(nanoseconds: f64) -> Scaled {
    scaled(nanoseconds, 1000.0, &[" ns", " µs", " ms", " s"])
}

/// A duration for people, in nanoseconds, or a dash where it is missing.
pub fn duration_or_dash(nanoseconds: Option<f64>) -> String {
    nanoseconds.map_or("–".into(), duration)
}

/// A size from bytes: `1.23 MiB`.
pub fn bytes(bytes: f64) -> String {
    scaled(bytes, 1024.0, &[" B", " KiB", " MiB", " GiB", " TiB"]).to_string()
}

/// A number of events in a second: `1.23M/s`.
pub fn rate(per_second: f64) -> String {
    in_a_second(per_second).to_string()
}

pub(crate) fn in_a_second(per_second: f64) -> Scaled {
    scaled(per_second, 1000.0, &["/s", "k/s", "M/s", "G/s"])
}

/// Bytes a second in the units that disks are sold by: `12.3 MB/s`.
pub fn throughput(bytes_per_second: f64) -> String {
    scaled(bytes_per_second, 1000.0, &[" B/s", " kB/s", " MB/s", " GB/s"]).to_string()
}

/// A ratio: `0.0691×`.
pub fn ratio(ratio: f64) -> String {
    format!("{}×", significant(ratio))
}

/// The excess of a factor over one: 18%, or "a factor of 2.27" from two on.
pub fn excess(factor: f64) -> String {
    if factor < 2.0 { percent(factor - 1.0) } else { format!("a factor of {}", significant(factor)) }
}

/// A share of one as a percentage: `3%`, `0.4%`.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent == 0.0 {
        "0%".into()
    } else if percent.abs() < 0.95 {
        format!("{percent:.1}%")
    } else {
        format!("{percent:.0}%")
    }
}

/// A whole number with commas: `16,384`.
pub fn whole(number: u64) -> String {
    let digits = number.to_string();
    let comma = |place: usize| place > 0 && (digits.len() - place).is_multiple_of(3);
    let with_commas = digits
        .chars()
        .enumerate()
        .flat_map(|(place, digit)| comma(place).then_some(',').into_iter().chain([digit]));
    with_commas.collect()
}

/// A ratio as a change in percent: `+12%`, `−3%`.
pub(crate) fn signed_percent(ratio: f64) -> String {
    format!("{}{}", if ratio >= 1.0 { "+" } else { "−" }, percent((ratio - 1.0).abs()))
}

/// Three significant digits, never in exponential form.
pub fn significant(number: f64) -> String {
    if number == 0.0 || !number.is_finite() {
        return format!("{number}");
    }
    // Rounded before its digits are counted: 0.9996 is shown as 1.00 and gets as many decimals.
    let rounded: f64 = format!("{number:.2e}").parse().unwrap_or(number);
    let magnitude = rounded.abs().log10().floor();
    let decimals = (2.0 - magnitude).clamp(0.0, 12.0) as usize;
    format!("{number:.decimals$}")
}

/// A sentence in which no line ends between a figure and its unit.
pub(crate) fn unbroken(sentence: &str) -> String {
    const UNITS: [&str; 14] =
        ["%", "ns", "µs", "ms", "s", "B", "KiB", "MiB", "GiB", "TiB", "B/s", "kB/s", "MB/s", "GB/s"];
    let mut set = String::with_capacity(sentence.len());
    for word in sentence.split_inclusive(' ') {
        let unit = word.trim_end_matches([' ', ',', '.', ';', ':', ')']);
        let is_figure = |before: &str| before.ends_with(|last: char| last.is_ascii_digit());
        if UNITS.contains(&unit) && set.strip_suffix(' ').is_some_and(is_figure) {
            set.pop();
            set.push('\u{a0}');
        }
        set.push_str(word);
    }
    set
}

fn scaled(mut number: f64, step: f64, units: &[&str]) -> Scaled {
    let mut unit = 0;
    // A number that would be rounded up to the next unit is shown in that unit.
    while number >= step * 0.9995 && unit + 1 < units.len() {
        number /= step;
        unit += 1;
    }
    Scaled { digits: significant(number), unit: units[unit].to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_three_digits_and_a_unit() {
        assert_eq!(
            [7, 999, 1_000, 16_384, 1_234_567].map(whole),
            ["7", "999", "1,000", "16,384", "1,234,567"]
        );
        assert_eq!(duration(312_345_678.0), "312 ms");
        assert_eq!(duration(999.6), "1.00 µs");
        assert_eq!(duration(61_234_000_000.0), "61.2 s");
        assert_eq!(duration(0.0), "0 ns");
        assert_eq!(bytes(1536.0), "1.50 KiB");
        assert_eq!(rate(1_234_567.0), "1.23M/s");
        assert_eq!(rate(85.0), "85.0/s");
        assert_eq!(throughput(12_345_678.0), "12.3 MB/s");
        assert_eq!(ratio(0.069_12), "0.0691×");
        assert_eq!(ratio(12.0), "12.0×");
        assert_eq!(percent(0.034), "3%");
        assert_eq!(percent(0.004), "0.4%");
    }

    #[test]
    fn units_stay_with_their_figures() {
        assert_eq!(
            unbroken("A 95 % interval, in 88.3 s; (5 ms) of 7 s or s."),
            "A 95\u{a0}% interval, in 88.3\u{a0}s; (5\u{a0}ms) of 7\u{a0}s or s."
        );
        assert_eq!(unbroken("% of 2  s"), "% of 2  s");
    }
}
