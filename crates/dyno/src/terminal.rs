//! Text on its way to people: what a suite, a run file, an engine or an argument holds can neither steer the
//! terminal nor show a password that was typed in the wrong place.
//!
//! All that dyno prints goes through here, but for the progress bars, which call [`safe`] themselves.

use std::borrow::Cow;
use std::env;
use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use console::Term;
use dyno_engine::{is_address, may_hold_password, repeatable};
use dyno_files::Output;
use dyno_show::{TablePart, paint, safe};

use crate::cli::Colour;

/// Says something to the person, on standard error. A reader that has gone away is no error.
pub fn say(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", safe(&hide(text, typed())));
}

/// True if a run file or a page is written to standard output.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// Has results printed on standard error from now on where a file goes to standard output (`-o /dev/stdout`): the two
/// would mix.
pub fn leave_standard_output_to(output: &Output) {
    if output.is_standard_output() {
        IS_TAKEN.store(true, Ordering::Relaxed);
    }
}

/// Prints a result on standard output.
///
/// # Errors
/// It cannot be written. A reader that has gone away, as `head` does, is no error.
pub fn print(text: &str) -> io::Result<()> {
    write(&safe(text))
}

fn write(text: &str) -> io::Result<()> {
    let mut output: Box<dyn Write> = match IS_TAKEN.load(Ordering::Relaxed) {
        true => Box::new(io::stderr().lock()),
        false => Box::new(io::stdout().lock()),
    };
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

/// Adapts what is printed to the width of the terminal, where standard output is one.
pub fn adapt() {
    if let Some((_, columns)) = Term::stdout().size_checked() {
        dyno_show::set_width(usize::from(columns));
    }
}

/// Returns true if a result has colours: as asked for, and else on a terminal that shows them, if NO_COLOR is not set.
pub fn has_colours(asked: Colour) -> bool {
    match asked {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto => {
            let is_off = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
            !is_off && io::stdout().is_terminal() && Term::stdout().features().colors_supported()
        }
    }
}

/// Prints parts of a result, in colours or without, an empty line between them.
///
/// # Errors
/// It cannot be written. A reader that has gone away, as `head` does, is no error.
pub fn print_parts(parts: &[(TablePart, String)], colours: bool) -> io::Result<()> {
    let set = |(part, text): &(TablePart, String)| {
        let text = safe(text);
        if colours { paint(*part, &text) } else { text.into_owned() }
    };
    write(&(parts.iter().map(set).collect::<Vec<_>>().join("\n\n") + "\n"))
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
        let shown = pieces.map(|piece| (piece.to_owned(), repeatable(piece)));
        found.extend(shown.filter(|(piece, shown)| piece != shown && !is_open(piece)));
    }
    found.sort_by_key(|(piece, _)| std::cmp::Reverse(piece.len()));
    found
}

/// True if a text is the address of a server and holds no password: a message may name it.
fn is_open(text: &str) -> bool {
    let options = text.split_once('?').map_or("", |(_, options)| options);
    is_address(text) && !may_hold_password(text) && repeatable(options) == options
}

fn hide<'a>(text: &'a str, typed: &[(String, String)]) -> Cow<'a, str> {
    typed.iter().fold(Cow::Borrowed(text), |text, (value, shown)| match text.contains(value) {
        true => Cow::Owned(text.replace(value, shown)),
        false => text,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_with_a_password_is_not_repeated() {
        let typed = ["compare", "--set=n=5,bob:hunter2@db/x", "postgres:/bob:hunter2@db"].map(String::from);
        let typed = secret(typed.into_iter());
        let shown = hide("cannot read postgres:/bob:hunter2@db, 'bob:hunter2@db/x' is no number", &typed);
        assert_eq!(shown, "cannot read postgres:…, 'bob:…' is no number");
        let typed =
            ["postgres://bob@db:1/x", "mysql://bob@db?passphrase=p", "mysql://bob:p@db"].map(String::from);
        let typed = secret(typed.into_iter());
        let shown = hide("postgres://bob@db:1/x, mysql://bob@db?passphrase=p, mysql://bob:p@db", &typed);
        assert_eq!(shown, "postgres://bob@db:1/x, mysql:…, mysql:…");
    }
}
