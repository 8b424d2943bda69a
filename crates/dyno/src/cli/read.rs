//! Reads the command line. Error messages quote it without passwords and control characters.

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches};
use dyno_engine::{Home, Registry, may_hold_password};

use super::{Cli, defaults};
use crate::terminal;

/// The options that take the address of a server.
const TAKE_ADDRESS: [&str; 2] = ["--url", "--into"];

/// The exit code of a command line that is wrong.
const WRONG: u8 = 2;

impl Cli {
    /// The text as it was typed.
    ///
    /// # Errors
    /// The exit code, if the command line is wrong or already answered, as `--help` is.
    pub fn read() -> Result<Cli, ExitCode> {
        // The name of a file need not be UTF-8.
        let typed: Vec<OsString> = env::args_os().collect();
        let arguments: Vec<String> =
            typed.iter().map(|argument| argument.to_string_lossy().into_owned()).collect();
        // This comes first: later checks take arguments apart and could quote a piece of a password.
        if let Some(place) = misplaced(&arguments) {
            terminal::say(&format!(
                "dyno: argument {place} looks like the address of a server with a password in it, and none belongs \
                 there. `dyno run` takes a server's address after --url, `dyno import` after --into. The password is \
                 safer in the environment, ~/.pgpass or ~/.my.cnf."
            ));
            return Err(ExitCode::from(WRONG));
        }
        let command = defaults::apply(Cli::command()).map_err(|error| {
            terminal::say(&format!("dyno: {error:#}"));
            ExitCode::from(WRONG)
        })?;
        let matches = command.clone().try_get_matches_from(&typed).map_err(refuse)?;
        defaults::note(&command, &matches);
        Cli::from_arg_matches(&matches).map_err(refuse)
    }
}

/// Prints why the command line is wrong, or the help that it asks for.
fn refuse(mut error: clap::Error) -> ExitCode {
    if error.kind() == ErrorKind::UnknownArgument {
        // That a negative number be passed behind `--`, where it would be taken for a name of something else.
        error.remove(ContextKind::Suggested);
    }
    if let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand)
        && let Some(tip) = meant(word)
    {
        error.remove(ContextKind::SuggestedSubcommand);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    if error.use_stderr() {
        terminal::say(error.render().to_string().trim_end());
    } else {
        // Help and versions hold nothing but dyno's own words. A reader that has gone away is no error.
        let _ = error.print();
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(WRONG))
}

/// The command that was meant by a word in its place that names a suite or a contender.
fn meant(word: &str) -> Option<String> {
    let home = Home::find().ok()?;
    if home.has_suite(word) || (word.ends_with(".toml") && Path::new(word).is_file()) {
        return Some(format!("`dyno run {word}` runs that suite"));
    }
    let registry = Registry::load(&home).ok()?;
    registry.suite_for(word).map(|suite| format!("`dyno run {suite} --with {word}` measures it"))
}

/// The position of an argument whose address may hold a password, in a place where no address belongs.
fn misplaced(arguments: &[String]) -> Option<usize> {
    let belongs = |place: usize| {
        let option = |text: &str| TAKE_ADDRESS.contains(&text);
        option(&arguments[place - 1])
            || arguments[place].split_once('=').is_some_and(|(name, _)| option(name))
    };
    let holds = |argument: &String| {
        // The address may stand in a list, or behind the name of an option or a setting.
        argument.split([',', '=']).chain([argument.as_str()]).any(may_hold_password)
    };
    (1..arguments.len()).find(|&place| holds(&arguments[place]) && !belongs(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(arguments: &str) -> Option<usize> {
        misplaced(&arguments.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn an_address_with_a_password_belongs_after_two_options() {
        for good in [
            "dyno run speedtest --url postgres://bob:pw@db --with sqlite",
            "dyno import x.csv --into=mysql://bob:pw@db/x",
            "dyno run speedtest --url mysql://bob@db --baseline mysql://bob@db",
            "dyno run https://example.org/x.toml",
            "dyno run kv --with sqlite:wal,cache_size=-512,postgres@18/pgx:nosync,postgres@/opt/pg",
        ] {
            assert_eq!(place(good), None, "{good}");
        }
        for (bad, wanted) in [
            ("dyno postgres://bob:pw@db", 1),
            ("dyno run postgres:/bob:pw@db", 2),
            ("dyno run speedtest --with sqlite,postgres://bob:pw@db", 4),
            ("dyno run speedtest --with=postgresql+psycopg://bob:pw@db", 3),
            ("dyno run speedtest --set rows=https://bob:pw@db", 4),
            ("dyno show MySQL:/bob:pw@db", 2),
            ("dyno run speedtest --baseline postgres://db?password=pw", 4),
            ("dyno run speedtest --urls postgres://bob:p/w@db", 4),
        ] {
            assert_eq!(place(bad), Some(wanted), "{bad}");
        }
    }
}
