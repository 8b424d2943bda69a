//! Measures `dyno import` against the other ways to load the same file, in turn, and prints medians:
//! the sqlite3 shell's `.import`, C written by hand (`bench/import.c`) without any safety, `psql \copy`.
//!
//! The file is made from a seed, of the shape of a transit schedule: 864,913 records of seven columns.
//! What a contender needs before (an empty folder, a server, a table for psql) is there before the
//! clock starts. Only dyno's database is on the device when the clock stops.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use dyno_engine::{Home, Registry};
use dyno_lab::machine::allowed_cpus;
use dyno_lab::placement;
use dyno_lab::scratch::{self, Scratch};
use dyno_lab::server::{Installation, PrivateServer};
use dyno_protocol::Build;
use dyno_record::cpu_list;

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
    /// Rows of three numbers to load besides, from a file of their own. 100 million take 6 GB of disk.
    #[arg(long, default_value_t = 2_000_000)]
    numbers: u64,
    /// Where files and databases go.
    #[arg(long, default_value_os_t = scratch::default_parent())]
    dir: PathBuf,
}

/// The columns of the schedule, and what C calls their types.
const COLUMNS: &str =
    "route TEXT, branch TEXT, version INTEGER, stop INTEGER, vehicle INTEGER, day INTEGER, time TEXT";
const TYPES: (&str, &str) = ("TEXT,TEXT,INTEGER,INTEGER,INTEGER,INTEGER,TEXT", "ttiiiit");

/// A way to load, as a command.
struct Contender {
    name: &'static str,
    command: Box<dyn Fn() -> Command>,
    /// What to do before each time.
    before: Box<dyn Fn() -> Result<()>>,
    seconds: Vec<f64>,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let folder = tempfile::Builder::new().prefix("dyno-bench-").tempdir_in(&arguments.dir)?;
    let programs = std::env::current_exe()?.parent().context("this program lies in no folder")?.to_owned();
    let c = compile(&programs)?;
    let (schedule, numbers) = (folder.path().join("schedule.tsv"), folder.path().join("numbers.tsv"));
    make_schedule(&schedule, arguments.records)?;
    make_numbers(&numbers, arguments.numbers)?;

    let sqlite = folder.path().join("sqlite");
    let mut contenders = vec![
        dyno(&programs, &schedule, &sqlite.join("a.db"), TYPES.0),
        in_c(&c, &schedule, &sqlite, TYPES.1, None),
    ];
    contenders.extend(shell(&schedule, &sqlite));
    compare("864,913 records into a new SQLite database", &mut contenders, arguments.rounds)?;

    let mut contenders = vec![
        dyno(&programs, &numbers, &sqlite.join("a.db"), "INTEGER,INTEGER,INTEGER"),
        in_c(&c, Path::new("-"), &sqlite, "iii", Some(arguments.numbers)),
    ];
    let title = format!("{} rows of three numbers into a new SQLite database", arguments.numbers);
    compare(&title, &mut contenders, arguments.rounds)?;
    into_postgres(&programs, &schedule, &arguments)
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
    let at = server.connection("");
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
    let mut contenders = vec![
        contender("dyno import", import, drop_table),
        contender("psql \\copy", move || copy(&[format!("\\copy schedule from '{file}'")]), create),
    ];
    compare("864,913 records into PostgreSQL", &mut contenders, arguments.rounds)
}

fn contender(
    name: &'static str,
    command: impl Fn() -> Command + 'static,
    before: impl Fn() -> Result<()> + 'static,
) -> Contender {
    Contender { name, command: Box::new(command), before: Box::new(before), seconds: Vec::new() }
}

fn dyno(programs: &Path, file: &Path, database: &Path, types: &str) -> Contender {
    let (program, file, types) = (programs.join("dyno"), file.to_owned(), types.to_owned());
    let (folder, database) = (database.parent().unwrap_or(Path::new(".")).to_owned(), database.to_owned());
    let command = move || {
        let mut command = Command::new(&program);
        command.args(["import", "-q", "--no-header", "--types", &types, "--into"]).arg(&database).arg(&file);
        command
    };
    contender("dyno import, durable", command, move || fresh(&folder))
}

fn in_c(program: &Path, file: &Path, folder: &Path, types: &'static str, count: Option<u64>) -> Contender {
    let (program, file, folder) = (program.to_owned(), file.to_owned(), folder.to_owned());
    let database = folder.join("c.db");
    let command = move || {
        let mut command = Command::new(&program);
        command.arg(&database).arg(&file).arg(types).args(count.map(|count| count.to_string()));
        command
    };
    contender("C by hand, no safety", command, move || fresh(&folder))
}

/// The sqlite3 shell, where it is installed.
fn shell(file: &Path, folder: &Path) -> Option<Contender> {
    let installed = Command::new("sqlite3").arg("-version").stdout(Stdio::null()).status().is_ok();
    if !installed {
        println!("The sqlite3 shell is left out: it is not installed.");
        return None;
    }
    let (folder, import) = (folder.to_owned(), format!(".import {} t", file.display()));
    let database = folder.join("s.db");
    let command = move || {
        let mut command = Command::new("sqlite3");
        command.arg(&database).args([".mode tabs", &format!("CREATE TABLE t({COLUMNS})"), &import]);
        command
    };
    Some(contender("sqlite3 .import", command, move || fresh(&folder)))
}

/// An empty folder, and nothing of before still on its way to the device.
fn fresh(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir(folder)?;
    nix::unistd::sync();
    Ok(())
}

fn executed(mut command: Command) -> Result<()> {
    let output =
        command.stdin(Stdio::null()).output().with_context(|| format!("cannot start {command:?}"))?;
    ensure!(output.status.success(), "{command:?} failed: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

/// Runs all of them in turn and prints the medians.
fn compare(title: &str, contenders: &mut [Contender], rounds: usize) -> Result<()> {
    for round in 0..=rounds {
        // Each goes first in its turn.
        for turn in 0..contenders.len() {
            let place = (round + turn) % contenders.len();
            let contender = &mut contenders[place];
            (contender.before)()?;
            let began = Instant::now();
            executed((contender.command)())?;
            let seconds = began.elapsed().as_secs_f64();
            // The first round fills caches.
            if round > 0 {
                contender.seconds.push(seconds);
            }
        }
    }
    println!("### {title}\n\n| | median | min | max | over dyno |\n| --- | --- | --- | --- | --- |");
    let medians: Vec<f64> = contenders.iter_mut().map(|contender| median(&mut contender.seconds)).collect();
    for (contender, median) in contenders.iter().zip(&medians) {
        let (min, max) = (contender.seconds[0], contender.seconds[contender.seconds.len() - 1]);
        let over = median / medians[0];
        println!("| {} | {median:.3} s | {min:.3} s | {max:.3} s | {over:.2}× |", contender.name);
    }
    println!();
    Ok(())
}

fn median(seconds: &mut [f64]) -> f64 {
    seconds.sort_by(f64::total_cmp);
    let half = seconds.len() / 2;
    if seconds.len() % 2 == 1 { seconds[half] } else { (seconds[half - 1] + seconds[half]) / 2.0 }
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

fn make_schedule(path: &Path, records: u64) -> Result<()> {
    let mut random = fastrand::Rng::with_seed(1);
    let mut file = BufWriter::new(File::create(path)?);
    for _ in 0..records {
        let (route, branch, letter) = (random.u32(1..200), random.u32(1..90), random.char('A'..='D'));
        let (version, stop, vehicle, day) =
            (random.u32(1..4), random.u32(1..13_000), random.u32(1..2_000), random.u32(1..4));
        // As in timetables, the day goes on after midnight.
        let (hour, minute, second) = (random.u32(4..27), random.u32(0..60), random.u32(0..60));
        writeln!(
            file,
            "{route}\t{branch}_{letter}\t{version}\t{stop}\t{vehicle}\t{day}\t{hour:02}:{minute:02}:{second:02}"
        )?;
    }
    Ok(file.flush()?)
}

fn make_numbers(path: &Path, rows: u64) -> Result<()> {
    let mut random = fastrand::Rng::with_seed(2);
    let mut file = BufWriter::new(File::create(path)?);
    for _ in 0..rows {
        writeln!(file, "{}\t{}\t{}", random.i64(..), random.i64(..), random.i64(..))?;
    }
    Ok(file.flush()?)
}
