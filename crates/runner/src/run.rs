//! A runner's `main`: from standard input to exit code, whatever goes wrong between.

use std::any::Any;
use std::error::Error as _;
use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use dyno_protocol::{Event, Failed};

use crate::events::Events;
use crate::trial::{Stop, trial};
use crate::{Driver, job};

/// Reads a job from standard input, goes through it and writes events to standard output.
///
/// Success means that `bye` was sent. Any failure, a panic included, has been told in a `failed` event
/// and on standard error; where standard output is closed there is nobody to tell and it ends quietly.
pub fn run<D: Driver>() -> ExitCode {
    // Not the buffered and locked handle: an event is one write.
    let out = io::stdout();
    run_with::<D>(io::stdin().lock(), out)
}

fn run_with<D: Driver>(input: impl Read, out: impl Write) -> ExitCode {
    let mut events = Events::new(out);
    let mut current = None;
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let job = job::read(input)?;
        trial::<D, _>(&job, &mut events, &mut current)
    }));
    let message = match outcome {
        Ok(Ok(())) => return ExitCode::SUCCESS,
        Ok(Err(Stop::Output(error))) if error.kind() == io::ErrorKind::BrokenPipe => {
            return ExitCode::FAILURE;
        }
        Ok(Err(stop @ Stop::Output(_))) => {
            eprintln!("{stop}: {}", stop.source().map(ToString::to_string).unwrap_or_default());
            return ExitCode::FAILURE;
        }
        Ok(Err(Stop::Failed(error))) => advise(format!("{error:#}")),
        Err(panic) => format!("the runner panicked, which is an error in the runner: {}", text_of(&*panic)),
    };
    eprintln!("{message}");
    // Nothing more can be done where this cannot be written either.
    let _ = events.send(&Event::Failed(Failed { test: current, message }));
    ExitCode::FAILURE
}

/// Adds what to do about an error that any engine may have.
fn advise(message: String) -> String {
    if message.contains("No space left on device") {
        return message + "; give --dir a folder with more room";
    }
    message
}

/// What a panic said.
fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

#[cfg(test)]
mod tests;
