//! Cuts a text behind the last record that it holds as a whole.
//!
//! A text begins outside quotes. If each opening quote is at a field's beginning, or directly behind a closing quote
//! (two quotes within a field), then text behind an odd number of quotes is within quotes, and 64 bytes can be decided
//! at once. Any other text is read from quote to quote.

use memchr::{memchr, memrchr2};

use crate::marks::{BLOCK, block, mask, odd};
use crate::syntax::Dialect;

/// The place of the cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// The end of the last whole record; None if no record is whole.
    pub end: Option<usize>,
    /// True if the text has a quote that may open or close a field.
    pub has_quotes: bool,
}

/// Finds the cut in a text that begins with a record's beginning.
pub fn cut(text: &[u8], dialect: Dialect) -> Cut {
    if !dialect.quotes || memchr(b'"', text).is_none() {
        return Cut { end: memrchr2(b'\n', b'\r', text).map(|end| end + 1), has_quotes: false };
    }
    let end = by_parity(text, dialect.delimiter);
    Cut { end: end.unwrap_or_else(|| from_quote_to_quote(text, dialect.delimiter)), has_quotes: true }
}

/// None if a quote opens at a place other than a field's beginning.
fn by_parity(text: &[u8], delimiter: u8) -> Option<Option<usize>> {
    // State at a block's start: within quotes or not, and whether a quote may open at the first byte.
    let (mut is_within, mut may_open, mut end) = (0u64, 1u64, None);
    for start in (0..text.len()).step_by(BLOCK) {
        let block = block(text, start);
        let (quotes, lines) = (mask(&block, [b'"']), mask(&block, [b'\n', b'\r']));
        let before = quotes | lines | mask(&block, [delimiter]);
        let within = odd(quotes) ^ is_within;
        let opening = quotes & within;
        if opening & !(before << 1 | may_open) != 0 {
            return None;
        }
        is_within = ((within as i64) >> 63) as u64;
        may_open = before >> 63;
        let ends = lines & !within;
        if ends != 0 {
            end = Some(start + BLOCK - ends.leading_zeros() as usize);
        }
    }
    Some(end)
}

fn from_quote_to_quote(text: &[u8], delimiter: u8) -> Option<usize> {
    let (mut at, mut end) = (0, None);
    loop {
        let quote = memchr(b'"', &text[at..]).map(|quote| at + quote);
        let outside = &text[at..quote.unwrap_or(text.len())];
        end = memrchr2(b'\n', b'\r', outside).map(|last| at + last + 1).or(end);
        let Some(quote) = quote else { return end };
        let opens = quote == 0 || matches!(text[quote - 1], b'\n' | b'\r') || text[quote - 1] == delimiter;
        at = quote + 1;
        if opens {
            let Some(close) = closing(text, at) else { return end };
            at = close + 1;
        }
    }
}

/// The quote that closes a field whose text begins at `at`. None if the text ends too early: two quotes are one letter
/// of the field, so the byte after the quote must be there.
fn closing(text: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let close = at + memchr(b'"', &text[at..])?;
        if *text.get(close + 1)? != b'"' {
            return Some(close);
        }
        at = close + 2;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]
        #[test]
        fn both_ways_cut_at_the_same_place(
            text in prop::collection::vec(
                prop::sample::select(vec!["a", ",", "\n", "\r", "\"", ",\"", "\",", "\"\"", "\"\n", "bcdefghijklmnop"]),
                0..60,
            ),
        ) {
            let text = text.concat().into_bytes();
            if let Some(end) = by_parity(&text, b',') {
                prop_assert_eq!(end, from_quote_to_quote(&text, b','));
            }
        }
    }

    #[test]
    fn a_text_with_quotes_at_fields_alone_is_cut_by_parity() {
        let text = "\"a \"\"b\"\"\",\"c\nd\"\n1,\"\"\n\"open";
        assert_eq!(by_parity(text.as_bytes(), b','), Some(Some(text.len() - 5)));
        assert_eq!(by_parity(b"a\"b\n", b','), None);
        assert_eq!(from_quote_to_quote(b"a\"b\n", b','), Some(4));
    }
}
