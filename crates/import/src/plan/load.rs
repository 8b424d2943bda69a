//! Carries out the plan: parser and database run concurrently, and all is read once more if a late value changes the
//! types.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Error, Result, anyhow, ensure};

use super::course::{LoadAttempt, check_unchanged};
use super::nulls::Nulls;
use super::{Merged, Plan, Report};
use crate::chunks::Chunks;
use crate::convert::{Converter, TypeMismatch, Wanted};
use crate::error::{BadInput, Input as _, Interrupted, Lost, Refused};
use crate::fill::Restart;
use crate::guess;
use crate::parse::unrepeatable;
use crate::pipeline::ImportObserver;
use crate::rejects::{OnError, Rejects};
use crate::source::{Opened, Source};
use crate::syntax::{Dialect, longest};
use crate::table::Column;

/// Bytes of text that a thread takes at once, where memory allows it. Each leaves a page that is not full, one in some
/// hundred.
const CHUNK: usize = 512 << 10;
/// The fewest.
const LEAST_CHUNK: usize = 32 << 10;
/// The memory of a thread as a multiple of a chunk's length: for its text, its records and their pages, and for short
/// values, whose records are longer than their text.
const TIMES: usize = 16;
/// Most rows that a server may refuse: for each the file is sent once more.
const MOST_REFUSED: usize = 100;

impl Plan {
    /// Loads the file.
    ///
    /// # Errors
    /// Nothing was loaded, unless the error says that this is not known; [`crate::BadInput`] where the file is to blame,
    /// [`crate::Interrupted`] where `watch` asked to stop.
    pub fn load(mut self, watch: &dyn ImportObserver) -> Result<Report> {
        let began = Instant::now();
        let mut widened = false;
        let rights = self.rights();
        let rights = self.target.restrict(rights);
        loop {
            let names = self.request.sources().map(Source::name).collect();
            let rejects = Rejects::new(&self.request.on_error, names, rights);
            let rejects = Arc::new(Mutex::new(rejects));
            let outcome = self.attempt(&rejects, watch);
            let rejects = Arc::into_inner(rejects).and_then(|rejects| rejects.into_inner().ok());
            let rejects = rejects.context("a thread crashed, which is a fault of dyno")?;
            match outcome {
                Ok(mut report) => {
                    report.rejected = rejects.count;
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
                Err(error) if error.is::<Lost>() => return Err(rejects.keep(error)),
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
                    self.widen(watch)?;
                    widened = true;
                }
            }
        }
    }

    /// Chooses another way if the keys are not what this one took them for; then it returns None instead of the error.
    /// After a bad row in a table with a key, the database inserts the rows: it knows whether a violated key comes
    /// first.
    fn adapted(&mut self, error: Error) -> Option<Error> {
        let pages = self.target.pages(&self.table, self.existing);
        let is_built = pages.is_some() && !self.table.primary_key.is_empty();
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
        let is_again =
            |name: &str| guess::is_again(std::slice::from_ref(&bad.text), &[name.as_bytes().to_vec()]);
        let name = bad.column.as_ref().filter(|name| self.header.value && is_again(name));
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
            // Nothing listens for interrupts yet: one ends dyno.
            true => self.widen(&()),
            false => Ok(()),
        }
    }

    /// Lets the next attempt set aside a row that a server refused; then it returns None instead of the error. A server
    /// refuses no row alone: it rolls back all of them.
    fn without_refused(&mut self, error: Error) -> Result<Option<Error>> {
        let Some(Refused { line, record, reason }) = error.downcast_ref() else { return Ok(Some(error)) };
        let place = self.request.place(*line);
        let is_rejecting = self.request.on_error != OnError::Stop;
        if is_rejecting && self.request.is_repeatable() && self.refused.len() < MOST_REFUSED {
            self.refused.insert(*record, format!("is refused by the server: {reason}"));
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
    fn widen(&mut self, watch: &dyn ImportObserver) -> Result<()> {
        let opened = self.request.source.open(self.request.encoding)?;
        let seen = self
            .survey(opened.text, &self.request.more, self.table.columns.len(), watch)
            .map_err(|(_, error)| error)?;
        self.evidence = self.placed(seen.evidence());
        let kinds = seen.kinds();
        for (column, kind) in self.table.columns.iter_mut().zip(kinds).filter(|(column, _)| column.inferred) {
            column.kind = kind;
            column.declared.clear();
        }
        self.target.declare(&mut self.table);
        Ok(())
    }

    /// The text of what was opened, in chunks.
    pub(super) fn chunks(&self, opened: Opened, dialect: Dialect) -> Result<Chunks> {
        let (text, line) = self.records(opened.text)?.into_rest();
        let (memory, name) = (self.request.memory, self.request.source.name());
        let size = (memory / (TIMES * threads())).clamp(LEAST_CHUNK, CHUNK);
        Ok(Chunks::new(text, dialect, name, line, size, longest(memory)))
    }

    fn attempt(&mut self, rejects: &Arc<Mutex<Rejects>>, watch: &dyn ImportObserver) -> Result<Report> {
        let opened = match self.opened.take() {
            Some(opened) => opened,
            None => self.request.source.open(self.request.encoding)?,
        };
        self.check_first(opened.stamp.as_ref())?;
        let course = self.course(opened, rejects)?;
        let (request, stamps) = (&self.request, &self.stamps);
        let (table, existing) = (&self.table, self.existing);
        course.load(&mut *self.target, &LoadAttempt { request, stamps, table, existing, rejects, watch })
    }

    /// The rules by which the rows are checked and converted.
    pub(super) fn converter(&self) -> Converter {
        let Nulls { mut every, mut each } = self.nulls();
        if (0..each.len()).any(|column| self.shape.rewrites(column)) {
            // The shape has found what is NULL in such a column before it wrote the others in another form.
            for (column, own) in each.iter_mut().enumerate() {
                match self.shape.rewrites(column) {
                    true => own.clear(),
                    false => own.extend(every.iter().cloned()),
                }
            }
            every.clear();
        }
        let wanted = |(column, nulls): (&Column, Vec<Vec<u8>>)| Wanted {
            name: column.name.clone(),
            kind: column.kind,
            inferred: column.inferred,
            required: column.required,
            nulls,
        };
        let columns = self.table.columns.iter().zip(each).map(wanted).collect();
        let is_text = self.format.is_delimited || self.format.is_json;
        Converter { columns, nulls: every, is_text }
    }
}

/// The number of threads that parse.
pub(super) fn threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}
