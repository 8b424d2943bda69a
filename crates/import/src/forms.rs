//! Types of servers that take more texts than they keep: a server would round such a value, cut it or take it for
//! another one without a word. Here is what they keep.

#[cfg(test)]
mod tests;

use crate::kind::{Form, Kind};

/// True if a column of this form keeps the text, or the server refuses it. `is_value` returns true if
/// a text is a value of a kind.
pub fn fits(form: Form, text: &[u8], is_value: impl Fn(Kind, &[u8]) -> bool) -> bool {
    match form {
        Form::Date => is_endless(text) || date(text).is_some_and(is_midnight),
        Form::Time { digits, has_zone } => time(text.strip_prefix(b"-").unwrap_or(text))
            .is_some_and(|(found, rest)| found <= digits && is_zone(rest, has_zone)),
        Form::Timestamp { digits, has_zone } => {
            let is_time = |rest: &[u8]| match rest.split_first() {
                Some((b' ' | b'T' | b't', rest)) if rest.first().is_some_and(u8::is_ascii_digit) => {
                    // The server would take it for midnight of the next day.
                    !rest.starts_with(b"24:")
                        && time(rest).is_some_and(|(found, rest)| found <= digits && is_zone(rest, has_zone))
                }
                _ => rest.is_empty() || rest == b" BC",
            };
            is_endless(text) || date(text).is_some_and(is_time)
        }
        Form::Interval { digits } => is_interval(text, digits),
        Form::Padded { length, fills } => {
            let found = characters(text);
            found <= length as usize && (text.last() != Some(&b' ') || fills && found == length as usize)
        }
        Form::Bytes { least, most } => (least as usize..=most as usize).contains(&text.len()),
        Form::OneOf(words) => words.iter().any(|word| word.as_bytes() == text),
        Form::SomeOf(words) => is_some_of(words, text),
        Form::Rounded { precision, scale, is_short } => {
            let bits = if is_short { Kind::Real32 } else { Kind::Real };
            is_value(bits, text) && is_value(Kind::Decimal { precision, scale }, text)
        }
        Form::Several(kind) => parts(text).iter().all(|part| is_value(*kind, part)),
        Form::Unknown => false,
    }
}

/// The number of characters: the first byte of one is any but 0b10xxxxxx.
pub fn characters(text: &[u8]) -> usize {
    text.iter().filter(|byte| (**byte as i8) >= -64).count()
}

/// Whole numbers of some digits at the beginning, and what is behind.
fn digits(text: &[u8], count: std::ops::RangeInclusive<usize>) -> Option<&[u8]> {
    let found = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    count.contains(&found).then(|| &text[found..])
}

/// The text behind a date: a year of at least four digits, a month and a day. The calendar is the server's.
fn date(text: &[u8]) -> Option<&[u8]> {
    let rest = digits(text, 4..=6)?;
    let (mark, rest) = rest.split_first().filter(|(mark, _)| b"-/".contains(mark))?;
    digits(digits(rest, 1..=2)?.strip_prefix(&[*mark])?, 1..=2)
}

/// Digits of a second that are not zeros at the end, and what is behind a time. The second 60 is not kept: it becomes the
/// next minute.
fn time(text: &[u8]) -> Option<(u32, &[u8])> {
    let rest = digits(digits(text, 1..=3)?.strip_prefix(b":")?, 2..=2)?;
    let Some(rest) = rest.strip_prefix(b":") else { return Some((0, rest)) };
    let rest = digits(rest, 2..=2).filter(|_| !rest.starts_with(b"60"))?;
    let Some(fraction) = rest.strip_prefix(b".") else { return Some((0, rest)) };
    let rest = digits(fraction, 0..=usize::MAX)?;
    Some((kept(&fraction[..fraction.len() - rest.len()]), rest))
}

/// The values in an array, a range or the like, without NULL, as the server finds them between the marks. A quote or a
/// backslash makes marks letters.
fn parts(text: &[u8]) -> Vec<Vec<u8>> {
    // The bounds of an array may stand before it, as in [0:1]={5,6}.
    let start = memchr::memmem::find(text, b"={").filter(|_| text.starts_with(b"["));
    let (mut found, mut part, mut is_within, mut is_quoted) = (Vec::new(), Vec::new(), false, false);
    let mut bytes = text[start.map_or(0, |start| start + 1)..].iter().copied().chain([b',']).peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => {
                is_quoted = true;
                part.extend(bytes.next());
            }
            b'"' if is_within && bytes.peek() == Some(&b'"') => part.extend(bytes.next()),
            b'"' => (is_within, is_quoted) = (!is_within, true),
            _ if is_within => part.push(byte),
            _ if b"{}()[]<>,;".contains(&byte) => {
                let own = std::mem::take(&mut part);
                match std::mem::take(&mut is_quoted) {
                    true => found.push(own),
                    false => found.extend(plain(&own)),
                }
            }
            _ if byte.is_ascii_whitespace() && (is_quoted || part.is_empty()) => {}
            _ => part.push(byte),
        }
    }
    found
}

/// A value between marks that is not quoted, if it is one.
fn plain(part: &[u8]) -> Option<Vec<u8>> {
    let part = part.trim_ascii();
    let is_word = [&b"NULL"[..], b"empty"].iter().any(|word| part.eq_ignore_ascii_case(word));
    (!part.is_empty() && !is_word).then(|| part.to_vec())
}

/// Digits without zeros at the end.
fn kept(fraction: &[u8]) -> u32 {
    fraction.iter().rposition(|byte| *byte != b'0').map_or(0, |last| last as u32 + 1)
}

/// The text that may follow a date alone: none, or midnight.
fn is_midnight(rest: &[u8]) -> bool {
    let is_zero = |rest: &[u8]| {
        time(rest).is_some_and(|(_, behind)| behind.is_empty())
            && rest.iter().all(|byte| b"0:.".contains(byte))
    };
    match rest.split_first() {
        Some((b' ' | b'T', rest)) if rest != b"BC" => is_zero(rest),
        Some((_, rest)) => rest == b"BC",
        None => true,
    }
}

/// Words of PostgreSQL for a time before or after all others.
fn is_endless(text: &[u8]) -> bool {
    text == b"infinity" || text == b"-infinity"
}

/// The text that may follow a time: none, or a time zone.
fn is_zone(rest: &[u8], has_zone: bool) -> bool {
    let rest = rest.strip_suffix(b" BC").unwrap_or(rest);
    if rest.is_empty() || !has_zone {
        return rest.is_empty();
    }
    let zone = rest.trim_ascii_start();
    if ["Z", "UTC", "GMT"].iter().any(|word| zone.eq_ignore_ascii_case(word.as_bytes())) {
        return true;
    }
    let Some((b'+' | b'-', offset)) = zone.split_first() else { return false };
    let numbers: Vec<u8> = offset.iter().copied().filter(|byte| *byte != b':').collect();
    digits(&numbers, 1..=6).is_some_and(<[u8]>::is_empty)
}

/// True if all points are within seconds, and no more digits are behind them.
fn is_interval(text: &[u8], digits: u32) -> bool {
    text.iter().enumerate().filter(|(_, byte)| **byte == b'.').all(|(point, _)| {
        let behind = &text[point + 1..];
        let length = behind.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let unit = behind[length..].trim_ascii_start();
        let whole = text[..point].iter().rposition(|byte| !byte.is_ascii_digit());
        let is_clock = whole.is_some_and(|at| text[at] == b':');
        let is_second = unit.is_empty() || is_clock || unit.first().is_some_and(|unit| b"sS".contains(unit));
        is_second && kept(&behind[..length]) <= digits
    })
}

fn is_some_of(words: &[String], text: &[u8]) -> bool {
    let mut left = words.iter();
    text.split(|byte| *byte == b',').all(|part| left.any(|word| word.as_bytes() == part))
}
