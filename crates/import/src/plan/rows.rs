//! The course of the rows to a database that takes them: a parser runs concurrently with the database.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use anyhow::Result;

use super::course::{LoadAttempt, Loader};
use super::report::report;
use super::{Course, Plan, Report};
use crate::contents::is_parquet;
use crate::input::Input;
use crate::parse::Parser;
use crate::pipeline::{self, Rows, Sender};
use crate::rejects::Rejects;
use crate::server::TextParser;
use crate::source::Opened;
use crate::target::Target;

/// Parses to the end of the file, and sends the rows to the database.
type Parse = Box<dyn FnOnce(&Sender) -> Result<()> + Send>;

/// Parses in one thread, while the database takes the rows in another.
pub(super) struct RowCourse {
    parse: Parse,
    /// Bytes read of the file as it lies there.
    read: Arc<AtomicU64>,
    /// Set once the rest of the text is not needed any more.
    is_unwanted: Arc<AtomicBool>,
}

impl Loader for RowCourse {
    fn load(self: Box<Self>, target: &mut dyn Target, attempt: &LoadAttempt) -> Result<Report> {
        let RowCourse { parse, read, is_unwanted } = *self;
        let load = |rows: &mut Rows, check: &dyn Fn() -> Result<()>| {
            let loaded = rows.counter();
            let check = || {
                check()?;
                attempt.check(loaded.load(Ordering::Relaxed))
            };
            let reached = target.load(attempt.table, attempt.existing, rows, &check);
            is_unwanted.store(true, Ordering::Relaxed);
            Ok((reached?, rows.loaded()))
        };
        let (rejects, watch, memory) = (attempt.rejects.clone(), attempt.watch, attempt.request.memory);
        let ran = pipeline::run(read.clone(), rejects, watch, memory, parse, load)?;
        let ((reached, rows), waits) = ran;
        Ok(report(rows, read.load(Ordering::Relaxed), reached, Course::Beside(waits)))
    }
}

impl Plan {
    /// The course of what was opened through the database's own statements.
    pub(super) fn row_course(&self, opened: Opened, rejects: &Arc<Mutex<Rejects>>) -> Result<RowCourse> {
        let (read, is_unwanted) = (opened.read.clone(), opened.is_unwanted.clone());
        Ok(RowCourse { parse: self.parse(opened, rejects)?, read, is_unwanted })
    }

    /// The parser of what was opened: it makes cells of the values, or writes the rows as servers read them.
    fn parse(&self, opened: Opened, rejects: &Arc<Mutex<Rejects>>) -> Result<Parse> {
        let (converter, refused) = (self.converter(), self.refused.clone());
        let rejects = rejects.clone();
        let is_typed = self.target.is_typed();
        let dialect = self.usual().filter(|_| !is_typed && !is_parquet(&opened.sample));
        Ok(match dialect {
            Some(dialect) => {
                let chunks = self.chunks(opened, dialect)?;
                let name = self.request.source.name();
                let parser = TextParser { chunks, dialect, name, converter, refused, rejects };
                Box::new(move |sender| parser.run(sender))
            }
            None => {
                let (input, typed, zeros) = (Box::new(self.input(opened)?), is_typed, is_typed);
                let parser = Parser { input, converter, typed, refused, zeros, rejects };
                Box::new(move |sender| parser.run(sender))
            }
        })
    }

    /// The rows of what was opened.
    fn input(&self, opened: Opened) -> Result<Input> {
        if is_parquet(&opened.sample) {
            #[cfg(feature = "parquet")]
            {
                let file = Arc::new(self.parquet_file()?);
                let rows = crate::parquet::Rows::new(file, opened.read.clone());
                let shape = self.shape_of_rows();
                return Ok(Input::parquet(self.format.clone(), shape, rows, &self.request.source, &opened));
            }
        }
        self.text_input(opened.text, (opened.read, opened.is_unwanted), &self.request.more)
    }
}
