//! The C programs: builds one for each client library next to the runners, and runs them on jobs.

use std::collections::BTreeMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use dyno_engine::Contender;
use dyno_launch::placed;
use dyno_protocol::{Job, Server, Work};
use dyno_record::Placement;

use crate::comparison::Time;
use crate::{kv, rows};

/// The folder of the programs' sources.
const SOURCES: &str = env!("CARGO_MANIFEST_DIR");
/// The bundled SQLite, which the SQLite runner's build leaves next to the programs with its header.
const SQLITE: &str = "libdyno_sqlite3.so";
/// The programs' sources and the libraries of the system that they are linked with, by the suite and the
/// runner that loads the same library.
const PROGRAMS: [(&str, &str, &str, &str); 6] = [
    ("speedtest", "sqlite", "reference.c", SQLITE),
    ("speedtest", "postgres", "libpq.c", "-l:libpq.so.5"),
    ("speedtest", "mysql", "libmariadb.c", "-l:libmariadb.so.3"),
    ("intuition", "sqlite", "prepared.c", SQLITE),
    ("kv", "sqlite", "prepared.c", SQLITE),
    ("kv", "bdb", "bdb.c", "-l:libdb-5.3.so"),
];

/// The programs, ready to run, by the runner that each is compared with.
pub struct References {
    programs: BTreeMap<String, PathBuf>,
}

impl References {
    /// Compiles those that are compared with these runners, and links each with the very library that
    /// the runner loads.
    pub fn build<'a>(
        folder: &Path,
        suite: &str,
        runners: impl Iterator<Item = &'a str>,
    ) -> Result<References> {
        let mut programs = BTreeMap::new();
        for runner in runners {
            let found = PROGRAMS.iter().find(|(of, name, ..)| (*of, *name) == (suite, runner));
            let (_, _, source, library) =
                found.with_context(|| format!("no C program does what {runner} does in {suite}"))?;
            if !programs.contains_key(runner) {
                programs.insert(runner.to_owned(), compile(folder, source, library)?);
            }
        }
        Ok(References { programs })
    }

    /// Runs one where and how a runner would run: a time for each test. `work` are its arguments after the
    /// place of the database.
    pub fn run(
        &self,
        contender: &Contender,
        job: &Job,
        work: impl IntoIterator<Item = impl AsRef<OsStr>>,
        placement: &Placement,
    ) -> Result<Vec<Time>> {
        let mut command = Command::new(&self.programs[&contender.runner.name]);
        command.env("SQLITE_TMPDIR", &job.directory).args(place(contender, job)?).args(work);
        let text = output(command, placement).context("the C program")?;
        text.lines()
            .map(|line| time(line).with_context(|| format!("the C program printed: {line}")))
            .collect()
    }

    /// The command that starts one that takes turns.
    pub fn in_turns(&self, contender: &Contender, job: &Job) -> Result<Vec<OsString>> {
        let mut scratch = OsString::from("SQLITE_TMPDIR=");
        scratch.push(&job.directory);
        let program = self.programs[&contender.runner.name].clone();
        let first = ["env".into(), scratch, program.into(), "turns".into()];
        Ok(first.into_iter().chain(place(contender, job)?).chain(tests(job)?).collect())
    }
}

/// The tests of a job, as a C program reads them.
pub fn tests(job: &Job) -> Result<Vec<OsString>> {
    let mut arguments = vec![OsString::from("--")];
    for test in &job.tests {
        match &test.work {
            Work::Statements { file, .. } => arguments.push(file.into()),
            Work::InsertRows(load) | Work::BulkLoad(load) => {
                arguments.extend(rows::arguments(&test.setup, load))
            }
            Work::Scan { sql, .. } => arguments.extend(["query".into(), sql.into()]),
            work => arguments.extend(kv::arguments(work).context("no C program does this test")?),
        }
    }
    Ok(arguments)
}

/// psql's own time for the last of these commands, in a database made for them.
pub fn copy(job: &Job, script: [String; 3], placement: &Placement) -> Result<Time> {
    let server = job.server.as_ref().context("psql needs a server")?;
    let psql = |database: &str, commands: &[String]| {
        let mut command = Command::new("psql");
        command.env("PGOPTIONS", "-c client_min_messages=warning");
        command.args(["-X", "-v", "ON_ERROR_STOP=1", "-h", &server.host, "-U", &server.user, "-d", database]);
        command.args(["-p", &server.port.unwrap_or(5432).to_string()]);
        command.args(commands.iter().flat_map(|text| ["-c", text]));
        output(command, placement).context("psql")
    };
    let maintenance = job.maintenance.as_ref().and_then(|maintenance| maintenance.database.as_deref());
    let maintenance = maintenance.context("psql needs an administrative database")?;
    let scratch = server.database.as_deref().context("psql needs a database")?;
    let remove = format!("DROP DATABASE IF EXISTS {scratch}");
    let like = "TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'";
    psql(maintenance, &[remove.clone(), format!("CREATE DATABASE {scratch} {like}")])?;
    let text = psql(scratch, &script)?;
    psql(maintenance, &[remove])?;
    let time = text.lines().find_map(|line| line.strip_prefix("Time: ")?.split(' ').next()?.parse().ok());
    let milliseconds: f64 = time.with_context(|| format!("psql printed no time: {text}"))?;
    Ok(Time { nanoseconds: (milliseconds * 1e6) as u64, wait_ns: 0, cpu_ns: 0, operations: 0 })
}

/// The output of a program that runs on the CPUs where a runner would.
fn output(mut command: Command, placement: &Placement) -> Result<String> {
    command.stdin(Stdio::null()).stderr(Stdio::inherit());
    placed::prepare(placement, &mut command)?;
    let output = command.output().context("cannot be started")?;
    ensure!(output.status.success(), "failed: {}", output.status);
    Ok(String::from_utf8(output.stdout)?)
}

fn compile(folder: &Path, source: &str, library: &str) -> Result<PathBuf> {
    let bundled = folder.join(SQLITE);
    ensure!(
        library != SQLITE || bundled.is_file(),
        "{} is missing: cargo build --release -p dyno-runner-sqlite -p dyno-runner-null",
        bundled.display()
    );
    let source = Path::new(SOURCES).join(source);
    let name = source.file_stem().unwrap_or_default().to_string_lossy();
    let program = folder.join(format!("dyno-bench-{name}"));
    let compiler = env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let mut command = Command::new(&compiler);
    command.args(["-O2", "-Wall", "-Wextra", "-Wl,-z,now", "-Wl,-rpath,$ORIGIN", "-I"]).arg(folder);
    command.arg("-o").arg(&program).arg(&source);
    if library == SQLITE {
        command.arg(bundled)
    } else {
        command.arg(library)
    };
    let status = command.status().with_context(|| format!("cannot start the C compiler {compiler}"))?;
    ensure!(status.success(), "{} did not compile", source.display());
    Ok(program)
}

/// A program's arguments before the files: where the database is.
fn place(contender: &Contender, job: &Job) -> Result<Vec<OsString>> {
    let texts = |list: &[&str]| list.iter().map(OsString::from).collect();
    match (contender.runner.name.as_str(), &job.server) {
        ("sqlite" | "bdb", None) => Ok(embedded(contender, job)),
        ("postgres", Some(Server { host, port, user, database: Some(database), .. })) => {
            Ok(texts(&[host, &port.unwrap_or(5432).to_string(), user, database]))
        }
        ("mysql", Some(Server { host, user, database: Some(database), .. })) => {
            Ok(texts(&[host, user, database]))
        }
        (runner, _) => bail!("no C program does the job of {runner}"),
    }
}

/// The path of an embedded database, and its settings.
fn embedded(contender: &Contender, job: &Job) -> Vec<OsString> {
    let settings = contender.settings.iter().map(|setting| format!("{}={}", setting.name, setting.value));
    [job.directory.clone().into()].into_iter().chain(settings.map(OsString::from)).collect()
}

/// Reads `NANOSECONDS WAIT CPU`.
fn time(line: &str) -> Option<Time> {
    let mut numbers = line.split(' ').map(|number| number.parse().ok());
    Some(Time {
        nanoseconds: numbers.next()??,
        wait_ns: numbers.next()??,
        cpu_ns: numbers.next()??,
        operations: 0,
    })
}
