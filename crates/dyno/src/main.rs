//! The command `dyno`.

use std::process::ExitCode;

use clap::Parser;
use dyno::cli::Cli;
use dyno::commands;

fn main() -> ExitCode {
    match commands::execute(Cli::parse()) {
        Ok(exit) => exit.into(),
        Err(error) => {
            eprintln!("dyno: {error:#}");
            commands::exit_code(&error)
        }
    }
}
