//! Facts about a process: how it ended and what it wrote last.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use dyno_launch::Interrupts;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

/// The most that is shown of a program's output: its end, in lines and in bytes.
const SHOWN: (usize, usize) = (20, 4096);

/// The end of what a program wrote.
pub fn tail(text: &[u8]) -> String {
    let (lines, bytes) = SHOWN;
    let text = String::from_utf8_lossy(&text[text.len().saturating_sub(bytes)..]);
    let all: Vec<&str> = text.trim().lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}

/// The end of what a program wrote to a file: of a longer one than a message needs, no more is read. Empty where there is no
/// such file.
pub fn tail_of(path: &Path) -> String {
    let read = || {
        let mut file = dyno_files::open_unlinked(path)?;
        let before = file.metadata()?.len().saturating_sub(SHOWN.1 as u64);
        file.seek(SeekFrom::Start(before))?;
        let mut bytes = Vec::new();
        // It may grow meanwhile.
        file.take(2 * SHOWN.1 as u64).read_to_end(&mut bytes)?;
        io::Result::Ok(bytes)
    };
    tail(&read().unwrap_or_default())
}

/// The end of a server's log, for the message when the server did not do what it was asked for.
pub fn log_end(path: &Path) -> String {
    match tail_of(path) {
        log if log.is_empty() => "it wrote no log".to_owned(),
        log => format!("its log ends:\n{log}"),
    }
}

/// Describes how a process ended, as the end of a sentence.
pub fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal().map(Signal::try_from)) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(Ok(signal))) => format!("was killed by {signal}"),
        (None, _) => "ended".to_owned(),
    }
}

/// The text of a file in a folder that belongs to a server's account, which may have put a link or a FIFO there; empty
/// where there is no such text. Of a longer file, the first 64 KiB.
pub fn read_owned(path: &Path) -> String {
    let mut text = String::new();
    let read = dyno_files::open_unlinked(path).and_then(|file| file.take(1 << 16).read_to_string(&mut text));
    read.map_or_else(|_| String::new(), |_| text)
}

/// Makes a log anew, which only this user may read. A link in its place is not followed.
///
/// # Errors
/// It cannot be made.
pub fn new_log(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => OpenOptions::new().write(true).create_new(true).mode(0o600).open(path),
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
    let file = new_log(output).with_context(|| format!("cannot make {}", output.display()))?;
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

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_log_takes_the_place_of_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (log, other) = (folder.path().join("log"), folder.path().join("other"));
        fs::write(&other, "precious").unwrap();
        std::os::unix::fs::symlink(&other, &log).unwrap();
        drop(new_log(&log).unwrap());
        assert_eq!(fs::read_to_string(&other).unwrap(), "precious");
        assert!(fs::symlink_metadata(&log).unwrap().is_file());
        // One that is there is made anew, as on a restart.
        drop(new_log(&log).unwrap());
    }

    #[test]
    fn only_the_end_of_a_log_is_shown() {
        let log: String = (0..100).map(|line| format!("line {line}\n")).collect();
        let shown = tail(log.as_bytes());
        assert!(shown.starts_with("line 80\n") && shown.ends_with("line 99"), "{shown}");
        assert_eq!(tail(b"\n\n"), "");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        fs::write(&path, &log).unwrap();
        assert_eq!(tail_of(&path), shown);
        // A hole at the beginning, larger than the memory: only the end is read.
        File::options().write(true).open(&path).unwrap().set_len(1 << 40).unwrap();
        let mut end = OpenOptions::new().append(true).open(&path).unwrap();
        end.write_all(b"\nthe last line\n").unwrap();
        assert!(tail_of(&path).ends_with("the last line"));
        assert_eq!(tail_of(folder.path()), "");
    }
}
