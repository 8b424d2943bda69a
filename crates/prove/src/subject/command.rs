//! A user's own program: one command that commits, and one that looks for the commits.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::Result;
use dyno_launch::Interrupts;
use nix::unistd::Uid;

use super::{Contents, Subject, WorkMode, WorkOutcome};
use crate::history::{Line, words};
use crate::process::{Limit, Output, run};

/// The placeholder for the folder of the data in a command of [`Program`].
pub const FOLDER: &str = "{dir}";

/// A program in two commands for a shell. In both, `{dir}` stands for the folder with the data.
///
/// The first writes a line `ack N` when the commit N is acknowledged, and may write `begin N` before it begins one. The
/// second writes a line `have N` for each commit that it finds, and ends with 0 unless something else is wrong, which
/// it reports on standard error.
#[derive(Debug)]
pub struct Program {
    /// Makes the commits.
    pub command: String,
    /// Looks for them.
    pub check: String,
    /// The time limit of each command.
    pub patience: Duration,
    /// By which they are ended.
    pub interrupts: Interrupts,
}

impl Program {
    fn shell(command: &str, folder: &Path) -> Command {
        let mut shell = Command::new("/bin/sh");
        // The folder may have any name; as a parameter it needs no quotes of ours.
        let script = command.replace(FOLDER, "\"$1\"");
        shell.args(["-c", &script, "dyno-prove"]).arg(folder);
        shell
    }
}

impl Subject for Program {
    fn prepare(&self, _: &Path) -> Result<()> {
        Ok(())
    }

    fn work(&self, folder: &Path, output: File, manner: WorkMode) -> Result<WorkOutcome> {
        let limit = Limit { patience: self.patience, manner };
        let mut command = Program::shell(&format!("read go; {}", self.command), folder);
        let start = Instant::now();
        let ended = run(&mut command, b"\n", Output::Recorder(output), limit, &self.interrupts)?;
        let failure = (!ended.is_success()).then(|| format!("the command {}", ended.describe()));
        Ok(WorkOutcome { failure, took: start.elapsed() })
    }

    fn read(&self, line: &str) -> Line {
        words(line)
    }

    fn check(&self, folder: &Path) -> Result<Contents> {
        let limit = Limit { patience: self.patience, manner: WorkMode::default() };
        let ended =
            run(&mut Program::shell(&self.check, folder), &[], Output::Kept, limit, &self.interrupts)?;
        let number = |line: &str| line.strip_prefix("have ")?.trim().parse().ok();
        let commits: BTreeSet<u64> = ended.output.lines().filter_map(number).collect();
        if ended.is_late() {
            return Ok(Contents::late(format!("the check {}", ended.describe())));
        }
        let troubles =
            if ended.is_success() { Vec::new() } else { vec![format!("the check {}", ended.describe())] };
        let is_noticed = !troubles.is_empty();
        Ok(Contents { commits, troubles, is_noticed, late: None })
    }

    fn before(&self) -> Option<u64> {
        None
    }

    // Its commands may change to another account.
    fn accounts(&self) -> Option<Vec<Uid>> {
        None
    }

    // It may have several clients.
    fn is_in_order(&self) -> bool {
        false
    }
}
