//! The command `dyno`.

use std::process::ExitCode;

use dyno::cli::Cli;
use dyno::{commands, terminal};
use nix::sys::signal::{SigHandler, Signal, signal};

fn main() -> ExitCode {
    // SAFETY: no other thread runs yet.
    unsafe { dyno_lab::key::take_from_environment() };
    // A file that grows beyond `ulimit -f` is then an error of the write, with a message, and not the end of the
    // process. Programs that are started inherit this, so that engines report the error too.
    // SAFETY: ignoring a signal runs no code.
    let _ = unsafe { signal(Signal::SIGXFSZ, SigHandler::SigIgn) };
    dyno_files::notices_to(|notice| terminal::say(&format!("dyno: {notice}")));
    let cli = match Cli::read() {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    terminal::adapt();
    match commands::execute(cli) {
        Ok(exit) => exit.into(),
        Err(error) => {
            terminal::say(&format!("dyno: {}{}", commands::words(&error), commands::hint(&error)));
            commands::exit_code(&error)
        }
    }
}
