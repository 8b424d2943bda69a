//! Carries out the plan: parser and database run concurrently, and all is read once more if a late value changes the
//! types.

use std::cell::Cell;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Error, Result, anyhow, ensure};

use super::{Nulls, Plan};
use crate::chunks::Chunks;
use crate::convert::Converter;
use crate::error::{BadInput, Input as _, Interrupted, Refused};
use crate::fill::{Fill, Numbers, Pieces, Restart};
use crate::input::Input;
use crate::parse::{Parser, TypeMismatch, Wanted, unrepeatable};
use crate::pipeline::{self, ImportObserver, Rows, Waits};
use crate::records::{Dialect, longest};
use crate::rejects::{OnError, Rejects};
use crate::request::Request;
use crate::safety::Reached;
use crate::server::TextParser;
use crate::source::{Opened, Source, Stamp, is_parquet};
use crate::table::Column;

/// Bytes of text that a thread takes at once, where memory allows it. Each leaves a page that is not full, one in some
/// hundred.
const CHUNK: usize = 512 << 10;
/// The fewest.
const LEAST_CHUNK: usize = 32 << 10;
/// The memory of a thread as a multiple of a chunk's length: for its text, its records and their pages, and for short
/// values, whose records are longer than their text.
const TIMES: usize = 16;
/// Decoded bytes of a Parquet file that a thread takes at once.
#[cfg(feature = "parquet")]
const PART: usize = 4 << 20;

/// Most rows that a server may refuse: for each the file is sent once more.
const MOST_REFUSED: usize = 100;

/// The way in which an import's work was shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Course {
    /// A parser that ran concurrently with the database.
    Beside(Waits),
    /// Each thread parses and writes the pages of the database.
    Pages {
        /// The number of threads.
        threads: usize,
    },
}

/// The outcome for rows that were merged with those of a table by a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Merged {
    /// True if a row whose key existed updated the existing row; else it was skipped.
    pub updates: bool,
    /// The number of rows that are new in the table; None if the database was not asked.
    pub added: Option<u64>,
}

/// The result of an import.
#[derive(Debug, Clone)]
pub struct Report {
    /// Rows of the file that the database took.
    pub rows: u64,
    /// Rows that were bad.
    pub rejected: u64,
    /// Bytes of the file as it lies there.
    pub bytes: u64,
    /// The time from opening the file until the requested safety was reached.
    pub took: Duration,
    /// The safety that was reached.
    pub reached: Reached,
    /// The way in which the work was shared.
    pub course: Course,
    /// True if a late value changed the types, so that all was read again.
    pub widened: bool,
    /// The outcome of merging rows by a key, if they were merged.
    pub merged: Option<Merged>,
    /// The columns that the file filled, with their types.
    pub columns: Vec<Column>,
    /// Further notes for the user, in sentences.
    pub notes: Vec<String>,
}

/// A parser for a database that takes its rows.
enum AnyParser {
    /// Makes cells of the values.
    Cells(Parser),
    /// Writes the rows as servers read them.
    Text(TextParser),
}

impl Plan {
    /// Loads the file.
    ///
    /// # Errors
    /// Nothing was loaded; [`crate::BadInput`] where the file is to blame, [`crate::Interrupted`] where
    /// `watch` asked to stop.
    pub fn load(mut self, watch: &dyn ImportObserver) -> Result<Report> {
        let began = Instant::now();
        let mut widened = false;
        loop {
            let rejects =
                Rejects::new(&self.request.on_error, self.request.sources().map(Source::name).collect());
            let rejects = Arc::new(Mutex::new(rejects));
            let outcome = self.attempt(&rejects, watch);
            let rejects = Arc::into_inner(rejects).and_then(|rejects| rejects.into_inner().ok());
            let rejects = rejects.context("a thread crashed, which is a fault of dyno")?;
            match outcome {
                Ok(mut report) => {
                    report.rejected = rejects.finish()?;
                    report.took = began.elapsed();
                    report.widened = widened;
                    report.merged = self
                        .table
                        .merge
                        .as_ref()
                        .map(|merge| Merged { updates: merge.updates, added: self.target.added() });
                    report.columns = self.table.columns;
                    report.notes = [self.notes, self.target.notes()].concat();
                    return Ok(report);
                }
                Err(error) => {
                    rejects.discard();
                    // An error in a record may only show that a file was changed meanwhile.
                    if !error.is::<Interrupted>() {
                        check_unchanged(&self.request, &self.stamps)?;
                    }
                    let Some(error) = self.adapted(error) else { continue };
                    let Some(error) = self.without_refused(error)? else { continue };
                    let contradiction = error.downcast::<TypeMismatch>()?;
                    if !self.request.is_repeatable() || widened {
                        let place = self.request.place(contradiction.0.line);
                        return Err(unrepeatable(&contradiction, &self.request.source.name(), &place))
                            .input();
                    }
                    self.check_repeated(&contradiction).input()?;
                    watch.doing("reading all of it for its types");
                    self.widen()?;
                    widened = true;
                }
            }
        }
    }

    /// Chooses another way if the keys are not what this one took them for; then it returns None instead of the error.
    /// After a bad row in a table with a key, the database inserts the rows: it knows whether a violated key comes
    /// first.
    fn adapted(&mut self, error: Error) -> Option<Error> {
        let is_built = !self.table.primary_key.is_empty() && self.target.builds(&self.table, self.existing);
        match error.downcast_ref() {
            Some(Restart::Unordered) => self.is_unordered = true,
            Some(Restart::Violated) => self.target.never_build(),
            None if is_built && error.is::<BadInput>() => self.target.never_build(),
            None => return Some(error),
        }
        None
    }

    /// Refuses a header that comes again far behind the beginning: it would make its columns texts.
    fn check_repeated(&self, TypeMismatch(bad): &TypeMismatch) -> Result<()> {
        let name = bad.column.as_ref().filter(|name| self.header.value && name.as_bytes() == bad.text);
        ensure!(
            name.is_none(),
            "{}: the record repeats the header, as where files with headers were joined. Give those files one by \
             one (the second with --append), or remove the line; --types states other types for it to be data",
            self.request.place(bad.line)
        );
        Ok(())
    }

    /// Has the types fit all of the file, where it can be read twice, as a preview shows them.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn see_all(&mut self) -> Result<()> {
        let is_inferred = self.table.columns.iter().any(|column| column.inferred);
        let is_whole = self.opened.as_ref().is_none_or(|opened| opened.whole);
        let is_seen = is_whole && self.request.more.is_empty();
        match is_inferred && !is_seen && self.request.is_repeatable() {
            true => self.widen(),
            false => Ok(()),
        }
    }

    /// Lets the next attempt set aside a row that a server refused; then it returns None instead of the error. A server
    /// refuses no row alone: it rolls back all of them.
    fn without_refused(&mut self, error: Error) -> Result<Option<Error>> {
        let Some(Refused { line, reason }) = error.downcast_ref::<Refused>() else { return Ok(Some(error)) };
        let place = self.request.place(*line);
        let is_rejecting = self.request.on_error != OnError::Stop;
        if is_rejecting && self.request.is_repeatable() && self.refused.len() < MOST_REFUSED {
            self.refused.insert(*line, format!("is refused by the server: {reason}"));
            return Ok(None);
        }
        let advice = match is_rejecting {
            false => "--on-error reject leaves such rows out and writes them to a file".to_owned(),
            true if self.refused.len() < MOST_REFUSED => {
                "standard input cannot be read again without it".to_owned()
            }
            true => {
                format!("{MOST_REFUSED} rows were refused before it, each of which costs another attempt")
            }
        };
        Err(anyhow!("{place}: the server refuses the row: {reason}. Nothing was loaded; {advice}")).input()
    }

    /// Reads the file for the types that fit all of it.
    fn widen(&mut self) -> Result<()> {
        let opened = self.request.source.open(self.request.encoding)?;
        let seen = self
            .survey(opened.text, &self.request.more, self.table.columns.len())
            .map_err(|(_, error)| error)?;
        self.evidence = seen.evidence();
        let kinds = seen.kinds();
        for (column, kind) in self.table.columns.iter_mut().zip(kinds).filter(|(column, _)| column.inferred) {
            column.kind = kind;
            column.declared.clear();
        }
        self.target.declare(&mut self.table);
        Ok(())
    }

    /// The rows of what was opened.
    fn input(&self, opened: Opened) -> Result<Input> {
        if is_parquet(&opened.sample) {
            #[cfg(feature = "parquet")]
            {
                let file = Arc::new(crate::parquet::File::open(&self.request.source)?);
                let rows = crate::parquet::Rows::new(file, opened.read.clone());
                let shape = (!self.shape.is_plain()).then(|| self.shape.clone());
                return Ok(Input::parquet(self.format.clone(), shape, rows, &self.request.source, &opened));
            }
        }
        self.text_input(opened.text, (opened.read, opened.is_unwanted), &self.request.more)
    }

    /// The source from which threads take pieces.
    fn pieces(&self, opened: Opened) -> Result<Pieces> {
        if is_parquet(&opened.sample) {
            #[cfg(feature = "parquet")]
            {
                let file = Arc::new(crate::parquet::File::open(&self.request.source)?);
                let parts = crate::parquet::Parts::new(file.clone(), PART);
                return Ok(Pieces::Parquet(Mutex::new(parts), file));
            }
        }
        let dialect =
            self.usual().context("the splitters do not know this text, which is a fault of dyno")?;
        Ok(Pieces::Text(Mutex::new(self.chunks(opened, dialect)?), dialect))
    }

    /// The text of what was opened, in chunks.
    fn chunks(&self, opened: Opened, dialect: Dialect) -> Result<Chunks> {
        let (text, line) = self.records(opened.text)?.into_rest();
        let (memory, name) = (self.request.memory, self.request.source.name());
        let size = (memory / (TIMES * threads())).clamp(LEAST_CHUNK, CHUNK);
        Ok(Chunks::new(text, dialect, name, line, size, longest(memory)))
    }

    /// The parser of what was opened, for a database that takes its rows.
    fn parser(&self, opened: Opened, rejects: &Arc<Mutex<Rejects>>) -> Result<AnyParser> {
        let (converter, refused) = (self.converter(), self.refused.clone());
        let rejects = rejects.clone();
        let is_typed = self.target.is_typed();
        let dialect = self.usual().filter(|_| !is_typed && !is_parquet(&opened.sample));
        Ok(match dialect {
            Some(dialect) => {
                let chunks = self.chunks(opened, dialect)?;
                let name = self.request.source.name();
                AnyParser::Text(TextParser { chunks, dialect, name, converter, refused, rejects })
            }
            None => {
                let input = Box::new(self.input(opened)?);
                AnyParser::Cells(Parser {
                    input,
                    converter,
                    typed: is_typed,
                    refused,
                    zeros: is_typed,
                    rejects,
                })
            }
        })
    }

    fn attempt(&mut self, rejects: &Arc<Mutex<Rejects>>, watch: &dyn ImportObserver) -> Result<Report> {
        let opened = match self.opened.take() {
            Some(opened) => opened,
            None => self.request.source.open(self.request.encoding)?,
        };
        if self.target.builds(&self.table, self.existing) {
            return self.write_pages(opened, rejects, watch);
        }
        let (read, is_unwanted) = (opened.read.clone(), opened.is_unwanted.clone());
        let parser = self.parser(opened, rejects)?;
        let (request, stamps) = (&self.request, &self.stamps);
        let (target, table, existing) = (&mut self.target, &self.table, self.existing);
        let load = |rows: &mut Rows, check: &dyn Fn() -> Result<()>| {
            let loaded = rows.counter();
            let check = || {
                check()?;
                check_unchanged(request, stamps)?;
                rejects
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .check_any(loaded.load(Ordering::Relaxed))
            };
            let reached = target.load(table, existing, rows, &check);
            is_unwanted.store(true, Ordering::Relaxed);
            Ok((reached?, rows.loaded()))
        };
        let parse = |sender: &pipeline::Sender| match parser {
            AnyParser::Cells(parser) => parser.run(sender),
            AnyParser::Text(parser) => parser.run(sender),
        };
        let ((reached, rows), waits) = pipeline::run(read.clone(), rejects.clone(), watch, parse, load)?;
        let bytes = read.load(Ordering::Relaxed);
        let course = Course::Beside(waits);
        Ok(report(rows, bytes, reached, course))
    }

    /// Parses on all cores, where the pages are written too.
    fn write_pages(
        &mut self,
        opened: Opened,
        rejects: &Arc<Mutex<Rejects>>,
        watch: &dyn ImportObserver,
    ) -> Result<Report> {
        let (read, is_unwanted) = (opened.read.clone(), opened.is_unwanted.clone());
        let threads = threads();
        let number = self.target.row_number(&self.table);
        // A key that is no row number is an index, which SQLite's schema names before all others.
        let is_indexed = number.is_none() && !self.table.primary_key.is_empty();
        let keys = is_indexed.then_some(&self.table.primary_key).into_iter();
        let fill = Fill {
            pieces: self.pieces(opened)?,
            name: self.request.source.name(),
            converter: self.converter(),
            rejects: rejects.clone(),
            read: read.clone(),
            is_unwanted,
            threads,
            numbers: match number {
                None => Numbers::Counted,
                Some(column) if self.is_unordered => Numbers::Sorted(column),
                Some(column) => Numbers::Ascending(column),
            },
            indexes: keys.chain(&self.table.indexes).map(|index| self.places(index)).collect(),
            // The other half is for what is not sorted.
            memory: self.request.memory / 2,
            folder: self.target.folder(),
        };
        let (rows, request, stamps) = (Cell::new(0), &self.request, &self.stamps);
        let reached = self.target.build(&self.table, watch, &|pages| {
            let filled = fill.run(pages, watch)?;
            check_unchanged(request, stamps)?;
            rejects.lock().unwrap_or_else(PoisonError::into_inner).check_any(filled.rows)?;
            rows.set(filled.rows);
            Ok(filled)
        })?;
        let (rows, bytes, course) = (rows.get(), read.load(Ordering::Relaxed), Course::Pages { threads });
        Ok(report(rows, bytes, reached, course))
    }

    /// The positions of columns in the file's order.
    fn places(&self, names: &[String]) -> Vec<usize> {
        let place = |name: &String| self.table.columns.iter().position(|column| column.name == *name);
        names.iter().filter_map(place).collect()
    }

    /// The rules by which the rows are checked and converted.
    fn converter(&self) -> Converter {
        let Nulls { every, each } = self.nulls();
        let wanted = |(column, nulls): (&Column, Vec<Vec<u8>>)| Wanted {
            name: column.name.clone(),
            kind: column.kind,
            inferred: column.inferred,
            required: column.required,
            nulls,
        };
        Converter { columns: self.table.columns.iter().zip(each).map(wanted).collect(), nulls: every }
    }
}

/// The report of rows that have been loaded, as far as a course knows it; the rest is filled in when all is done.
fn report(rows: u64, bytes: u64, reached: Reached, course: Course) -> Report {
    Report {
        rows,
        rejected: 0,
        bytes,
        took: Duration::ZERO,
        reached,
        course,
        widened: false,
        merged: None,
        columns: Vec::new(),
        notes: Vec::new(),
    }
}

/// The number of threads that parse.
fn threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Refuses files of which one is another than it was.
fn check_unchanged(request: &Request, stamps: &[Option<Stamp>]) -> Result<()> {
    request.sources().zip(stamps).try_for_each(|(source, stamp)| check_same(source, stamp.as_ref()))
}

/// Refuses a file that is another than it was: its rows may be those of neither state.
fn check_same(source: &Source, stamp: Option<&Stamp>) -> Result<()> {
    let is_unchanged = source.stamp().as_ref() == stamp;
    let check = || -> Result<()> {
        ensure!(is_unchanged, "{} changed while it was read; nothing was loaded", source.name());
        Ok(())
    };
    check().input()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_that_changes_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        fs::write(&path, "1\n2\n").unwrap();
        let source = Source::new(&path);
        let stamp = source.stamp();
        check_same(&source, stamp.as_ref()).unwrap();
        let changes: [&dyn Fn(); 3] =
            [&|| fs::write(&path, "1\n").unwrap(), &|| fs::write(&path, "1\n2\n3\n").unwrap(), &|| {
                fs::remove_file(&path).unwrap()
            }];
        for change in changes {
            change();
            let error = check_same(&source, stamp.as_ref()).unwrap_err();
            assert!(error.is::<BadInput>());
            assert!(error.to_string().ends_with("t.csv changed while it was read; nothing was loaded"));
        }
        assert_eq!(Source::Stdin.stamp(), None);
    }
}
