//! The command `dyno`.

use std::process::ExitCode;

use dyno::cli::Cli;
use dyno::{commands, terminal};

fn main() -> ExitCode {
    // SAFETY: no other thread runs yet.
    unsafe { dyno::key::take_from_environment() };
    let cli = match Cli::read() {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    match commands::execute(cli) {
        Ok(exit) => exit.into(),
        Err(error) => {
            terminal::say(&format!("dyno: {error:#}"));
            commands::exit_code(&error)
        }
    }
}
