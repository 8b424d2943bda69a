//! The user's defaults: options in `dyno.toml` that hold wherever the command line does not give them.
//!
//! dyno reads the file from the user's own configuration folder and from nowhere else. A file in the working folder
//! could be a stranger's, and would decide what is measured, where results go and which libraries are loaded.

use std::collections::BTreeMap;
use std::env;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context, Result, anyhow, bail, ensure};
use clap::builder::ArgPredicate;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, CommandFactory};
use nix::unistd::Uid;
use serde::Deserialize;
use toml::{Spanned, Value};

/// Names another file; an empty value means none.
const VARIABLE: &str = "DYNO_DEFAULTS";

/// Options that are typed each time, because each is a decision about one run: trust in what a file names, a server.
const NEVER: [&str; 4] = ["help", "trust", "url", "into"];

/// Others than the owner may write to a file with one of these bits.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DefaultsFile {
    #[serde(default)]
    defaults: BTreeMap<Spanned<String>, BTreeMap<Spanned<String>, Spanned<Value>>>,
}

/// A default: the option of a command with the words that would be typed after it.
struct DefaultOption {
    command: String,
    option: String,
    /// Empty for an option without a value.
    values: Vec<String>,
}

/// Those that the command line left in force, as they would be typed.
static IN_FORCE: OnceLock<Vec<String>> = OnceLock::new();

/// The defaults that the command line left in force, as they would be typed: `--budget=3m`.
pub fn in_force() -> &'static [String] {
    IN_FORCE.get().map_or(&[], Vec::as_slice)
}

/// Gives the options of a command their defaults from the user's file.
///
/// # Errors
/// The file cannot be read, another user could have written it, or it is wrong: with file and line.
pub fn apply(command: Command) -> Result<Command> {
    let Some(path) = path() else { return Ok(command) };
    match open(&path)? {
        None => Ok(command.long_version(leaked(version(&path, "there is no such file")))),
        Some(mut file) => {
            let mut text = String::new();
            file.read_to_string(&mut text).with_context(|| format!("cannot read {}", path.display()))?;
            let defaults = read(&text, &path, &command)?;
            let command = command.long_version(leaked(version(&path, &count(defaults.len()))));
            Ok(defaults.into_iter().fold(command, with_default))
        }
    }
}

/// Notes which defaults of the chosen command are in force.
pub fn note(command: &Command, matches: &ArgMatches) {
    let Some((name, matches)) = matches.subcommand() else { return };
    let Some(command) = command.find_subcommand(name) else { return };
    let taken = command.get_arguments().filter(|argument| {
        matches.value_source(argument.get_id().as_str()) == Some(ValueSource::DefaultValue)
    });
    // A value that dyno itself takes without the option is no default of the user.
    let without_file = super::Cli::command();
    let own = without_file.find_subcommand(name);
    let given = taken.filter(|argument| !own.is_some_and(|own| built_in(own, argument)));
    let typed = given.flat_map(|argument| {
        let option = argument.get_long().unwrap_or_default();
        let values = argument.get_default_values().iter().map(|value| value.to_string_lossy());
        values.map(move |value| match takes_value(argument) {
            true => format!("--{option}={value}"),
            false => format!("--{option}"),
        })
    });
    let _ = IN_FORCE.set(typed.collect());
}

/// Returns true if an option has the default that dyno gives it.
fn built_in(command: &Command, argument: &Arg) -> bool {
    let mut own = command.get_arguments().filter(|own| own.get_id() == argument.get_id());
    own.any(|own| own.get_default_values() == argument.get_default_values())
}

/// The user's file; none without a home, or where the variable is empty.
fn path() -> Option<PathBuf> {
    if let Some(path) = env::var_os(VARIABLE).map(PathBuf::from) {
        return Some(path).filter(|path| !path.as_os_str().is_empty());
    }
    Some(dyno_engine::config_folder()?.join("dyno.toml"))
}

/// Opens the file, if there is one that this user or root wrote and no other user can change.
fn open(path: &Path) -> Result<Option<File>> {
    let file = match dyno_files::open_found(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    let found = file.metadata().with_context(|| format!("cannot read {}", path.display()))?;
    let is_own = found.uid() == Uid::effective().as_raw() || found.uid() == 0;
    ensure!(
        is_own && found.mode() & WRITABLE_BY_OTHERS == 0,
        "{} belongs to another user, or others can write to it, so dyno does not follow it; `{VARIABLE}= dyno …` goes without",
        path.display()
    );
    Ok(Some(file))
}

/// Reads the file, and checks every option and value by the command line that it stands for.
fn read(text: &str, path: &Path, all: &Command) -> Result<Vec<DefaultOption>> {
    let line = |span: Range<usize>| text[..span.start].matches('\n').count() + 1;
    let at = |line: usize, words: &str| anyhow!("{}:{line}: {words}", path.display());
    let file: DefaultsFile =
        toml::from_str(text).map_err(|error| at(error.span().map_or(1, line), error.message().trim()))?;
    let mut found = Vec::new();
    for (name, options) in file.defaults {
        let known = all.get_subcommands().filter(|command| !command.is_hide_set()).map(Command::get_name);
        let Some(command) = all.find_subcommand(name.get_ref()) else {
            let words = dyno_nearest::unknown("there is no command", name.get_ref(), "there are", known);
            return Err(at(line(name.span()), &words));
        };
        for (key, value) in options {
            let place = line(key.span());
            let read = default(command, key.get_ref(), value.get_ref());
            found.push(read.map_err(|error| at(place, &error.to_string()))?);
        }
    }
    Ok(found)
}

/// An option with its default.
fn default(command: &Command, key: &str, value: &Value) -> Result<DefaultOption> {
    let name = command.get_name();
    ensure!(!NEVER.contains(&key), "`{key}` has no default: it is typed for each run that needs it");
    let options = command.get_arguments().filter(|argument| !argument.is_hide_set());
    let options: Vec<&Arg> = options.filter(|argument| argument.get_long().is_some()).collect();
    let Some(argument) = options.iter().find(|argument| argument.get_long() == Some(key)) else {
        let known = options.iter().filter_map(|argument| argument.get_long());
        let known = known.filter(|name| !NEVER.contains(name));
        bail!(dyno_nearest::unknown(&format!("`dyno {name}` has no option"), key, "it has", known));
    };
    let values = match (takes_value(argument), value) {
        (false, Value::Boolean(true)) => Vec::new(),
        (false, _) => bail!("`{key}` has no value: write `{key} = true`, or leave the line out"),
        (true, Value::Array(values)) => values.iter().map(word).collect::<Result<_>>()?,
        (true, value) => vec![word(value)?],
    };
    for value in &values {
        check(command, key, value)?;
    }
    Ok(DefaultOption { command: name.to_owned(), option: key.to_owned(), values })
}

fn takes_value(argument: &Arg) -> bool {
    !matches!(argument.get_action(), ArgAction::SetTrue)
}

/// A value as it would be typed.
fn word(value: &Value) -> Result<String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Integer(number) => Ok(number.to_string()),
        Value::Float(number) => Ok(number.to_string()),
        _ => bail!("a value is a text or a number, as on the command line"),
    }
}

/// Has the command line read a value. That other arguments are missing is no matter here.
fn check(command: &Command, option: &str, value: &str) -> Result<()> {
    let typed = [command.get_name().to_owned(), format!("--{option}={value}")];
    match command.clone().try_get_matches_from(typed) {
        Err(error) if matches!(error.kind(), ErrorKind::InvalidValue | ErrorKind::ValueValidation) => {
            let words = error.render().to_string();
            let words = words.lines().next().unwrap_or_default();
            Err(anyhow!("{}", words.trim_start_matches("error: ").trim()))
        }
        _ => Ok(()),
    }
}

/// A command whose option has its default.
fn with_default(command: Command, default: DefaultOption) -> Command {
    let DefaultOption { command: name, option, values } = default;
    command.mut_subcommand(name, |command| {
        let argument = command.get_arguments().find(|argument| argument.get_long() == Some(&option));
        let Some(id) = argument.map(|argument| argument.get_id().clone()) else { return command };
        command.mut_arg(id, |argument| match (takes_value(&argument), option.as_str()) {
            (false, _) => argument.default_value("true"),
            // A number of trials that is typed is run to its end.
            (true, "budget") => argument.default_values(values.into_iter().map(leaked)).default_value_if(
                "trials",
                ArgPredicate::IsPresent,
                None::<&str>,
            ),
            (true, _) => argument.default_values(values.into_iter().map(leaked)),
        })
    })
}

/// clap keeps texts of a program's whole life. There are as many as the file has lines, read once.
fn leaked(text: String) -> &'static str {
    text.leak()
}

fn version(path: &Path, state: &str) -> String {
    format!("{}\ndefaults: {} ({state})", super::LONG_VERSION, path.display())
}

fn count(options: usize) -> String {
    format!("{options} option{}", if options == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;

    fn wrong(text: &str) -> String {
        let text = format!("[defaults]\n{text}\n");
        read(&text, Path::new("dyno.toml"), &Cli::command()).map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn a_mistake_is_named_with_its_line_and_what_was_meant() {
        assert_eq!(wrong("rum.budget = '3m'"), "dyno.toml:2: there is no command 'rum'; did you mean run?");
        let words = wrong("run.trials = 5\nrun.budgt = '3m'");
        assert_eq!(words, "dyno.toml:3: `dyno run` has no option 'budgt'; did you mean budget?");
        assert!(wrong("run.budget = 'soon'").starts_with("dyno.toml:2: invalid value 'soon'"));
        assert!(wrong("run.notes = 'yes'").contains("write `notes = true`"));
        assert!(wrong("run.budget = true").contains("a text or a number"));
        assert!(wrong("run.trust = true").contains("typed for each run"));
        assert!(wrong("import.into = 'x.db'").contains("typed for each run"));
        assert!(wrong("run.budget =").starts_with("dyno.toml:2: "));
    }

    #[test]
    fn what_is_typed_comes_first() {
        let text = "[defaults]\nrun.budget = '3m'\nrun.with = ['sqlite', 'sqlite:wal']\nshow.notes = true\n";
        let defaults = read(text, Path::new("dyno.toml"), &Cli::command()).unwrap();
        let command = defaults.into_iter().fold(Cli::command(), with_default);
        let budget = |typed: &str| {
            let matches = command.clone().get_matches_from(typed.split(' '));
            let (_, run) = matches.subcommand().unwrap();
            let with: Vec<String> = run.get_many("with").into_iter().flatten().cloned().collect();
            (run.get_one::<std::time::Duration>("budget").map(|budget| budget.as_secs()), with.join(" "))
        };
        assert_eq!(budget("dyno run kv"), (Some(180), "sqlite sqlite:wal".into()));
        assert_eq!(budget("dyno run kv --budget 9s --with lmdb"), (Some(9), "lmdb".into()));
        assert_eq!(budget("dyno run kv --trials 5").0, None);
        let matches = command.get_matches_from(["dyno", "show"]);
        assert!(matches.subcommand().unwrap().1.get_flag("notes"));
    }
}
