//! A runner as a program: it is given a job and says what came of it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use dyno_protocol::{Event, Job, Sample};

/// The program of this name, next to dyno's own.
pub fn program(name: &str) -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_dyno")).with_file_name(name);
    assert!(program.is_file(), "{} is not built; `make test` builds it", program.display());
    program
}

/// Starts a runner and gives it a job.
pub fn begin(program: &Path, job: &Job) -> Child {
    let mut command = Command::new(program);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(&serde_json::to_vec(job).unwrap()).unwrap();
    child
}

/// The events of a runner that executes a job.
pub fn run(program: &Path, job: &Job) -> Vec<Event> {
    let output = begin(program, job).wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The error of a runner, which must have failed.
pub fn message(events: &[Event]) -> &str {
    match events.last() {
        Some(Event::Failed(failed)) => &failed.message,
        other => panic!("it should have failed: {other:?}"),
    }
}

/// The samples among the events.
pub fn samples(events: &[Event]) -> impl Iterator<Item = &Sample> {
    events.iter().filter_map(|event| match event {
        Event::Sample(sample) => Some(sample),
        _ => None,
    })
}

/// CRC-32 as zlib has it, bit by bit.
pub fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc: u32, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg()))
    })
}
