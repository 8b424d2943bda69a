//! Spellings of one value of a setting: `6GB` and `6144MB`, `128M` and `134217728`, `1GB` and `953.6 MiB`.

use super::SettingSyntax;

/// The quantity that a unit of PostgreSQL measures.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Dimension {
    /// In bytes.
    Memory,
    /// In microseconds.
    Time,
    /// A bare number.
    None,
}

/// PostgreSQL's units and what they are in those of their kind:
/// <https://www.postgresql.org/docs/current/config-setting.html>.
const UNITS: [(&str, Dimension, f64); 12] = [
    ("", Dimension::None, 1.0),
    ("B", Dimension::Memory, 1.0),
    ("kB", Dimension::Memory, 1024.0),
    ("MB", Dimension::Memory, 1024.0 * 1024.0),
    ("GB", Dimension::Memory, 1024.0 * 1024.0 * 1024.0),
    ("TB", Dimension::Memory, 1024.0 * 1024.0 * 1024.0 * 1024.0),
    ("us", Dimension::Time, 1.0),
    ("ms", Dimension::Time, 1e3),
    ("s", Dimension::Time, 1e6),
    ("min", Dimension::Time, 60e6),
    ("h", Dimension::Time, 3_600e6),
    ("d", Dimension::Time, 86_400e6),
];

impl SettingSyntax {
    /// True if a value found is the one asked for. `unit` is that of the setting's bare numbers, if it has one.
    pub fn means(self, asked: &str, found: &str, unit: Option<&str>) -> bool {
        asked.eq_ignore_ascii_case(found)
            || match self {
                SettingSyntax::Postgres => {
                    quantity(asked, unit).is_some_and(|asked| quantity(found, unit) == Some(asked))
                }
                SettingSyntax::MySql => {
                    switch(asked).is_some_and(|asked| switch(found) == Some(asked))
                        || amount(asked).is_some_and(|asked| amount(found) == Some(asked))
                }
                SettingSyntax::Duckdb => is_cut_off(asked, found),
                SettingSyntax::Pragma => false,
            }
    }
}

/// True if a value asked for can be a quantity, with a unit or without.
pub fn may_have_unit(value: &str) -> bool {
    value.trim_start().starts_with(|letter: char| letter.is_ascii_digit() || letter == '-' || letter == '.')
}

fn quantity(text: &str, unit: Option<&str>) -> Option<(Dimension, f64)> {
    let (number, name) = split(text.trim());
    let number: f64 = number.parse().ok()?;
    let (dimension, factor) = match (name, unit) {
        ("", Some(unit)) => factor_of(unit)?,
        (name, _) => factor_of(name)?,
    };
    Some((dimension, number * factor))
}

/// A unit, which may include a factor, as `8kB`.
fn factor_of(unit: &str) -> Option<(Dimension, f64)> {
    let (number, name) = split(unit);
    let factor: f64 = if number.is_empty() { 1.0 } else { number.parse().ok()? };
    UNITS
        .iter()
        .find(|(known, _, _)| *known == name)
        .map(|(_, dimension, value)| (*dimension, factor * value))
}

/// Cuts a text where the letters begin.
fn split(text: &str) -> (&str, &str) {
    let end = text.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(text.len());
    (text[..end].trim(), &text[end..])
}

/// A switch of MySQL, of which the server's variables read as 1 or as `ON`.
fn switch(value: &str) -> Option<bool> {
    match value.to_ascii_lowercase().as_str() {
        "on" | "true" | "1" => Some(true),
        "off" | "false" | "0" => Some(false),
        _ => None,
    }
}

/// A number with the suffixes that MySQL takes on its command line: K, M, G, T for powers of 1024.
fn amount(value: &str) -> Option<i128> {
    let (digits, factor) = match value.as_bytes().last()?.to_ascii_lowercase() {
        b'k' => (&value[..value.len() - 1], 1 << 10),
        b'm' => (&value[..value.len() - 1], 1 << 20),
        b'g' => (&value[..value.len() - 1], 1 << 30),
        b't' => (&value[..value.len() - 1], 1_i128 << 40),
        _ => (value, 1),
    };
    digits.parse::<i128>().ok()?.checked_mul(factor)
}

/// A value that MySQL's SET takes only without quotes, as it takes it.
pub fn number(value: &str) -> Option<String> {
    let is_fraction = |value: &str| {
        value.split_once('.').is_some_and(|(whole, part)| {
            let digits = |text: &str| !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
            digits(whole.trim_start_matches('-')) && digits(part)
        })
    };
    amount(value).map(|amount| amount.to_string()).or_else(|| is_fraction(value).then(|| value.to_owned()))
}

/// DuckDB reports a size with one decimal, cut off, as `953.6 MiB` for 1GB.
fn is_cut_off(asked: &str, found: &str) -> bool {
    let (Some((asked, _)), Some((found, unit))) = (size(asked), size(found)) else { return false };
    let missing = asked - found;
    -1.0 < missing && missing < 0.1 * unit
}

/// A size of DuckDB in bytes, and its unit.
fn size(text: &str) -> Option<(f64, f64)> {
    let (number, unit) = split(text.trim());
    let unit = unit.to_ascii_uppercase();
    let factor = match unit.as_bytes() {
        b"" | b"B" => 1.0,
        [letter, rest @ ..] => {
            let power = "KMGT".find(char::from(*letter))? as i32 + 1;
            match rest {
                b"B" => 1000_f64.powi(power),
                b"IB" => 1024_f64.powi(power),
                _ => return None,
            }
        }
    };
    Some((number.parse::<f64>().ok()? * factor, factor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_of_postgresql_has_many_spellings() {
        let means = |asked, found, unit| SettingSyntax::Postgres.means(asked, found, unit);
        assert!(means("6144MB", "6GB", Some("8kB")));
        assert!(means("16384", "128MB", Some("8kB")));
        assert!(means("300", "5min", Some("s")));
        assert!(means("0.5h", "30min", Some("s")));
        assert!(means("1.10", "1.1", None));
        assert!(means("-1", "-1", Some("8kB")));
        assert!(means("ON", "on", None));
        assert!(!means("6GB", "6MB", Some("8kB")));
        assert!(!means("5min", "5MB", None));
        assert!(!means("on", "off", None));
        assert!(!means("1 potato", "1", None));
    }

    #[test]
    fn one_value_of_mysql_has_many_spellings() {
        let means = |asked, found| SettingSyntax::MySql.means(asked, found, None);
        assert!(means("128M", "134217728"));
        assert!(means("ON", "1") && means("0", "OFF"));
        assert!(means("myisam", "MyISAM"));
        assert!(!means("128M", "134217727") && !means("ON", "0") && !means("Aria", "InnoDB"));
        assert_eq!((amount("-1"), amount("1x"), amount("")), (Some(-1), None, None));
    }

    #[test]
    fn mysql_takes_numbers_without_quotes() {
        let numbers = ["4M", "-1", "0.5", "ON", "1.x", ".5", ""].map(number);
        let expected = [Some("4194304"), Some("-1"), Some("0.5"), None, None, None, None];
        assert_eq!(numbers, expected.map(|number| number.map(str::to_owned)));
    }

    #[test]
    fn a_size_of_duckdb_is_cut_off() {
        let means = |asked, found| SettingSyntax::Duckdb.means(asked, found, None);
        assert!(means("1GB", "953.6 MiB") && means("512MiB", "512.0 MiB") && means("4", "4"));
        assert!(!means("1GB", "953.5 MiB") && !means("1GB", "953.7 MiB") && !means("2", "4"));
        assert!(!means("1 potato", "1 B"));
    }
}
