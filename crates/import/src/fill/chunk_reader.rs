//! The piece of the file that a thread has in hand.

use std::sync::PoisonError;

use anyhow::Result;
use sqlite_pages::Leaves;

#[cfg(feature = "parquet")]
use super::columns::Columns;
use super::job::{Fill, Pieces};
use super::order::Sorters;
use super::rows::Rows;
use crate::chunks::Chunk;
use crate::split::count;
use crate::syntax::Dialect;

/// A thread's piece, and room for the next.
pub struct ChunkReader<'a> {
    fill: &'a Fill,
    held: Held,
}

enum Held {
    /// Some text, and how it is written.
    Text(Chunk, Dialect),
    /// Some rows of a Parquet file.
    #[cfg(feature = "parquet")]
    Parquet(Box<Columns>),
}

impl<'a> ChunkReader<'a> {
    /// An empty one.
    pub fn new(fill: &'a Fill) -> ChunkReader<'a> {
        let held = match &fill.pieces {
            Pieces::Text(_, dialect) => Held::Text(Chunk::default(), *dialect),
            #[cfg(feature = "parquet")]
            Pieces::Parquet(_, file) => Held::Parquet(Box::new(Columns::new(file.clone()))),
        };
        ChunkReader { fill, held }
    }

    /// Takes the next piece, unless the one in hand has rows left; false at the end of the file.
    ///
    /// # Errors
    /// The file cannot be read. The index of the piece is known all the same.
    pub fn take(&mut self) -> Result<bool> {
        match (&mut self.held, &self.fill.pieces) {
            (Held::Text(chunk, _), Pieces::Text(chunks, _)) => {
                chunks.lock().unwrap_or_else(PoisonError::into_inner).next(chunk)
            }
            #[cfg(feature = "parquet")]
            (Held::Parquet(columns), Pieces::Parquet(parts, _)) => columns.take(parts),
            #[cfg(feature = "parquet")]
            _ => unreachable!("a hand is made for the pieces that it takes"),
        }
    }

    /// The index of the piece.
    pub fn piece(&self) -> u64 {
        match &self.held {
            Held::Text(chunk, _) => chunk.index,
            #[cfg(feature = "parquet")]
            Held::Parquet(columns) => columns.piece(),
        }
    }

    /// Forgets the text whose rows were read.
    pub fn forget(&mut self) {
        match &mut self.held {
            Held::Text(chunk, _) => chunk.forget(),
            #[cfg(feature = "parquet")]
            Held::Parquet(_) => {}
        }
    }

    /// Is done with the rows that were read: another thread may have a huge piece now.
    pub fn put_down(&mut self) {
        match &mut self.held {
            Held::Text(chunk, _) => chunk.clear(),
            #[cfg(feature = "parquet")]
            Held::Parquet(_) => {}
        }
    }

    /// Makes records of the piece's rows, or of the next rows of a piece that has many bytes; then it returns true,
    /// since more rows follow.
    ///
    /// # Errors
    /// The file cannot be read, or a row requires the import to begin again.
    pub fn read(&mut self, rows: &mut Rows) -> Result<bool> {
        rows.clear();
        match &mut self.held {
            Held::Text(chunk, dialect) => rows.read(chunk, *dialect, self.fill).map(|()| false),
            #[cfg(feature = "parquet")]
            Held::Parquet(columns) => columns.read(rows, self.fill),
        }
    }

    /// The number of the piece's rows, if they can be written straight to the leaves.
    pub fn rows(&self) -> Option<u64> {
        match &self.held {
            Held::Text(chunk, dialect) if !chunk.has_quotes => Some(count(chunk.text(), dialect.delimiter)),
            _ => None,
        }
    }

    /// Writes the piece's rows straight to the leaves, where [`ChunkReader::rows`] says that they can be; `first` is
    /// the number of the first one where rows are counted.
    ///
    /// # Errors
    /// As of [`ChunkReader::read`].
    pub fn write(&mut self, rows: &mut Rows, to: (&mut Leaves, &mut Sorters), first: i64) -> Result<()> {
        rows.clear();
        match &mut self.held {
            Held::Text(chunk, dialect) => rows.write(chunk, *dialect, self.fill, to, first),
            #[cfg(feature = "parquet")]
            Held::Parquet(_) => unreachable!("its rows are no text"),
        }
    }
}
