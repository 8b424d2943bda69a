//! Bad rows: the first one ends the import, or all go to a file with their reasons.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use anyhow::{Context, Error, Result, anyhow, ensure};
use dyno_files::{FileInPlace, check_lasting_for_root};

use crate::building::{Building, folder};
use crate::error::{BadInput, BadRow, Input};
use crate::input::file_and_line;
use crate::names::escaped;

/// The treatment of a bad row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OnError {
    /// Stop, and load nothing.
    Stop,
    /// Leave it out and write it to a file.
    Reject {
        /// The file.
        file: PathBuf,
        /// The most rows that may be left out; one more ends the import.
        most: u64,
    },
}

/// The file while it is written. It has no name until the rows are about to be loaded.
struct RejectsFile {
    writer: csv::Writer<BufWriter<File>>,
    building: Building,
    /// Its path, on which no link is.
    place: PathBuf,
}

/// Takes the bad rows.
pub struct Rejects {
    on_error: OnError,
    /// The files' names.
    names: Vec<String>,
    /// There once a row was bad.
    file: Option<RejectsFile>,
    /// The rights that the file has at most.
    rights: u32,
    /// The file's path once it has its name.
    sealed: Option<PathBuf>,
    /// The number of bad rows.
    pub count: u64,
}

impl Rejects {
    /// For files of these names, and with at most these rights.
    pub fn new(on_error: &OnError, names: Vec<String>, rights: u32) -> Rejects {
        Rejects { on_error: on_error.clone(), names, file: None, rights, sealed: None, count: 0 }
    }

    fn place(&self, place: u64) -> String {
        let (file, line) = file_and_line(place);
        format!("{}:{line}", self.names.get(file).map_or("", String::as_str))
    }

    /// True if the first bad row ends the import.
    pub fn ends_at_first(&self) -> bool {
        self.on_error == OnError::Stop
    }

    /// Takes a bad row with all its fields.
    ///
    /// # Errors
    /// The row itself, where one is enough.
    pub fn take(&mut self, bad: BadRow, record: &[impl AsRef<[u8]>]) -> Result<()> {
        let OnError::Reject { file: path, most } = &self.on_error else {
            return Err(BadInput(anyhow!(
                "{}: {bad}. Nothing was loaded; --on-error reject leaves such rows out and writes them to a file",
                self.place(bad.line)
            ))
            .into());
        };
        if self.count >= *most {
            return Err(BadInput(anyhow!(
                "{}: {bad}. Nothing was loaded, for --max-rejects {most} allows no more bad rows",
                self.place(bad.line)
            ))
            .into());
        }
        let context = || format!("cannot write the rejected rows to {}", escaped(path));
        if self.file.is_none() {
            self.file = Some(create(path, self.rights)?);
        }
        // With several files the place has the file's name.
        let line = match self.names.len() {
            1 => file_and_line(bad.line).1.to_string(),
            _ => self.place(bad.line),
        };
        let Some(file) = &mut self.file else { return Ok(()) };
        let column = bad.column.unwrap_or_default();
        let about = [line.as_bytes(), column.as_bytes(), bad.reason.as_bytes(), bad.text.as_slice()];
        file.writer
            .write_record(about.into_iter().chain(record.iter().map(AsRef::as_ref)))
            .with_context(context)?;
        self.count += 1;
        Ok(())
    }

    /// Refuses an import of which no row is left.
    ///
    /// # Errors
    /// All rows were bad.
    pub fn check_any(&self, rows: u64) -> Result<()> {
        if rows > 0 || self.count == 0 {
            return Ok(());
        }
        let count = self.count;
        Err(BadInput(anyhow!(
            "{}: all of its rows are bad ({count}), so nothing was loaded; without --on-error reject dyno reports the first",
            self.names.join(", ")
        ))
        .into())
    }

    /// Makes the file durable and gives it its name. Nothing may be committed before: the rows in it would be nowhere.
    ///
    /// # Errors
    /// The file cannot be written, or there is one of its name by now.
    pub fn seal(&mut self) -> Result<()> {
        let Some(file) = self.file.take() else { return Ok(()) };
        let RejectsFile { mut writer, building, place } = file;
        let write = || -> Result<()> {
            writer.flush()?;
            building.file().sync_all()?;
            building.take_place(&place)?;
            self.sealed = Some(place.clone());
            Ok(File::open(folder(&place))?.sync_all()?)
        };
        write().with_context(|| {
            format!("cannot write the rejected rows to {}; nothing was loaded", escaped(&place))
        })
    }

    /// Removes the file: the other rows of this import were not loaded.
    pub fn discard(self) {
        if let Some(path) = &self.sealed {
            let _ = fs::remove_file(path);
        }
    }

    /// Leaves the file where it is, as it is not known whether the other rows were loaded, and names it in the error.
    pub fn keep(self, error: Error) -> Error {
        match &self.sealed {
            Some(path) => error.context(format!("the rejected rows are in {}", escaped(path))),
            None => error,
        }
    }
}

/// Creates a new file: one that exists holds rejected rows of an earlier import, which the user may need.
fn create(path: &Path, rights: u32) -> Result<RejectsFile> {
    let create = || -> Result<(Building, PathBuf)> {
        ensure!(
            fs::symlink_metadata(path).is_err(),
            "{} is there already, and dyno writes rejected rows over no file: --rejects names another",
            escaped(path)
        );
        let make = || -> Result<(Building, PathBuf)> {
            let place = FileInPlace::find(path)?.path();
            check_lasting_for_root(folder(&place))
                .map_err(|error| anyhow!("{error:#}: --rejects names another file"))?;
            Ok((Building::unnamed(&place, rights)?, place))
        };
        make().with_context(|| format!("cannot make {} for the rejected rows", escaped(path)))
    };
    let (building, place) = create().input()?;
    let file = BufWriter::new(building.file().try_clone()?);
    let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(file);
    writer.write_record(["line", "column", "reason", "text", "record"])?;
    Ok(RejectsFile { writer, building, place })
}
