//! Measures `dyno import` against the other ways to load the same file, in turn, and prints medians:
//! the sqlite3 shell's `.import`, C written by hand (`bench/import.c`) without any safety, SQLite's inserts of the same
//! rows, `psql \copy`; and against copying and syncing the finished file, which no way can undercut.
//!
//! The file is made from a seed, of the shape of a transit schedule: 864,913 records of seven columns.
//! The needs of a contender (an empty folder, a server, a table for psql) are met before the
//! clock starts. Only dyno's database is on the device when the clock stops.

mod compare;
mod files;
mod sqlite;

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use clap::Parser;
use dyno_engine::{Home, Registry};
use dyno_lab::machine::allowed_cpus;
use dyno_lab::placement;
use dyno_lab::scratch::{self, Scratch};
use dyno_lab::server::{Installation, PrivateServer};
use dyno_protocol::Build;
use dyno_record::cpu_list;

use compare::{Contender, compare, executed};

/// Measure `dyno import` against the other ways.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Measured rounds of each contender; one more goes before them to warm up.
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Records of the schedule.
    #[arg(long, default_value_t = 864_913)]
    records: u64,
    /// Only the tables whose titles hold this.
    #[arg(long, default_value = "")]
    only: String,
    /// Rows of three numbers to load besides, from a separate file. 100 million take 6 GB of disk.
    #[arg(long, default_value_t = 2_000_000)]
    numbers: u64,
    /// Another `dyno` to measure next to this one, such as one of before a change.
    #[arg(long)]
    before: Option<PathBuf>,
    /// The folder of files and databases.
    #[arg(long, default_value_os_t = scratch::default_parent())]
    dir: PathBuf,
}

impl Arguments {
    /// Compares contenders, where their table is asked for.
    fn compare(&self, title: &str, contenders: Vec<Contender>) -> Result<()> {
        if title.contains(&self.only) { compare(title, contenders, self.rounds) } else { Ok(()) }
    }
}

/// The columns of the schedule, and what C calls their types.
const COLUMNS: &str =
    "route TEXT, branch TEXT, version INTEGER, stop INTEGER, vehicle INTEGER, day INTEGER, time TEXT";
const TYPES: (&str, &str) = ("TEXT,TEXT,INTEGER,INTEGER,INTEGER,INTEGER,TEXT", "ttiiiit");

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let folder = tempfile::Builder::new().prefix("dyno-bench-").tempdir_in(&arguments.dir)?;
    let programs = std::env::current_exe()?.parent().context("this program lies in no folder")?.to_owned();
    let c = compile(&programs)?;
    let (schedule, numbers) = (folder.path().join("schedule.tsv"), folder.path().join("numbers.tsv"));
    files::schedule(&schedule, arguments.records)?;
    files::numbers(&numbers, arguments.numbers)?;
    let quoted = folder.path().join("quoted.csv");
    files::quoted(&schedule, &quoted)?;

    let folder = folder.path().join("sqlite");
    let before = arguments.before.as_deref();
    let typed = &["--types", TYPES.0];
    let mut contenders = vec![
        sqlite::dyno("dyno import, durable", &programs, &schedule, &folder, typed),
        sqlite::dyno("dyno import, types inferred, durable", &programs, &schedule, &folder, &[]),
        sqlite::on_one(&programs, &schedule, &folder, typed),
        sqlite::inserts(&programs, &schedule, &folder, typed),
        sqlite::in_c(&c, &schedule, &folder, TYPES.1, None),
        sqlite::floor(&programs, &schedule, &folder, typed)?,
    ];
    contenders.extend(sqlite::shell(&schedule, &folder, ".mode tabs"));
    contenders.extend(sqlite::before(before, &schedule, &folder, typed));
    contenders.extend(sqlite::before_on_one(before, &schedule, &folder, typed));
    arguments.compare(&format!("{} records into a new SQLite database", arguments.records), contenders)?;

    let mut contenders = vec![
        sqlite::dyno("dyno import, durable", &programs, &quoted, &folder, typed),
        sqlite::inserts(&programs, &quoted, &folder, typed),
        sqlite::floor(&programs, &quoted, &folder, typed)?,
    ];
    contenders.extend(sqlite::shell(&quoted, &folder, ".mode csv"));
    contenders.extend(sqlite::before(before, &quoted, &folder, typed));
    arguments.compare("The same with quotes around every field", contenders)?;

    let indexed = &["--types", TYPES.0, "--index", "c4"];
    let mut contenders = vec![
        sqlite::dyno("dyno import, durable", &programs, &schedule, &folder, indexed),
        sqlite::inserts(&programs, &schedule, &folder, indexed),
        sqlite::floor(&programs, &schedule, &folder, indexed)?,
    ];
    contenders.extend(sqlite::before(before, &schedule, &folder, indexed));
    arguments.compare("The records with an index on a column of whole numbers", contenders)?;

    append(&programs, &schedule, &folder, &["--types", TYPES.0], &arguments)?;

    let whole = &["--types", "INTEGER,INTEGER,INTEGER"];
    let mut contenders = vec![
        sqlite::dyno("dyno import, durable", &programs, &numbers, &folder, whole),
        sqlite::inserts(&programs, &numbers, &folder, whole),
        sqlite::in_c(&c, Path::new("-"), &folder, "iii", Some(arguments.numbers)),
        sqlite::floor(&programs, &numbers, &folder, whole)?,
    ];
    contenders.extend(sqlite::before(before, &numbers, &folder, whole));
    let title = format!("{} rows of three numbers into a new SQLite database", arguments.numbers);
    arguments.compare(&title, contenders)?;
    append(&programs, &numbers, &folder, whole, &arguments)?;
    into_postgres(&programs, &schedule, &arguments)
}

/// Rows for a table that is there.
fn append(
    programs: &Path,
    file: &Path,
    folder: &Path,
    types: &'static [&str],
    arguments: &Arguments,
) -> Result<()> {
    let tiny = file.with_extension("tiny");
    let lines = BufReader::new(File::open(file)?).lines().take(2).collect::<io::Result<Vec<_>>>()?;
    fs::write(&tiny, lines.join("\n"))?;
    let files = [file, tiny.as_path()];
    let mut contenders = vec![
        sqlite::append("dyno import --append, durable", &programs.join("dyno"), files, folder, types),
        sqlite::inserts(programs, file, folder, types),
    ];
    let before = arguments.before.as_deref();
    contenders.extend(
        before.map(|before| sqlite::append("--append of before, durable", before, files, folder, types)),
    );
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    arguments.compare(&format!("The {name} into a table that is there"), contenders)
}

fn into_postgres(programs: &Path, schedule: &Path, arguments: &Arguments) -> Result<()> {
    let registry = Registry::load(&Home::find()?)?;
    let engine = registry.engine("postgres")?.server().context("PostgreSQL is no server")?;
    let installation = match Installation::find(&engine, &Build::System) {
        Ok(installation) => installation,
        Err(error) => {
            println!("PostgreSQL is left out: {error:#}");
            return Ok(());
        }
    };
    let scratch = Scratch::create(&arguments.dir)?;
    let trial = scratch.trial()?;
    let run = trial.path().parent().context("a trial is in a run's folder")?;
    // As a server that people have: it may use all processors.
    let all = cpu_list::format(&allowed_cpus());
    let server = PrivateServer::start(&installation, &[], run, &placement::choose(Some(&all), None)?)?;
    let at = server.connection("").server;
    let url = format!("postgres://{}@/postgres?host={}&port={}", at.user, at.host, at.port.unwrap_or(5432));
    let psql = move |sql: &[String]| {
        let mut command = Command::new("psql");
        command.args(["-Xq", &url]);
        sql.iter().for_each(|sql| {
            command.args(["-c", sql]);
        });
        command
    };
    let (clean, copy) = (psql.clone(), psql.clone());
    let drop_table = move || executed(clean(&["DROP TABLE IF EXISTS schedule".into()]));
    let create = move || {
        executed(psql(&["DROP TABLE IF EXISTS schedule".into(), format!("CREATE TABLE schedule({COLUMNS})")]))
    };
    let url = format!("postgres://{}@/postgres?host={}&port={}", at.user, at.host, at.port.unwrap_or(5432));
    let (program, file) = (programs.join("dyno"), schedule.to_owned());
    let import = move || {
        let mut command = Command::new(&program);
        // The server's own INTEGER, as in psql's table: dyno's is BIGINT.
        let types = TYPES.0.replace("INTEGER", "INT");
        command.args(["import", "-q", "--no-header", "--types", &types, "--into", &url]).arg(&file);
        command
    };
    let file = schedule.display().to_string();
    let contenders = vec![
        Contender::new("dyno import", import, drop_table),
        Contender::new("psql \\copy", move || copy(&[format!("\\copy schedule from '{file}'")]), create),
    ];
    arguments.compare(&format!("{} records into PostgreSQL", arguments.records), contenders)
}

fn compile(programs: &Path) -> Result<PathBuf> {
    let program = programs.join("dyno-bench-import-c");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("import.c");
    let mut command = Command::new(std::env::var("CC").unwrap_or_else(|_| "cc".to_owned()));
    command.args(["-O2", "-Wall", "-Wextra", "-Wl,-rpath,$ORIGIN", "-I"]).arg(programs);
    command.arg("-o").arg(&program).arg(source).arg(programs.join("libdyno_sqlite3.so"));
    executed(command)?;
    Ok(program)
}
