//! Bad rows: the first one ends the import, or all go to a file with their reasons.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};

use crate::error::{BadInput, BadRow, Input};
use crate::input::file_and_line;

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

/// Takes the bad rows.
pub struct Rejects {
    on_error: OnError,
    /// The files' names.
    names: Vec<String>,
    /// There once a row was bad.
    file: Option<csv::Writer<BufWriter<File>>>,
    /// The number of bad rows.
    pub count: u64,
}

impl Rejects {
    /// For files of these names.
    pub fn new(on_error: &OnError, names: Vec<String>) -> Rejects {
        Rejects { on_error: on_error.clone(), names, file: None, count: 0 }
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
        let context = || format!("cannot write the rejected rows to {}", path.display());
        if self.file.is_none() {
            self.file = Some(create(path)?);
        }
        // With several files the place has the file's name.
        let line = match self.names.len() {
            1 => file_and_line(bad.line).1.to_string(),
            _ => self.place(bad.line),
        };
        let Some(file) = &mut self.file else { return Ok(()) };
        let column = bad.column.unwrap_or_default();
        let about = [line.as_bytes(), column.as_bytes(), bad.reason.as_bytes(), bad.text.as_slice()];
        file.write_record(about.into_iter().chain(record.iter().map(AsRef::as_ref))).with_context(context)?;
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

    /// Writes what is left and syncs it.
    pub fn finish(mut self) -> Result<u64> {
        if let (Some(file), OnError::Reject { file: path, .. }) = (self.file.take(), &self.on_error) {
            let context = || format!("cannot write the rejected rows to {}", path.display());
            let file =
                file.into_inner().map_err(|error| anyhow!("{}", error.error())).with_context(context)?;
            let file =
                file.into_inner().map_err(|error| anyhow!("{}", error.error())).with_context(context)?;
            file.sync_all().with_context(context)?;
        }
        Ok(self.count)
    }

    /// Removes the file: the other rows of this import were not loaded.
    pub fn discard(mut self) {
        if let (Some(_), OnError::Reject { file: path, .. }) = (self.file.take(), &self.on_error) {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Creates a new file: one that exists holds rejected rows of an earlier import, which the user may need.
fn create(path: &Path) -> Result<csv::Writer<BufWriter<File>>> {
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    let context = |error: &io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => format!(
            "{} is there already, and dyno writes rejected rows over no file: --rejects names another",
            path.display()
        ),
        _ => format!("cannot make {} for the rejected rows", path.display()),
    };
    let file = file
        .map_err(|error| {
            let context = context(&error);
            anyhow::Error::from(error).context(context)
        })
        .input()?;
    let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(BufWriter::new(file));
    writer.write_record(["line", "column", "reason", "text", "record"])?;
    Ok(writer)
}
