//! Facts about a process: how it ended, what it wrote last, and its descendants.

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;

use crate::interrupts::Interrupts;

/// The most that is shown of a program's output: its end, in lines and in bytes.
const SHOWN: (usize, usize) = (20, 4096);

/// The end of what a program wrote.
pub fn tail(text: &[u8]) -> String {
    let (lines, bytes) = SHOWN;
    let text = String::from_utf8_lossy(&text[text.len().saturating_sub(bytes)..]);
    let all: Vec<&str> = text.trim().lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}

/// Describes how a process ended, as the end of a sentence.
pub fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal().map(Signal::try_from)) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(Ok(signal))) => format!("was killed by {signal}"),
        (None, _) => "ended".to_owned(),
    }
}

/// Runs a program in a new process group to its end; its output goes to the file `output`.
///
/// # Errors
/// It cannot be started, or it takes longer than `patience`, or the user asks the run to stop meanwhile; then it is
/// ended with all of its group.
pub fn run(
    command: &mut Command,
    output: &Path,
    patience: Duration,
    interrupts: &Interrupts,
) -> Result<ExitStatus> {
    let program = command.get_program().display().to_string();
    let file = File::create(output).with_context(|| format!("cannot make {}", output.display()))?;
    let mut child = command
        .stdout(file.try_clone()?)
        .stderr(file)
        .spawn()
        .with_context(|| format!("cannot run {program}"))?;
    let deadline = Instant::now() + patience;
    let trouble = loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if let Err(interrupted) = interrupts.check() {
            break interrupted;
        }
        if Instant::now() > deadline {
            break anyhow!("{program} did not end within {} s", patience.as_secs());
        }
        thread::sleep(Duration::from_millis(5));
    };
    let _ = killpg(Pid::from_raw(child.id().cast_signed()), Signal::SIGKILL);
    let _ = child.kill();
    let _ = child.wait();
    Err(trouble)
}

/// The processes that descend from one, each after its parent, as far as they can be seen.
pub fn descendants(of: u32) -> Vec<i32> {
    let processes: Vec<(i32, i32)> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
            // The name before the last parenthesis may hold anything; state and parent follow it.
            let parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
            Some((pid, parent))
        })
        .collect();
    let mut found = vec![of.cast_signed()];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        found.extend(processes.iter().filter(|process| process.1 == parent).map(|process| process.0));
        next += 1;
    }
    found.split_off(1)
}

/// Stops a process and all that descend from it, and returns those that do. A process that runs may start another one
/// while they are listed; one that is stopped cannot, so the list is whole once nothing new is found.
pub fn stopped_descendants(of: u32) -> Vec<i32> {
    let stop = |process: i32| {
        let _ = kill(Pid::from_raw(process), Signal::SIGSTOP);
    };
    stop(of.cast_signed());
    let mut found = Vec::new();
    loop {
        let new: Vec<i32> = descendants(of).into_iter().filter(|process| !found.contains(process)).collect();
        if new.is_empty() {
            return found;
        }
        new.iter().copied().for_each(stop);
        found.extend(new);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn children_and_their_children_are_found() {
        let script = "(echo; exec sleep 60) & wait";
        let mut shell = Command::new("sh")
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        shell.stdout.take().unwrap().read_exact(&mut [0]).unwrap();
        let found = descendants(shell.id());
        assert_eq!(found.len(), 1, "{found:?}");
        let above = descendants(std::process::id());
        assert!(above.contains(&shell.id().cast_signed()) && above.contains(&found[0]), "{above:?}");
        shell.kill().unwrap();
        shell.wait().unwrap();
        for child in found {
            nix::sys::signal::kill(nix::unistd::Pid::from_raw(child), Signal::SIGKILL).unwrap();
        }
    }

    #[test]
    fn a_process_that_goes_on_starting_others_leaves_none() {
        let script = "n=0; while [ $n -lt 2000 ]; do sleep 61.987 & n=$((n+1)); done; wait";
        let mut shell = Command::new("sh").args(["-c", script]).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(100));
        let found = stopped_descendants(shell.id());
        shell.kill().unwrap();
        shell.wait().unwrap();
        assert!(!found.is_empty());
        for child in found {
            kill(Pid::from_raw(child), Signal::SIGKILL).unwrap();
        }
        let is_left = |process: &fs::DirEntry| {
            fs::read(process.path().join("cmdline")).is_ok_and(|line| line == b"sleep\x0061.987\0")
        };
        std::thread::sleep(Duration::from_millis(50));
        let left = fs::read_dir("/proc").unwrap().flatten().filter(is_left).count();
        assert_eq!(left, 0);
    }

    #[test]
    fn only_the_end_of_a_log_is_shown() {
        let log: String = (0..100).map(|line| format!("line {line}\n")).collect();
        let shown = tail(log.as_bytes());
        assert!(shown.starts_with("line 80\n") && shown.ends_with("line 99"), "{shown}");
        assert_eq!(tail(b"\n\n"), "");
    }
}
