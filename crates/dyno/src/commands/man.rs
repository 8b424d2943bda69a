//! `dyno man`: manual pages, made of what `--help` prints.

use anyhow::{Result, anyhow};
use clap::{Command, CommandFactory};
use clap_mangen::Man;

use super::outcome::AsInput;
use crate::cli::Cli;

/// The manual page of a command of dyno, or of dyno itself, as text for `man`.
pub fn page(name: Option<&str>) -> Result<String> {
    let mut dyno = Cli::command();
    dyno.build();
    let command = match name {
        None => dyno,
        Some(name) => {
            let found = visible(&dyno).find(|command| command.get_name() == name).cloned();
            found.ok_or_else(|| unknown(name, &dyno)).input()?
        }
    };
    let mut page = Vec::new();
    Man::new(command).render(&mut page)?;
    Ok(String::from_utf8(page)?)
}

/// The names of the commands that have a page, a line each.
pub fn names() -> String {
    visible(&Cli::command()).map(|command| format!("{}\n", command.get_name())).collect()
}

/// The commands that `--help` lists.
fn visible(dyno: &Command) -> impl Iterator<Item = &Command> {
    dyno.get_subcommands().filter(|command| !command.is_hide_set())
}

fn unknown(name: &str, dyno: &Command) -> anyhow::Error {
    let known = visible(dyno).map(Command::get_name);
    anyhow!(dyno_nearest::unknown("there is no command", name, "the commands are", known))
}
