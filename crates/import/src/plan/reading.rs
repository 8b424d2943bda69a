//! The reading of the files: their dialect, the fields that come to the table, and their records.

use std::io::BufRead;
use std::iter;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

use anyhow::Result;

use super::Plan;
use super::nulls::Nulls;
use crate::contents::lines_before;
use crate::input::Input;
use crate::records::Records;
use crate::shape::Shape;
use crate::source::Source;
use crate::syntax::Dialect;
use crate::table::names;

/// The number of rows in a preview.
const SHOWN_ROWS: usize = 3;

/// Bytes that were read of all files, and whether the rest is no longer wanted.
type Counted = (Arc<AtomicU64>, Arc<AtomicBool>);

impl Plan {
    /// The dialect of the text, if the page writer's splitters support it.
    pub(crate) fn usual(&self) -> Option<Dialect> {
        let is_alone = self.request.more.is_empty() && !self.format.is_json && self.shape.is_plain();
        self.format.syntax.usual().filter(|_| is_alone)
    }

    /// Chooses the fields that come to the table, and the names of its columns.
    pub(super) fn choose(&mut self, records: &[Vec<Vec<u8>>]) -> Result<Vec<String>> {
        let Some(first) = records.first() else { return Ok(Vec::new()) };
        self.format.keys = first.iter().map(|key| String::from_utf8_lossy(key).into_owned()).collect();
        self.format.names = names(self.header.value.then_some(first), first.len())?;
        let (shape, named) = Shape::new(&self.format.names, &self.request.choose)?;
        self.shape = shape;
        Ok(named)
    }

    /// The first rows among the first records, as the file writes them.
    pub(super) fn shown(&self, records: &[Vec<Vec<u8>>]) -> Vec<Vec<String>> {
        let rows = records.iter().skip(usize::from(self.header.value)).take(SHOWN_ROWS);
        let text = |field: &Vec<u8>| String::from_utf8_lossy(field).into_owned();
        let file = self.request.source.name();
        let field = |row: &Vec<Vec<u8>>, place: Option<usize>| match place {
            Some(place) => row.get(place).map(text),
            None => Some(file.clone()),
        };
        rows.map(|row| match self.shape.is_plain() {
            true => row.iter().map(text).collect(),
            false => self.shape.fields().filter_map(|place| field(row, place)).collect(),
        })
        .collect()
    }

    /// The shape of the rows, with the spellings of NULL, if they are not as the file has them.
    pub(super) fn shape_of_rows(&self) -> Option<Shape> {
        let nulls = || {
            let Nulls { every, each } = self.nulls();
            each.into_iter().map(move |own| [own, every.clone()].concat())
        };
        (!self.shape.is_plain()).then(|| self.shape.with_nulls(nulls()))
    }

    /// The records of a text and of the files behind it.
    pub(super) fn text_input(
        &self,
        text: Box<dyn BufRead + Send>,
        counted: Counted,
        rest: &[Source],
    ) -> Result<Input> {
        let (shape, first) = (self.shape_of_rows(), &self.request.source);
        let planned = self.stamps.iter().skip(1).cloned().chain(iter::repeat(None));
        let rest = rest.iter().cloned().zip(planned).collect();
        Input::new(self.format.clone(), shape, text, counted, first, rest)
    }

    /// The first file, which is a Parquet file.
    #[cfg(feature = "parquet")]
    pub(super) fn parquet_file(&self) -> Result<crate::parquet::File> {
        let file = crate::parquet::File::open(&self.request.source, self.format.longest)?;
        self.check_first(file.stamp.as_ref())?;
        Ok(file)
    }

    /// True if the files are text with delimiters.
    pub fn is_delimited(&self) -> bool {
        self.format.is_delimited
    }

    /// True if programs that read only the usual dialect can read the text.
    pub(crate) fn is_plain(&self) -> bool {
        self.usual().is_some() && self.lines_before == 0 && self.request.nulls_of.is_empty()
    }

    /// The records of a text behind what is skipped and the header.
    pub(super) fn records(&self, mut text: Box<dyn BufRead + Send>) -> Result<Records> {
        let name = self.request.source.name();
        let skip = lines_before(&mut text, self.format.skip, &name)?;
        let mut records = Records::new(text, self.format.syntax, name).limited_to(self.format.longest);
        records.skip(skip)?;
        if self.header.value {
            records.read_header()?;
        }
        Ok(records)
    }
}
