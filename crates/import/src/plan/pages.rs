//! The course of the rows into pages: threads take pieces of the file and write the pages of its rows.

use std::cell::Cell;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use anyhow::{Context, Result};
use sqlite_pages::Pages;

use super::course::{LoadAttempt, Loader};
use super::load::threads;
use super::report::report;
use super::{Course, Plan, Report};
use crate::contents::is_parquet;
use crate::fill::{Fill, Numbers, Pieces};
use crate::rejects::Rejects;
use crate::source::Opened;
use crate::target::Target;

/// Decoded bytes of a Parquet file that a thread takes at once.
#[cfg(feature = "parquet")]
const PART: usize = 4 << 20;

/// Parses on all cores, where the pages are written too.
pub(super) struct PageCourse {
    fill: Fill,
}

impl Loader for PageCourse {
    fn load(self: Box<Self>, target: &mut dyn Target, attempt: &LoadAttempt) -> Result<Report> {
        let LoadAttempt { table, existing, watch, .. } = *attempt;
        let pages = target.pages(table, existing);
        let pages = pages.context("the database takes no pages any more, which is a fault of dyno")?;
        let rows = Cell::new(0);
        let filled = |pages: &Pages| {
            let filled = self.fill.run(pages, watch)?;
            attempt.check(filled.rows)?;
            rows.set(filled.rows);
            Ok(filled)
        };
        let reached = pages.build(table, watch, &filled, &|| attempt.seal())?;
        let course = Course::Pages { threads: self.fill.threads };
        Ok(report(rows.get(), self.fill.read.load(Ordering::Relaxed), reached, course))
    }
}

impl Plan {
    /// The course of what was opened into pages: `number` is the column whose numbers are the rows' own, and `folder`
    /// is for temporary files.
    pub(super) fn page_course(
        &self,
        opened: Opened,
        rejects: &Arc<Mutex<Rejects>>,
        number: Option<usize>,
        folder: PathBuf,
    ) -> Result<PageCourse> {
        let (read, is_unwanted) = (opened.read.clone(), opened.is_unwanted.clone());
        // A key that is no row number is an index, which SQLite's schema names before all others.
        let is_indexed = number.is_none() && !self.table.primary_key.is_empty();
        let keys = is_indexed.then_some(&self.table.primary_key).into_iter();
        let fill = Fill {
            pieces: self.pieces(opened)?,
            name: self.request.source.name(),
            converter: self.converter(),
            rejects: rejects.clone(),
            read,
            is_unwanted,
            threads: threads(),
            numbers: match number {
                None => Numbers::Counted,
                Some(column) if self.is_unordered => Numbers::Sorted(column),
                Some(column) => Numbers::Ascending(column),
            },
            indexes: keys.chain(&self.table.indexes).map(|index| self.places(index)).collect(),
            // The other half is for what is not sorted.
            memory: self.request.memory / 2,
            folder,
        };
        Ok(PageCourse { fill })
    }

    /// The positions of columns in the file's order.
    fn places(&self, names: &[String]) -> Vec<usize> {
        let place = |name: &String| self.table.columns.iter().position(|column| column.name == *name);
        names.iter().filter_map(place).collect()
    }

    /// The source from which threads take pieces.
    fn pieces(&self, opened: Opened) -> Result<Pieces> {
        if is_parquet(&opened.sample) {
            #[cfg(feature = "parquet")]
            {
                let file = Arc::new(self.parquet_file()?);
                let parts = crate::parquet::RowParts::new(file.clone(), PART);
                return Ok(Pieces::Parquet(Mutex::new(parts), file));
            }
        }
        let dialect =
            self.usual().context("the splitters do not know this text, which is a fault of dyno")?;
        Ok(Pieces::Text(Mutex::new(self.chunks(opened, dialect)?), dialect))
    }
}
