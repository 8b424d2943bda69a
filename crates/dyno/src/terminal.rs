//! Text on its way to people: what a suite, a run file, an engine or an argument holds can neither steer the
//! terminal nor show a password that was typed in the wrong place.
//!
//! All that dyno prints goes through here, but for the progress bars, which call [`safe`] themselves.

use std::borrow::Cow;
use std::env;
use std::io::{self, Write};
use std::sync::OnceLock;

use crate::server::repeatable;

/// Says something to the person, on standard error. A reader that has gone away is no error.
pub fn say(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", safe(&hide(text, typed())));
}

/// Prints a result on standard output.
///
/// # Errors
/// It cannot be written. A reader that has gone away, as `head` does, is no error.
pub fn print(text: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    match output.write_all(safe(text).as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

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

/// Whether a terminal may do something at this letter rather than show it: control characters, and those that turn
/// the direction of writing or end a line.
pub fn steers(letter: char) -> bool {
    match letter {
        '\n' | '\t' => false,
        '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        letter => letter.is_control(),
    }
}

/// Those of dyno's arguments that must not be repeated, the longest first, each with what stands in its place.
fn typed() -> &'static [(String, String)] {
    static TYPED: OnceLock<Vec<(String, String)>> = OnceLock::new();
    TYPED.get_or_init(|| {
        secret(env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned()))
    })
}

fn secret(arguments: impl Iterator<Item = String>) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for argument in arguments {
        // A message may repeat what follows an option's or a parameter's name, and one name of a list.
        let ends = argument.match_indices('=').map(|(place, _)| &argument[place + 1..]);
        let pieces = [argument.as_str()]
            .into_iter()
            .chain(ends)
            .flat_map(|end| [end].into_iter().chain(end.split(',')));
        let told = pieces.map(|piece| (piece.to_owned(), repeatable(piece)));
        found.extend(told.filter(|(piece, told)| piece != told));
    }
    found.sort_by_key(|(piece, _)| std::cmp::Reverse(piece.len()));
    found
}

fn hide<'a>(text: &'a str, typed: &[(String, String)]) -> Cow<'a, str> {
    typed.iter().fold(Cow::Borrowed(text), |text, (value, told)| match text.contains(value) {
        true => Cow::Owned(text.replace(value, told)),
        false => text,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_steers_the_terminal() {
        assert_eq!(safe("a\tb\n\u{1b}[31mred\r\u{7}"), "a\tb\n\\u{1b}[31mred\\r\\u{7}");
        assert_eq!(safe("\u{9b}2J\u{7f}\u{202e}"), "\\u{9b}2J\\u{7f}\\u{202e}");
        assert_eq!(safe("Zoë ≈ 1.25× “done” …"), "Zoë ≈ 1.25× “done” …");
    }

    #[test]
    fn an_argument_with_a_password_is_not_repeated() {
        let typed = ["compare", "--set=n=5,bob:hunter2@db/x", "postgres:/bob:hunter2@db"].map(String::from);
        let typed = secret(typed.into_iter());
        let told = hide("cannot read postgres:/bob:hunter2@db, 'bob:hunter2@db/x' is no number", &typed);
        assert_eq!(told, "cannot read postgres:…, 'bob:…' is no number");
    }
}
