//! The C program: builds it beside the runners and runs it on a job.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use dyno::placement::Placement;
use dyno_protocol::{Job, Work};

use crate::session::Time;

/// The program's source.
const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/reference.c");
/// The bundled SQLite, which the SQLite runner's build leaves beside the programs with its header.
const LIBRARY: &str = "libdyno_sqlite3.so";

/// The program, ready to run.
pub struct Reference {
    program: PathBuf,
}

impl Reference {
    /// Compiles it and links it with the very library that the runner loads.
    pub fn build(programs: &Path) -> Result<Reference> {
        let library = programs.join(LIBRARY);
        ensure!(
            library.is_file(),
            "{} is missing: cargo build --release -p dyno-runner-sqlite -p dyno-runner-null",
            library.display()
        );
        let program = programs.join("dyno-bench-reference");
        let compiler = env::var("CC").unwrap_or_else(|_| "cc".to_owned());
        let mut command = Command::new(&compiler);
        command.args(["-O2", "-Wall", "-Wextra", "-Wl,-z,now", "-Wl,-rpath,$ORIGIN", "-I"]).arg(programs);
        command.arg("-o").arg(&program).arg(SOURCE).arg(library);
        let status = command.status().with_context(|| format!("cannot start the C compiler {compiler}"))?;
        ensure!(status.success(), "{SOURCE} did not compile");
        Ok(Reference { program })
    }

    /// Runs it where and how a runner would: a time for each test.
    pub fn run(&self, job: &Job, placement: &Placement) -> Result<Vec<Time>> {
        let mut command = Command::new(&self.program);
        command.env("SQLITE_TMPDIR", &job.directory).arg(job.directory.join("dyno.db"));
        command.args(job.settings.iter().map(|setting| format!("{}={}", setting.name, setting.value)));
        command.arg("--");
        command.args(job.tests.iter().map(|test| match &test.work {
            Work::Statements { file, .. } => file,
        }));
        command.stdin(Stdio::null()).stderr(Stdio::inherit());
        placement.prepare(&mut command)?;
        let output = command.output().context("cannot start the C program")?;
        ensure!(output.status.success(), "the C program failed: {}", output.status);
        let text = String::from_utf8(output.stdout)?;
        text.lines()
            .map(|line| time(line).with_context(|| format!("the C program printed: {line}")))
            .collect()
    }
}

/// Reads `NANOSECONDS WAIT`.
fn time(line: &str) -> Option<Time> {
    let (nanoseconds, wait) = line.split_once(' ')?;
    Some(Time { nanoseconds: nanoseconds.parse().ok()?, wait_ns: wait.parse().ok()? })
}
