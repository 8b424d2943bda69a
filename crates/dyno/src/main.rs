//! The command `dyno`.

use std::io::{self, ErrorKind};
use std::process::ExitCode;

use dyno::cli::Cli;
use dyno::{commands, terminal};
use nix::sys::signal::{SigHandler, Signal, signal};

fn main() -> ExitCode {
    // SAFETY: no other thread runs yet.
    unsafe { dyno::key::take_from_environment() };
    // A file that grows beyond `ulimit -f` is then an error of the write, with a message, and not the end of the
    // process. Programs that are started inherit this, so that engines report the error too.
    // SAFETY: ignoring a signal runs no code.
    let _ = unsafe { signal(Signal::SIGXFSZ, SigHandler::SigIgn) };
    let cli = match Cli::read() {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    match commands::execute(cli) {
        Ok(exit) => exit.into(),
        Err(error) => {
            let is_limit = |cause: &io::Error| cause.kind() == ErrorKind::FileTooLarge;
            let limited = error.chain().any(|cause| cause.downcast_ref().is_some_and(is_limit));
            let hint = if limited { "; `ulimit -f` limits how long a file may be here" } else { "" };
            terminal::say(&format!("dyno: {error:#}{hint}"));
            commands::exit_code(&error)
        }
    }
}
