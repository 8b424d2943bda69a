//! Values with units, as `64MB`, `5min` or `4` (in units of the setting's own, as 8kB).
//!
//! See <https://www.postgresql.org/docs/current/config-setting.html>.

/// The quantity that a unit measures.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// In bytes.
    Memory,
    /// In microseconds.
    Time,
    /// A bare number.
    None,
}

/// The units and what they are in those of their kind.
const UNITS: [(&str, Kind, f64); 12] = [
    ("", Kind::None, 1.0),
    ("B", Kind::Memory, 1.0),
    ("kB", Kind::Memory, 1024.0),
    ("MB", Kind::Memory, 1024.0 * 1024.0),
    ("GB", Kind::Memory, 1024.0 * 1024.0 * 1024.0),
    ("TB", Kind::Memory, 1024.0 * 1024.0 * 1024.0 * 1024.0),
    ("us", Kind::Time, 1.0),
    ("ms", Kind::Time, 1e3),
    ("s", Kind::Time, 1e6),
    ("min", Kind::Time, 60e6),
    ("h", Kind::Time, 3_600e6),
    ("d", Kind::Time, 86_400e6),
];

/// Returns true if two spellings are one value of a setting whose bare numbers are in `unit`.
pub fn are_equal(a: &str, b: &str, unit: Option<&str>) -> bool {
    match (amount(a, unit), amount(b, unit)) {
        (Some(a), Some(b)) => a == b,
        _ => false,
    }
}

fn amount(text: &str, unit: Option<&str>) -> Option<(Kind, f64)> {
    let (number, name) = split(text.trim());
    let number: f64 = number.parse().ok()?;
    let (kind, factor) = match (name, unit) {
        ("", Some(unit)) => of(unit)?,
        (name, _) => of(name)?,
    };
    Some((kind, number * factor))
}

/// A unit, which may include a factor, as `8kB`.
fn of(unit: &str) -> Option<(Kind, f64)> {
    let (number, name) = split(unit);
    let factor: f64 = if number.is_empty() { 1.0 } else { number.parse().ok()? };
    UNITS.iter().find(|(known, _, _)| *known == name).map(|(_, kind, value)| (*kind, factor * value))
}

/// Cuts a text where the letters begin.
fn split(text: &str) -> (&str, &str) {
    let end = text.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(text.len());
    (text[..end].trim(), &text[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_has_many_spellings() {
        assert!(are_equal("6144MB", "6GB", Some("8kB")));
        assert!(are_equal("16384", "128MB", Some("8kB")));
        assert!(are_equal("300", "5min", Some("s")));
        assert!(are_equal("0.5h", "30min", Some("s")));
        assert!(are_equal("1.10", "1.1", None));
        assert!(are_equal("-1", "-1", Some("8kB")));
    }

    #[test]
    fn other_values_differ() {
        assert!(!are_equal("6GB", "6MB", Some("8kB")));
        assert!(!are_equal("5min", "5MB", None));
        assert!(!are_equal("on", "off", None));
        assert!(!are_equal("1 potato", "1", None));
    }
}
