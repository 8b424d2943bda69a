//! Fields that are written in another way than databases read: dates by a form, numbers with a decimal comma, booleans.

use anyhow::{Result, bail};

/// The conversion of a column's fields into the form that the database reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rewrite {
    /// They are that already.
    None,
    /// `true`, `no`, `t`, … become 1 and 0.
    Boolean,
    /// `1.234,5` becomes 1234.5.
    Comma,
    /// A date of a form such as `DD.MM.YYYY` becomes `YYYY-MM-DD`.
    Date(String),
}

/// The form in which databases read dates.
const ISO: &str = "YYYY-MM-DD";

impl Rewrite {
    /// The type that a word such as `DATE(DD.MM.YYYY)`, `REAL(,)` or `BOOLEAN` means, and how its fields become that.
    /// `checks_dates` says that the database takes any text for a date.
    ///
    /// # Errors
    /// The form of a date has not all of YYYY, MM and DD.
    pub fn of(declared: &str, checks_dates: bool) -> Result<(String, Rewrite)> {
        let upper = declared.to_ascii_uppercase();
        let form = upper.strip_prefix("DATE(").and_then(|rest| rest.strip_suffix(')'));
        Ok(match (upper.as_str(), form) {
            ("BOOLEAN" | "BOOL", _) => ("BOOLEAN".to_owned(), Rewrite::Boolean),
            ("REAL(,)", _) => ("REAL".to_owned(), Rewrite::Comma),
            ("DATE", _) if checks_dates => ("DATE".to_owned(), Rewrite::Date(ISO.to_owned())),
            (_, Some(form)) => {
                if !is_form(form) {
                    bail!(
                        "'{declared}' is no form of a date: write YYYY, MM and DD once each and no other Y, M or D, as in \
                         DATE(DD.MM.YYYY)"
                    );
                }
                ("DATE".to_owned(), Rewrite::Date(form.to_owned()))
            }
            _ => (declared.to_owned(), Rewrite::None),
        })
    }

    /// The field as the database reads it; None if it is not of this kind. An empty field stays empty.
    pub fn apply(&self, field: &[u8]) -> Option<Vec<u8>> {
        if field.is_empty() {
            return Some(Vec::new());
        }
        let text = std::str::from_utf8(field).ok()?;
        match self {
            Rewrite::None => Some(field.to_vec()),
            Rewrite::Boolean => match text.to_ascii_lowercase().as_str() {
                "true" | "t" | "yes" | "y" | "on" | "1" => Some(b"1".to_vec()),
                "false" | "f" | "no" | "n" | "off" | "0" => Some(b"0".to_vec()),
                _ => None,
            },
            Rewrite::Comma => number(text),
            Rewrite::Date(form) => date(form, text),
        }
    }

    /// The form that a field must have to be converted.
    pub fn wants(&self) -> String {
        match self {
            Rewrite::None => "is any text".to_owned(),
            Rewrite::Boolean => "is no boolean: true and false, yes and no, t and f, 1 and 0 are".to_owned(),
            Rewrite::Comma => "is no number with a decimal comma".to_owned(),
            Rewrite::Date(form) => format!("is no date of the form {form}"),
        }
    }
}

/// A number whose points, if any, come before each three digits of its whole part.
fn number(text: &str) -> Option<Vec<u8>> {
    let (whole, part) = text.split_once(',').map_or((text, None), |(whole, part)| (whole, Some(part)));
    let mut groups = whole.split('.');
    let first = groups.next()?;
    let is_grouped = groups.all(|group| group.len() == 3 && group.bytes().all(|byte| byte.is_ascii_digit()));
    if !is_grouped
        || whole.contains('.') && !(1..=3).contains(&first.trim_start_matches('-').len())
        || text.matches(',').count() > 1
    {
        return None;
    }
    let whole = whole.replace('.', "");
    let number = part.map_or(whole.clone(), |part| format!("{whole}.{part}"));
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit() || b"-.".contains(&byte));
    is_number.then(|| number.into_bytes())
}

/// True if a form has a year, a month and a day once each. Another Y, M or D is a slip such as DDD.
fn is_form(form: &str) -> bool {
    let parts = ["YYYY", "MM", "DD"];
    let others = parts.iter().fold(form.to_owned(), |rest, part| rest.replacen(part, "", 1));
    parts.iter().all(|part| form.contains(part)) && !others.contains(['Y', 'M', 'D'])
}

/// A date of the calendar.
fn date(form: &str, text: &str) -> Option<Vec<u8>> {
    if form.len() != text.len() {
        return None;
    }
    let part = |name: &str| -> Option<u32> {
        let at = form.find(name)?;
        let digits = text.get(at..at + name.len())?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
    };
    let others = form.bytes().zip(text.bytes()).filter(|(form, _)| !b"YMD".contains(form));
    let (year, month, day) = (part("YYYY")?, part("MM")?, part("DD")?);
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        2 => 28 + u32::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    let is_date = (1..=12).contains(&month) && (1..=days).contains(&day);
    let is_formed = others.clone().all(|(form, byte)| form.eq_ignore_ascii_case(&byte));
    (is_date && is_formed).then(|| format!("{year:04}-{month:02}-{day:02}").into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(declared: &str, field: &str) -> Option<String> {
        let (_, rewrite) = Rewrite::of(declared, true).unwrap();
        rewrite.apply(field.as_bytes()).map(|text| String::from_utf8(text).unwrap())
    }

    #[test]
    fn fields_become_what_databases_read() {
        for (declared, field, wanted) in [
            ("boolean", "Yes", Some("1")),
            ("BOOL", "f", Some("0")),
            ("BOOLEAN", "2", None),
            ("REAL(,)", "-1.234.567,5", Some("-1234567.5")),
            ("REAL(,)", "12,5", Some("12.5")),
            ("REAL(,)", "7", Some("7")),
            ("REAL(,)", "1.5", None),
            ("REAL(,)", "-,5", Some("-.5")),
            ("REAL(,)", ".123", None),
            ("REAL(,)", "-.123,5", None),
            ("REAL(,)", "1234.567", None),
            ("REAL(,)", "1,5,6", None),
            ("DATE(DD.MM.YYYY)", "29.02.2024", Some("2024-02-29")),
            ("DATE(DD.MM.YYYY)", "29.02.2023", None),
            ("DATE(DD.MM.YYYY)", "1.2.2024", None),
            ("date(mm/dd/yyyy)", "12/31/1999", Some("1999-12-31")),
            ("DATE", "2024-13-01", None),
            ("DATE", "", Some("")),
            ("TEXT", "x", Some("x")),
        ] {
            assert_eq!(rewritten(declared, field).as_deref(), wanted, "{declared}: {field}");
        }
        for declared in ["DATE(DD.MM)", "DATE(DD.MM.YYYYD)", "DATE(DDD.MM.YYYY)", "DATE(DD.MM.YYYY DD)"] {
            assert!(Rewrite::of(declared, true).is_err(), "{declared}");
        }
        assert_eq!(Rewrite::of("DATE", false).unwrap().1, Rewrite::None);
    }
}
