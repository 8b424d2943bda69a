//! The outcome of a command: what it prints, and the code with which it exits.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::terminal;

/// Exit codes, as `dyno --help` lists them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done,
    /// `compare`: something is slower than allowed.
    Slower,
    /// `compare`: the samples leave open whether something is slower than allowed.
    Undecided,
    /// `prove`: a program of one's own lost commits, failed, acknowledged none or did not end.
    Refuted,
    /// Something failed or gave a wrong answer, or rows were rejected; the rest is shown.
    Incomplete,
    /// Ended by a signal, finished trials are kept.
    Signal(i32),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        match exit {
            Exit::Done => ExitCode::SUCCESS,
            Exit::Slower | Exit::Refuted => ExitCode::from(1),
            Exit::Incomplete => ExitCode::from(3),
            Exit::Undecided => ExitCode::from(5),
            Exit::Signal(signal) => ExitCode::from(u8::try_from(128 + signal).unwrap_or(u8::MAX)),
        }
    }
}

/// An error in what was typed or in a file that it names: nothing was run.
#[derive(Debug, thiserror::Error)]
#[error("{0:#}")]
pub struct InputError(pub(super) anyhow::Error);

/// The exit code of an error: 2 for bad input, else 4.
pub fn exit_code(error: &anyhow::Error) -> ExitCode {
    ExitCode::from(if error.is::<InputError>() { 2 } else { 4 })
}

/// An error in words: without the names of temporary files, which tempfile adds and a user never chose.
pub fn words(error: &anyhow::Error) -> String {
    const PATH: &str = " at path \"";
    let mut text = format!("{error:#}");
    while let Some(begin) = text.find(PATH) {
        let rest = &text[begin + PATH.len()..];
        let end = rest.find('"').map_or(text.len(), |end| begin + PATH.len() + end + 1);
        text.replace_range(begin..end, "");
    }
    text
}

/// Advice for errors whose message contains none.
pub fn hint(error: &anyhow::Error) -> &'static str {
    let error = error.downcast_ref().map_or(error, |InputError(error)| error);
    let is_limit = |cause: &io::Error| cause.kind() == io::ErrorKind::FileTooLarge;
    match error.chain().any(|cause| cause.downcast_ref().is_some_and(is_limit)) {
        true => "; `ulimit -f unlimited` lifts the limit on the length of files",
        false => "",
    }
}

/// Marks errors as those of the input.
pub trait AsInput<T> {
    /// The same with its error marked.
    fn input(self) -> Result<T>;
}

impl<T> AsInput<T> for Result<T> {
    fn input(self) -> Result<T> {
        self.map_err(|error| InputError(error).into())
    }
}

/// The name of a run file, without folders.
pub fn file_name(path: &Path) -> String {
    path.file_name().map_or("run.jsonl".into(), |name| name.to_string_lossy().into_owned())
}

/// Prints a result.
pub fn print(text: &str) -> Result<Exit> {
    terminal::print(text).context("cannot write the result")?;
    Ok(Exit::Done)
}
