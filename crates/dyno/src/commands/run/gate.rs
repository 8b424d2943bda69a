//! `--gate`: whether any test is worse than is allowed.

use dyno_verdict::{GateLimit, RunGate, Verdict};

use crate::commands::outcome::Exit;

/// The tests that exceed a limit, and in the last line what the gate rests on. `exit` is that of the run.
pub fn judge(verdict: &Verdict, limits: &[GateLimit], exit: Exit) -> (String, Exit) {
    let gate = RunGate::new(verdict, limits);
    let lines: Vec<String> = gate.exceeded.iter().cloned().chain([gate.to_string()]).collect();
    let exit = match exit {
        Exit::Signal(_) => exit,
        _ if !gate.exceeded.is_empty() => Exit::Slower,
        Exit::Incomplete => exit,
        _ if gate.undecided > 0 || gate.judged == 0 => Exit::Undecided,
        _ => Exit::Done,
    };
    (lines.join("\n"), exit)
}
