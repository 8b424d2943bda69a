//! The way of the rows to a database that takes them: a parser runs concurrently with the database.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;

use super::load::check_unchanged;
use super::report::report;
use super::{Course, Plan, Report};
use crate::contents::is_parquet;
use crate::input::Input;
use crate::parse::Parser;
use crate::pipeline::{self, ImportObserver, Rows};
use crate::rejects::Rejects;
use crate::server::TextParser;
use crate::source::Opened;

/// A parser for a database that takes its rows.
enum AnyParser {
    /// Makes cells of the values.
    Cells(Parser),
    /// Writes the rows as servers read them.
    Text(TextParser),
}

impl Plan {
    /// Parses in one thread, while the database takes the rows in another.
    pub(super) fn insert_rows(
        &mut self,
        opened: Opened,
        rejects: &Arc<Mutex<Rejects>>,
        watch: &dyn ImportObserver,
    ) -> Result<Report> {
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

    /// The rows of what was opened.
    fn input(&self, opened: Opened) -> Result<Input> {
        if is_parquet(&opened.sample) {
            #[cfg(feature = "parquet")]
            {
                let file = Arc::new(crate::parquet::File::open(&self.request.source)?);
                let rows = crate::parquet::Rows::new(file, opened.read.clone());
                let shape = self.shape_of_rows();
                return Ok(Input::parquet(self.format.clone(), shape, rows, &self.request.source, &opened));
            }
        }
        self.text_input(opened.text, (opened.read, opened.is_unwanted), &self.request.more)
    }
}
