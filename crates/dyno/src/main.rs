//! The command `dyno`.

use std::process::ExitCode;

use clap::Parser;
use dyno::cli::Cli;
use dyno::commands;
use nix::sys::signal::{SigHandler, Signal, signal};

fn main() -> ExitCode {
    // SAFETY: no other thread runs yet.
    unsafe { dyno::key::take_from_environment() };
    // A file that grows beyond `ulimit -f` is then an error of the write, with a message, and not the end of the
    // process. Programs that are started inherit this, so that engines report the error too.
    // SAFETY: ignoring a signal runs no code.
    let _ = unsafe { signal(Signal::SIGXFSZ, SigHandler::SigIgn) };
    match commands::execute(Cli::parse()) {
        Ok(exit) => exit.into(),
        Err(error) => {
            eprintln!("dyno: {error:#}{}", commands::hint(&error));
            commands::exit_code(&error)
        }
    }
}
