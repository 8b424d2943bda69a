//! Rows into servers: what is compared with what.
//!
//! dyno's prepared inserts are compared with a C loop, its LOAD DATA with a C program that lets libmariadb send
//! a file, and its COPY with psql's `\copy` of a file. Those files lie in memory.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use dyno_engine::Contender;
use dyno_protocol::{Column, Commits, Job, LoadWork, RowFile, Test, Work};
use fastrand::Rng;
use tempfile::TempDir;

/// The columns' names and widths, the narrow ones of the suite `intuition`.
const COLUMNS: [(&str, usize); 3] = [("a1", 8), ("b2", 8), ("c3", 8)];
/// Makes the table.
const SETUP: &str = "CREATE TABLE t(a1 TEXT, b2 TEXT, c3 TEXT)";
/// The folder of files in memory.
const MEMORY: &str = "/dev/shm";

/// One load that is compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load {
    /// dyno's variant; none for prepared inserts one by one.
    pub variant: Option<&'static str>,
    /// The program that it is compared with.
    pub other: &'static str,
    /// Most that the ratio may be.
    pub aim: f64,
}

const INSERT: Load = Load { variant: None, other: "a C loop", aim: 1.02 };
const COPY: Load = Load { variant: Some("copy"), other: "psql \\copy", aim: 1.05 };
const LOAD_DATA: Load = Load { variant: Some("load-data"), other: "C and a file", aim: 1.05 };

impl Load {
    /// Returns true if it is compared with psql.
    pub fn is_psqls(self) -> bool {
        self == COPY
    }
}

/// The loads that are compared for a contender.
pub fn of(contender: &Contender) -> &'static [Load] {
    match contender.runner.name.as_str() {
        "postgres" => &[INSERT, COPY],
        "mysql" => &[INSERT, LOAD_DATA],
        _ => &[],
    }
}

/// The same rows in both shapes, in memory.
pub struct Inputs {
    _folder: TempDir,
    rows: RowFile,
    /// Lines with tabs between the cells.
    lines: PathBuf,
}

impl Inputs {
    /// Writes this number of rows.
    pub fn write(count: u64, seed: u64) -> Result<Inputs> {
        let folder = tempfile::Builder::new().prefix("dyno-bench-").tempdir_in(MEMORY);
        let folder = folder.with_context(|| format!("no place for rows in {MEMORY}"))?;
        let (file, lines) = (folder.path().join("rows"), folder.path().join("lines"));
        let columns = COLUMNS.map(|(name, bytes)| Column { name: name.into(), bytes: bytes as u64 }).to_vec();
        write(&file, &lines, count, seed).context("cannot write the rows")?;
        Ok(Inputs { _folder: folder, rows: RowFile { file, count, columns }, lines })
    }

    /// The job with the load in place of its tests. The check counts the rows, which spares reading them back.
    pub fn job(&self, load: Load, job: Job) -> Job {
        let work = LoadWork { table: "t".into(), rows: self.rows.clone(), commits: Commits::default() };
        let work = if load.variant.is_some() { Work::BulkLoad(work) } else { Work::InsertRows(work) };
        let check = Some("SELECT count(*) FROM t".to_owned());
        let test = Test { id: "1".into(), setup: vec![SETUP.into()], work, check };
        Job { variant: load.variant.map(str::to_owned), tests: vec![test], ..job }
    }

    /// The arguments of the C program after the place of the database.
    pub fn arguments(&self, load: Load) -> Vec<String> {
        let mode = load.variant.unwrap_or("insert");
        let file = if load.variant.is_some() { &self.lines } else { &self.rows.file };
        let widths = COLUMNS.iter().map(|(_, width)| width.to_string());
        let first = [mode.to_owned(), SETUP.to_owned(), file.display().to_string()];
        first.into_iter().chain(widths.filter(|_| load.variant.is_none())).collect()
    }

    /// The commands that psql executes in the trial's database.
    pub fn script(&self) -> [String; 3] {
        [SETUP.to_owned(), "\\timing on".to_owned(), format!("\\copy t FROM '{}'", self.lines.display())]
    }
}

fn write(file: &Path, lines: &Path, count: u64, seed: u64) -> std::io::Result<()> {
    let mut random = Rng::with_seed(seed);
    let (mut rows, mut text) = (BufWriter::new(File::create(file)?), BufWriter::new(File::create(lines)?));
    for _ in 0..count {
        let cells = COLUMNS.map(|(_, width)| (0..width).map(|_| random.alphanumeric()).collect::<String>());
        rows.write_all(cells.concat().as_bytes())?;
        writeln!(text, "{}", cells.join("\t"))?;
    }
    rows.flush()?;
    text.flush()
}
