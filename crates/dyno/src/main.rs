//! The command `dyno`.

use std::process::ExitCode;

use clap::Parser;
use dyno::cli::Cli;
use dyno::commands;

fn main() -> ExitCode {
    // SAFETY: no other thread runs yet.
    unsafe { dyno::key::take_from_environment() };
    match commands::execute(Cli::parse()) {
        Ok(exit) => exit.into(),
        Err(error) => {
            eprintln!("dyno: {error:#}");
            commands::exit_code(&error)
        }
    }
}
