//! Texts that are the address of a server, or were meant to be one: what of them may be repeated.
//!
//! With one slip of the finger any part of an address may be a part of its password, so what is repeated is only
//! what stands before all of them.

use super::take_apart;

/// The schemes after which one slash is enough, also within others, as in `postgresql+psycopg`. Those of all engines are
/// data of `engines/*.toml`, which is not read here.
const SCHEMES: [&str; 4] = ["postgres", "postgresql", "mysql", "mariadb"];
/// The names of options that hold a password.
const OPTIONS: [&str; 4] = ["password=", "passwd=", "passphrase=", "pwd="];

/// A text as it may be repeated to people and kept: without its end where that may hold a password.
pub fn repeatable(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let scheme = address(text).map(|(scheme, _)| scheme.len() + 1);
    let user = text.find(':').filter(|&colon| text[colon..].contains('@')).map(|colon| colon + 1);
    let option = OPTIONS.iter().filter_map(|option| Some(lower.find(option)? + option.len())).min();
    match [scheme, user, option].into_iter().flatten().min() {
        Some(end) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// True if a text is the address of a server, or was meant to be one: it begins as a URL does.
pub fn is_address(text: &str) -> bool {
    address(text).is_some()
}

/// True if it may also hold a password.
pub fn may_hold_password(text: &str) -> bool {
    let Some((_, rest)) = address(text) else { return false };
    let parts = rest.strip_prefix("//").map(take_apart);
    // A text that cannot be parsed may hold a password anywhere.
    let is_open = matches!(parts, Some(Ok(parts)) if parts.password.is_none());
    !is_open
}

/// The scheme and what follows its colon. One slash is enough after the scheme of a server.
fn address(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once(':')?;
    let letters = scheme.trim_start();
    let is_scheme = letters.starts_with(|first: char| first.is_ascii_alphabetic())
        && letters.chars().all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter));
    let is_server = || {
        let mut words = letters.split('+');
        words.any(|word| SCHEMES.iter().any(|known| word.eq_ignore_ascii_case(known)))
    };
    (is_scheme && (rest.starts_with("//") || rest.starts_with('/') && is_server())).then_some((scheme, rest))
}
