//! Cuts a text behind the last record that it holds as a whole.
//!
//! A text begins outside quotes. If each opening quote is at a field's beginning, or directly behind a closing quote
//! (two quotes within a field), then text behind an odd number of quotes is within quotes, and 64 bytes can be decided
//! at once. A record with another quote is split, and the next one is decided so again.

use memchr::{memchr, memrchr2};

use super::marks::{BLOCK, block, mask, odd};
use super::quoted::first_end;
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
    let mut end = 0;
    loop {
        let (whole, has_stray) = by_parity(&text[end..], dialect.delimiter);
        end += whole;
        let next = if has_stray { first_end(&text[end..], dialect.delimiter) } else { None };
        let Some(length) = next else { return Cut { end: (end > 0).then_some(end), has_quotes: true } };
        end += length;
    }
}

/// Where the last record ends that is whole, 0 if none is; and true if a quote opens behind it at a place other than a
/// field's beginning. The text begins with a record's beginning.
fn by_parity(text: &[u8], delimiter: u8) -> (usize, bool) {
    // State at a block's start: within quotes or not, and whether a quote may open at the first byte.
    let (mut is_within, mut may_open, mut end) = (0u64, 1u64, 0);
    for start in (0..text.len()).step_by(BLOCK) {
        let block = block(text, start);
        let (quotes, lines) = (mask(&block, [b'"']), mask(&block, [b'\n', b'\r']));
        let before = quotes | lines | mask(&block, [delimiter]);
        let within = odd(quotes) ^ is_within;
        let opening = quotes & within;
        if opening & !(before << 1 | may_open) != 0 {
            return (end, true);
        }
        is_within = ((within as i64) >> 63) as u64;
        may_open = before >> 63;
        let ends = lines & !within;
        if ends != 0 {
            end = start + BLOCK - ends.leading_zeros() as usize;
        }
    }
    (end, false)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]
        #[test]
        fn a_text_is_cut_where_its_last_whole_record_ends(
            text in prop::collection::vec(
                prop::sample::select(vec!["a", ",", "\n", "\r", "\"", ",\"", "\",", "\"\"", "\"\n", "bcdefghijklmnop"]),
                0..60,
            ),
        ) {
            let text = text.concat().into_bytes();
            let mut end = 0;
            while let Some(length) = first_end(&text[end..], b',') {
                end += length;
            }
            let dialect = Dialect { delimiter: b',', quotes: true };
            prop_assert_eq!(cut(&text, dialect).end, (end > 0).then_some(end));
        }
    }

    #[test]
    fn a_text_with_quotes_at_fields_alone_is_cut_by_parity() {
        let text = "\"a \"\"b\"\"\",\"c\nd\"\n1,\"\"\n\"open";
        assert_eq!(by_parity(text.as_bytes(), b','), (text.len() - 5, false));
        assert_eq!(by_parity(b"a\"b\n", b','), (0, true));
        assert_eq!(first_end(b"a\"b\n", b','), Some(4));
    }
}
