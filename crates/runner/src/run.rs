//! A runner's `main`: from standard input to exit code, whatever goes wrong between.

use std::any::Any;
use std::cell::RefCell;
use std::error::Error as _;
use std::io::{self, BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;

use dyno_protocol::{Event, Failed};
use nix::sys::statvfs::statvfs;

use crate::events::Events;
use crate::listed::StatementRefused;
use crate::trial::{Stop, trial};
use crate::{Engine, job};

/// A file system with less than this left, in bytes, is full.
const ROOM: u64 = 1 << 20;

/// Reads a job from standard input, goes through it and writes events to standard output.
///
/// Success means that `bye` was sent. Any failure, a panic included, has been reported in a `failed` event and on
/// standard error; if standard output is closed, no reader is left and it ends quietly.
pub fn run<E: Engine>() -> ExitCode {
    // Not the buffered and locked handle: an event is one write.
    let out = io::stdout();
    run_with::<E>(io::stdin().lock(), out)
}

fn run_with<E: Engine>(mut input: impl BufRead, out: impl Write) -> ExitCode {
    let events = RefCell::new(Events::new(out));
    let mut current = None;
    let mut directory = None;
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let job = job::read(&mut input)?;
        directory = Some(job.directory.clone());
        trial::<E, _>(&job, &mut input, &events, &mut current)
    }));
    let mut failed = Failed { test: current, ..Failed::default() };
    failed.message = match outcome {
        Ok(Ok(())) => return ExitCode::SUCCESS,
        Ok(Err(Stop::Output(error))) if error.kind() == io::ErrorKind::BrokenPipe => {
            return ExitCode::FAILURE;
        }
        Ok(Err(stop @ Stop::Output(_))) => {
            eprintln!("{stop}: {}", stop.source().map(ToString::to_string).unwrap_or_default());
            return ExitCode::FAILURE;
        }
        Ok(Err(Stop::Failed(error))) => {
            if let Some(refused) = error.downcast_ref::<StatementRefused>() {
                failed.code.clone_from(&refused.code);
                failed.statement.clone_from(&refused.name);
            }
            advise(format!("{error:#}"), directory.as_deref())
        }
        Err(panic) => format!("the runner panicked, which is an error in the runner: {}", text_of(&*panic)),
    };
    eprintln!("{}", failed.message);
    // Nothing more can be done where this cannot be written either.
    let _ = events.borrow_mut().send(&Event::Failed(failed));
    ExitCode::FAILURE
}

/// Adds what to do where the cause may be that the file system is full, which not every engine says.
fn advise(message: String, directory: Option<&Path>) -> String {
    let full = directory.filter(|directory| is_full(directory));
    match full {
        Some(directory) => format!(
            "{message}; the file system of {} is full: give --dir a folder with more room",
            directory.display()
        ),
        None if message.contains("No space left on device") => {
            message + "; give --dir a folder with more room"
        }
        None => message,
    }
}

/// Returns true if less than [`ROOM`] is left.
fn is_full(directory: &Path) -> bool {
    statvfs(directory).is_ok_and(|left| left.blocks_available() * left.fragment_size() < ROOM)
}

/// The message of a panic.
fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

#[cfg(test)]
mod tests;
