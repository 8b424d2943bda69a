//! The pattern of a statement: its text without values and comments, by which statements are counted as the same.

use crate::decode::WireProtocol;

/// The meaning of the next characters of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece {
    /// Words, names and signs.
    Text,
    /// A number or a quoted text.
    Value,
    /// White space or a comment, which separates words as that does.
    Space,
}

/// A statement in which each number and each quoted text is a question mark, and white space with its comments a single
/// space. Comments that servers read (`/*+ hint */`, MySQL's `/*! … */`, MariaDB's `/*M! … */`) stay.
pub fn without_values(text: &str, protocol: WireProtocol) -> String {
    let mut pattern = String::with_capacity(text.len());
    let (mut rest, mut in_word) = (text, false);
    while !rest.is_empty() {
        let follows_operand = pattern.ends_with(ends_operand);
        let (piece, length) = next_piece(rest, protocol, in_word, follows_operand);
        let (part, after) = rest.split_at(length);
        rest = after;
        in_word = piece == Piece::Text && part.ends_with(is_word);
        match piece {
            Piece::Text => pattern.push_str(part),
            Piece::Value if !pattern.ends_with('?') => pattern.push('?'),
            Piece::Space if !pattern.is_empty() && !pattern.ends_with(' ') => pattern.push(' '),
            Piece::Value | Piece::Space => {}
        }
    }
    pattern.truncate(pattern.trim_end_matches(' ').len());
    pattern
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '$')
}

/// True for the last letter of what a minus sign subtracts from; elsewhere it belongs to a number behind it.
fn ends_operand(letter: char) -> bool {
    is_word(letter) || matches!(letter, '?' | ')' | ']' | '"' | '`')
}

/// The next piece of a statement, and its length in bytes. The piece before it is a word where `in_word` says so, and
/// something that can be calculated with where `follows_operand` does.
fn next_piece(rest: &str, protocol: WireProtocol, in_word: bool, follows_operand: bool) -> (Piece, usize) {
    let is_mysql = protocol == WireProtocol::MySql;
    let behind = |length: usize| rest.get(length..).unwrap_or_default();
    if let Some(length) = space(rest).or_else(|| comment(rest, is_mysql)) {
        return (Piece::Space, length);
    }
    match rest.as_bytes() {
        [b'\'', ..] => (Piece::Value, quoted(rest, '\'', is_mysql)),
        [b'"', ..] if is_mysql => (Piece::Value, quoted(rest, '"', true)),
        [quote @ (b'"' | b'`'), ..] => (Piece::Text, quoted(rest, char::from(*quote), false)),
        // PostgreSQL's texts with escapes.
        [b'e' | b'E', b'\'', ..] if !in_word => (Piece::Value, 1 + quoted(behind(1), '\'', true)),
        [b'$', ..] if !in_word && !is_mysql => {
            dollar_quoted(rest).map_or((Piece::Text, 1), |length| (Piece::Value, length))
        }
        [b'-', ..] if !follows_operand => {
            number(behind(1)).map_or((Piece::Text, 1), |length| (Piece::Value, 1 + length))
        }
        _ if !in_word && let Some(length) = number(rest) => {
            // MySQL's names may begin with digits.
            match leading(behind(length), is_word) {
                letters @ 1.. if is_mysql => (Piece::Text, length + letters),
                _ => (Piece::Value, length),
            }
        }
        _ => (Piece::Text, rest.chars().next().map_or(1, char::len_utf8)),
    }
}

/// The length of the letters of a kind that a text begins with.
fn leading(text: &str, is_kind: fn(char) -> bool) -> usize {
    text.find(|letter| !is_kind(letter)).unwrap_or(text.len())
}

/// The length of the white space that a text begins with.
fn space(text: &str) -> Option<usize> {
    Some(leading(text, char::is_whitespace)).filter(|&length| length > 0)
}

/// The length of a comment that a text begins with.
fn comment(text: &str, is_mysql: bool) -> Option<usize> {
    let line = || text.find('\n').unwrap_or(text.len());
    match text.as_bytes() {
        // MySQL wants a space behind the signs: `5--1` is a number less another.
        [b'-', b'-', next, ..] if is_mysql && !next.is_ascii_whitespace() => None,
        [b'-', b'-', ..] => Some(line()),
        [b'#', ..] if is_mysql => Some(line()),
        [b'/', b'*', b'!' | b'+', ..] | [b'/', b'*', b'M', b'!', ..] => None,
        [b'/', b'*', ..] => Some(block_comment(text, !is_mysql)),
        _ => None,
    }
}

/// The length of a block comment, which may hold others where comments nest.
fn block_comment(text: &str, nests: bool) -> usize {
    let (bytes, mut at, mut depth) = (text.as_bytes(), 2, 1);
    while at < bytes.len() {
        match bytes[at..] {
            [b'*', b'/', ..] => {
                (at, depth) = (at + 2, depth - 1);
                if depth == 0 {
                    return at;
                }
            }
            [b'/', b'*', ..] if nests => (at, depth) = (at + 2, depth + 1),
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The length of what stands between two quotation marks of a kind, with both. A doubled one does not end it, nor one
/// behind a backslash where that escapes.
fn quoted(text: &str, quote: char, escapes: bool) -> usize {
    let mut letters = text.char_indices().skip(1).peekable();
    while let Some((at, letter)) = letters.next() {
        if escapes && letter == '\\' {
            letters.next();
        } else if letter == quote && letters.next_if(|(_, next)| *next == quote).is_none() {
            return at + quote.len_utf8();
        }
    }
    text.len()
}

/// The length of PostgreSQL's `$tag$ … $tag$`, if a text begins with one.
fn dollar_quoted(text: &str) -> Option<usize> {
    let tag = &text[..text[1..].find('$')? + 2];
    let name = &tag[1..tag.len() - 1];
    let is_tag = !name.starts_with(|first: char| first.is_ascii_digit()) && name.chars().all(is_word);
    let end = text[tag.len()..].find(tag).map_or(text.len(), |end| tag.len() + end + tag.len());
    is_tag.then_some(end)
}

/// The length of a number without a sign, if a text begins with one: `12`, `1_000`, `.5`, `1.5e-3`, `0x1F`, `0b101`.
fn number(text: &str) -> Option<usize> {
    let begins = text.strip_prefix('.').unwrap_or(text).starts_with(is_digit);
    if !begins {
        return None;
    }
    if let Some(length) = radix_number(text) {
        return Some(length);
    }
    let mantissa = leading(text, |letter| is_digit(letter) || matches!(letter, '.' | '_'));
    let exponent = text[mantissa..].strip_prefix(['e', 'E']).map_or(0, |behind| {
        let unsigned = behind.strip_prefix(['+', '-']).unwrap_or(behind);
        match leading(unsigned, is_digit) {
            0 => 0,
            digits => 1 + behind.len() - unsigned.len() + digits,
        }
    });
    Some(mantissa + exponent)
}

fn is_digit(letter: char) -> bool {
    letter.is_ascii_digit()
}

/// The length of a number with another radix than ten.
fn radix_number(text: &str) -> Option<usize> {
    let is_part: fn(char) -> bool = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => |letter| letter.is_ascii_hexdigit() || letter == '_',
        [b'0', b'o' | b'O' | b'b' | b'B', ..] => |letter| is_digit(letter) || letter == '_',
        _ => return None,
    };
    Some(leading(&text[2..], is_part)).filter(|&digits| digits > 0).map(|digits| 2 + digits)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use WireProtocol::{MySql, Postgres};

    #[test]
    fn texts_differ_by_more_than_values() {
        let of_postgres = [
            ("INSERT INTO t2 VALUES(1, -2.5, 'a''b', $1)", "INSERT INTO t2 VALUES(?, ?, ?, $1)"),
            ("SELECT 'unfinished", "SELECT ?"),
            ("x1 = ''", "x1 = ?"),
            ("a > 1e5 AND b < 1.5E-3 OR c = 0x1F OR d = .5", "a > ? AND b < ? OR c = ? OR d = ?"),
            ("a = 0b101 OR a = 0o17 OR a = 1_500", "a = ? OR a = ? OR a = ?"),
            ("SELECT 5-1, a-2, f(x)-3, -4 -- end", "SELECT ?-?, a-?, f(x)-?, ?"),
            ("SELECT 1 -- it's 7\n, 2", "SELECT ? , ?"),
            ("/* a /* nested */ 'one' */ SELECT/*+ hint */ \n\t3 ", "SELECT/*+ hint */ ?"),
            ("SELECT \"it's 1\", e'a\\'b', $$5 'x'$$, $q$7$$8$q$", "SELECT \"it's 1\", ?, ?, ?"),
            ("SELECT 1e FROM t", "SELECT ?e FROM t"),
        ];
        let of_mysql = [
            ("SELECT 'it\\'s', \"7\", `a'1`, 5--1 # 'x", "SELECT ?, ?, `a'1`, ?-?"),
            ("/*!40101 SET a = 1 */ -- b", "/*!? SET a = ? */"),
            ("/*M!100100 SET a = 1 */", "/*M!? SET a = ? */"),
            ("SELECT 1st, 2e FROM 3_d WHERE a = 4e1", "SELECT 1st, 2e FROM 3_d WHERE a = ?"),
            ("/* a /* b */ 1", "?"),
        ];
        for (protocol, cases) in [(Postgres, &of_postgres[..]), (MySql, &of_mysql[..])] {
            for (text, pattern) in cases {
                assert_eq!(without_values(text, protocol), *pattern, "{text}");
            }
        }
    }

    proptest! {
        #[test]
        fn any_text_has_a_pattern(text in "\\PC{0,40}|[-'\"`$/*#!e0x.5 \\\\\n]{0,30}") {
            for protocol in [Postgres, MySql] {
                without_values(&text, protocol);
            }
        }

        #[test]
        fn values_and_comments_make_no_difference(
            number in "-?([0-9]{1,5}|[0-9]{0,3}\\.?[0-9]{1,3}([eE][+-]?[0-9]{1,2})?|0[xX][0-9a-fA-F]{1,8}|0b[01]{1,8})",
            text in "[^'\\\\]{0,20}",
            comment in "[^*/]{0,20}",
        ) {
            let text = text.replace('\'', "''");
            let statement = format!("UPDATE t3 /*{comment}*/SET a = '{text}' WHERE b2={number} AND c = $1");
            for protocol in [Postgres, MySql] {
                prop_assume!(!comment.starts_with(['!', '+']));
                prop_assert_eq!(
                    without_values(&statement, protocol),
                    "UPDATE t3 SET a = ? WHERE b2=? AND c = $1"
                );
            }
        }

        #[test]
        fn a_comment_is_white_space(places in prop::collection::vec((0_usize..6, "[a-z'\"0-9]{0,9}"), 6)) {
            const WORDS: [&str; 6] = ["UPDATE", "t3", "SET", "b =", "a -", "'it''s'"];
            for protocol in [Postgres, MySql] {
                let between = |(kind, text): &(usize, String)| match (kind, protocol) {
                    (0, _) => " \n\t".to_owned(),
                    (1, _) => format!("/*{text}*/"),
                    (2, _) => format!(" /*{text}*/ "),
                    (3, _) => format!(" -- {text}\n"),
                    (4, Postgres) => format!("/*{text}/*{text}*/ {text}*/"),
                    (4, MySql) => format!("# {text}\n"),
                    _ => " ".to_owned(),
                };
                let words = WORDS.iter().zip(&places);
                let statement: String =
                    words.map(|(word, place)| between(place) + word).collect();
                prop_assert_eq!(without_values(&statement, protocol), "UPDATE t3 SET b = a - ?");
            }
        }
    }
}
