//! The commands: each reads its arguments, calls the stages in order and prints what they made.

mod agent;
mod calibrate;
mod compare;
mod conformance;
mod doctor;
mod engines;
mod export;
mod gate;
mod history;
mod import;
mod list;
mod man;
mod nodes;
mod outcome;
mod overwriting;
mod planning;
mod prove;
mod report;
mod run;
mod scaling;
mod schema;
mod show;
mod site;
mod verify;

use anyhow::Result;
use clap::CommandFactory;
use dyno_engine::{Home, Registry};

use crate::cli::{Cli, Command, WELCOME};

use outcome::{AsInput, print};

pub use outcome::{Exit, exit_code, hint, words};

/// Does what the command line says.
pub fn execute(cli: Cli) -> Result<Exit> {
    let Some(command) = cli.command else { return print(WELCOME) };
    match command {
        Command::List(arguments) => list::execute(&arguments),
        Command::Run(arguments) => run::execute(&arguments),
        Command::Show(arguments) => show::execute(&arguments),
        Command::Report(arguments) => report::execute(&arguments),
        Command::Export(arguments) => export::execute(&arguments),
        Command::History(arguments) => history::execute(&arguments),
        Command::Compare(arguments) => compare::execute(&arguments),
        Command::Scaling(arguments) => scaling::execute(&arguments),
        Command::Verify(arguments) => verify::execute(&arguments),
        Command::Site(arguments) => site::execute(&arguments),
        Command::Rerun(arguments) => run::rerun(&arguments),
        Command::Challenge(arguments) => run::challenge(&arguments),
        Command::Causes(arguments) => run::causes(&arguments),
        Command::Import(arguments) => import::execute(&arguments),
        Command::Prove(arguments) => prove::execute(&arguments),
        Command::ProveRecorder(arguments) => prove::record(&arguments),
        Command::ProveFiles(arguments) => prove::record_files(&arguments),
        Command::ProveWatcher(arguments) => prove::watch(&arguments),
        Command::Agent => agent::execute(),
        Command::Calibrate(arguments) => calibrate::execute(*arguments),
        Command::Doctor(arguments) => doctor::execute(&arguments),
        Command::Engines(command) => engines::execute(&command),
        Command::Conformance(arguments) => conformance::execute(&arguments),
        Command::Schema { what } => print(&schema::render(what)?),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "dyno", &mut script);
            print(&String::from_utf8_lossy(&script))
        }
        Command::Man { list: true, .. } => print(&man::names()),
        Command::Man { command, .. } => print(&man::page(command.as_deref())?),
    }
}

/// The engines that dyno's files and the user's own describe. What is wrong in one of them is an error of the input.
fn registry(home: &Home) -> Result<Registry> {
    Registry::load(home).input()
}
