//! The programs that are compared: builds the C reference, and runs one of them once.

use std::env;
use std::fs::File;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use dyno_protocol::{Build, Event, Job, PROTOCOL, Setting, Test, Work};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

use crate::inputs::Input;

/// The C program, compiled into the folder of the runners.
const REFERENCE: &str = "dyno-bench-reference";
/// The bundled SQLite and its header, which the SQLite runner's build leaves in the same folder.
const LIBRARY: &str = "libdyno_sqlite3.so";
/// The C program's source.
const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/reference.c");

/// Where the programs run.
pub struct Place {
    /// The one processor that all of them run on.
    set: CpuSet,
    /// Where the databases go.
    folder: PathBuf,
}

impl Place {
    /// Takes one processor for the programs and leaves the others to this one.
    pub fn choose(cpu: Option<usize>, folder: &Path) -> Result<Place> {
        let allowed = sched_getaffinity(Pid::this()).context("cannot tell which processors there are")?;
        let is_allowed = |cpu: &usize| allowed.is_set(*cpu).unwrap_or(false);
        let chosen = match cpu {
            Some(cpu) => Some(cpu).filter(is_allowed),
            None => (0..CpuSet::count()).rev().find(is_allowed),
        };
        let chosen = chosen.context("this process may not run on that processor")?;
        let mut set = CpuSet::new();
        set.set(chosen)?;
        let mut others = allowed;
        others.unset(chosen)?;
        // With one processor there are no others, and this changes nothing.
        let _ = sched_setaffinity(Pid::this(), &others);
        Ok(Place { set, folder: folder.to_owned() })
    }

    /// A fresh folder, with nothing left to be written from what ran before.
    fn fresh(&self) -> Result<tempfile::TempDir> {
        nix::unistd::sync();
        tempfile::tempdir_in(&self.folder).context("cannot make a folder for a database")
    }

    fn pin(&self, command: &mut Command) {
        let set = self.set;
        // SAFETY: between fork and exec this makes one system call and allocates nothing.
        unsafe { command.pre_exec(move || Ok(sched_setaffinity(Pid::from_raw(0), &set)?)) };
    }
}

/// The folder that holds them.
pub struct Programs {
    bin: PathBuf,
}

impl Programs {
    /// Compiles the C program and links it with the very library that the runner loads.
    pub fn prepare(bin: &Path) -> Result<Programs> {
        for needed in ["dyno-runner-sqlite", "dyno-runner-null", LIBRARY] {
            ensure!(
                bin.join(needed).is_file(),
                "{} is missing: cargo build --release -p dyno-runner-sqlite -p dyno-runner-null",
                bin.join(needed).display()
            );
        }
        let compiler = env::var("CC").unwrap_or_else(|_| "cc".to_owned());
        let mut command = Command::new(&compiler);
        command.args(["-O2", "-Wall", "-Wextra", "-Wl,-z,now", "-Wl,-rpath,$ORIGIN", "-I"]).arg(bin);
        command.arg("-o").arg(bin.join(REFERENCE)).arg(SOURCE).arg(bin.join(LIBRARY));
        let status = command.status().with_context(|| format!("cannot start the C compiler {compiler}"))?;
        ensure!(status.success(), "{SOURCE} did not compile");
        Ok(Programs { bin: bin.to_owned() })
    }

    /// Runs the C program: nanoseconds per input.
    pub fn reference(&self, place: &Place, inputs: &[Input], settings: &[Setting]) -> Result<Vec<u64>> {
        let folder = place.fresh()?;
        let mut command = Command::new(self.bin.join(REFERENCE));
        command.env("SQLITE_TMPDIR", folder.path()).arg(folder.path().join("dyno.db"));
        command.args(settings.iter().map(|setting| format!("{}={}", setting.name, setting.value)));
        command.arg("--").args(inputs.iter().map(|input| &input.file)).stderr(Stdio::inherit());
        place.pin(&mut command);
        let output = command.output().context("cannot start the C reference")?;
        ensure!(output.status.success(), "the C reference failed");
        let text = String::from_utf8(output.stdout)?;
        let times: Vec<u64> = text.lines().map(str::parse).collect::<Result<_, _>>()?;
        ensure!(times.len() == inputs.len(), "the C reference gave {} times", times.len());
        Ok(times)
    }

    /// Runs one of dyno's runners as dyno does: nanoseconds per input.
    pub fn runner(
        &self,
        engine: &str,
        driver: &str,
        place: &Place,
        inputs: &[Input],
        settings: Vec<Setting>,
    ) -> Result<Vec<u64>> {
        let folder = place.fresh()?;
        let test = |input: &Input| Test {
            id: input.id.clone(),
            work: Work::Statements { file: input.file.clone(), count: input.count },
            check: None,
        };
        let job = Job {
            protocol: PROTOCOL,
            engine: engine.to_owned(),
            driver: driver.to_owned(),
            build: Build::Bundled,
            settings,
            server: None,
            directory: folder.path().to_owned(),
            tests: inputs.iter().map(test).collect(),
        };
        let mut input: File = tempfile::tempfile()?;
        serde_json::to_writer(&mut input, &job)?;
        input.flush()?;
        std::io::Seek::rewind(&mut input)?;
        let mut command = Command::new(self.bin.join(format!("dyno-runner-{engine}")));
        command.stdin(input).stderr(Stdio::inherit());
        place.pin(&mut command);
        let output = command.output().with_context(|| format!("cannot start the runner {engine}"))?;
        samples(&String::from_utf8(output.stdout)?, inputs)
    }
}

/// The durations among a runner's events.
fn samples(events: &str, inputs: &[Input]) -> Result<Vec<u64>> {
    let mut times = Vec::new();
    for line in events.lines() {
        match serde_json::from_str(line).with_context(|| format!("no event: {line}"))? {
            Event::Sample(sample) => times.push(sample.nanoseconds),
            Event::Failed(failed) => bail!("the runner failed: {}", failed.message),
            _ => {}
        }
    }
    ensure!(times.len() == inputs.len(), "the runner gave {} samples", times.len());
    Ok(times)
}
