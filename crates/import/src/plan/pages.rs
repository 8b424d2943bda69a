//! The way of the rows into pages: threads take pieces of the file and write the pages of its rows.

use std::cell::Cell;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use sqlite_pages::Pages;

use super::load::{check_unchanged, threads};
use super::report::report;
use super::{Course, Plan, Report};
use crate::contents::is_parquet;
use crate::fill::{Fill, Numbers, Pieces};
use crate::pipeline::ImportObserver;
use crate::rejects::Rejects;
use crate::source::Opened;

/// Decoded bytes of a Parquet file that a thread takes at once.
#[cfg(feature = "parquet")]
const PART: usize = 4 << 20;

impl Plan {
    /// Parses on all cores, where the pages are written too.
    pub(super) fn write_pages(
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
        let filled = |pages: &Pages| {
            let filled = fill.run(pages, watch)?;
            check_unchanged(request, stamps)?;
            rejects.lock().unwrap_or_else(PoisonError::into_inner).check_any(filled.rows)?;
            rows.set(filled.rows);
            Ok(filled)
        };
        let seal = || rejects.lock().unwrap_or_else(PoisonError::into_inner).seal();
        let reached = self.target.build(&self.table, watch, &filled, &seal)?;
        let (rows, bytes, course) = (rows.get(), read.load(Ordering::Relaxed), Course::Pages { threads });
        Ok(report(rows, bytes, reached, course))
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
                let file = Arc::new(crate::parquet::File::open(&self.request.source)?);
                let parts = crate::parquet::RowParts::new(file.clone(), PART);
                return Ok(Pieces::Parquet(Mutex::new(parts), file));
            }
        }
        let dialect =
            self.usual().context("the splitters do not know this text, which is a fault of dyno")?;
        Ok(Pieces::Text(Mutex::new(self.chunks(opened, dialect)?), dialect))
    }
}
