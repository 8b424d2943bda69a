//! The processes that descend from another.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// The time for processes to stop. One that waits for a device may take longer, but starts no other meanwhile.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);

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
/// while they are listed; one that has stopped cannot, so the list is whole once nothing new is found.
pub fn stopped_descendants(of: u32) -> Vec<i32> {
    stop_all(&[of.cast_signed()]);
    let mut found = Vec::new();
    loop {
        let new: Vec<i32> = descendants(of).into_iter().filter(|process| !found.contains(process)).collect();
        if new.is_empty() {
            return found;
        }
        stop_all(&new);
        found.extend(new);
    }
}

/// Stops processes and waits until they have stopped. The signal alone is not enough: a process that is within `fork` when it
/// comes still starts its child.
fn stop_all(processes: &[i32]) {
    for &process in processes {
        let _ = kill(Pid::from_raw(process), Signal::SIGSTOP);
    }
    let deadline = Instant::now() + STOP_TIMEOUT;
    while processes.iter().any(|&process| runs(process)) && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(1));
    }
}

/// True if a process has neither stopped nor ended.
fn runs(process: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next());
    state.is_some_and(|state| !"TtZX".contains(state))
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
        // A killed process is gone once it has had a processor.
        let left = || fs::read_dir("/proc").unwrap().flatten().filter(is_left).count();
        let deadline = Instant::now() + Duration::from_secs(60);
        while left() > 0 && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(left(), 0);
    }
}
