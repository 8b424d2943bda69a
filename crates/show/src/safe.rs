//! Text that cannot steer the terminal: a suite, a run file or an engine may hold any letters.

use std::borrow::Cow;

/// The text with its control characters spelled out, as `\u{1b}`: line breaks and tabs alone stay.
pub fn safe(text: &str) -> Cow<'_, str> {
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let spell = |letter: char| match steers(letter) {
        true => letter.escape_default().collect::<String>(),
        false => letter.to_string(),
    };
    Cow::Owned(text.chars().map(spell).collect())
}

/// True if a terminal may act on this letter rather than show it: control characters, and those that change
/// the direction of writing or end a line.
pub fn steers(letter: char) -> bool {
    match letter {
        '\n' | '\t' => false,
        '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        letter => letter.is_control(),
    }
}

/// A stranger's words on one line, so that no part of them looks like a line of dyno's.
pub fn one_line(text: &str) -> String {
    text.replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_steers_the_terminal() {
        assert_eq!(safe("a\tb\n\u{1b}[31mred\r\u{7}"), "a\tb\n\\u{1b}[31mred\\r\\u{7}");
        assert_eq!(safe("\u{9b}2J\u{7f}\u{202e}"), "\\u{9b}2J\\u{7f}\\u{202e}");
        assert_eq!(one_line("a\nb.jsonl: verified"), "a\\nb.jsonl: verified");
        assert_eq!(safe("Zoë ≈ 1.25× “done” …"), "Zoë ≈ 1.25× “done” …");
    }
}
