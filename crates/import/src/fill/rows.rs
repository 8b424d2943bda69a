//! The rows of a chunk as SQLite's records.

use anyhow::Result;
use sqlite_pages::{Leaves, Records};

use super::encode::Encoder;
use super::job::Fill;
use super::order::Sorters;
use super::restart::Restart;
use crate::chunks::Chunk;
use crate::convert::{BadField, Converter};
use crate::digits;
use crate::error::BadRow;
use crate::split::{FieldBounds, Fields, Lines, Quoted, Split};
use crate::syntax::{Dialect, Flaw};

/// The outcome of a chunk, before its turn.
#[derive(Default)]
pub struct Rows {
    /// The rows' records.
    pub records: Records,
    /// Their numbers, where a column has them.
    pub numbers: Vec<i64>,
    /// The number of rows that were written straight to the leaves.
    pub written: u64,
    /// The bad rows, with their fields.
    pub bad: Vec<(BadRow, Vec<Vec<u8>>)>,
}

impl Rows {
    /// Forgets all of them.
    pub fn clear(&mut self) {
        self.records.clear();
        self.numbers.clear();
        self.written = 0;
        self.bad.clear();
    }

    /// Makes records of a chunk's rows.
    pub fn read(&mut self, chunk: &mut Chunk, dialect: Dialect, fill: &Fill) -> Result<()> {
        Reading::new(self, chunk, dialect, fill).start(None)
    }

    /// Writes a chunk's rows straight to the leaves, up to the first one that is bad. Where rows are counted `first` is
    /// the number of the first one. No field is quoted.
    pub fn write(
        &mut self,
        chunk: &mut Chunk,
        dialect: Dialect,
        fill: &Fill,
        to: (&mut Leaves, &mut Sorters),
        first: i64,
    ) -> Result<()> {
        Reading::new(self, chunk, dialect, fill).start(Some((to, first)))
    }

    /// Takes a bad row, or returns an error if it contradicts a type that was only inferred.
    #[cold]
    pub fn reject(
        &mut self,
        converter: &Converter,
        line: u64,
        text: &[u8],
        fields: &Fields,
        wrong: BadField,
    ) -> Result<()> {
        let fields: Vec<&[u8]> = fields.iter().map(|&(from, to)| &text[from as usize..to as usize]).collect();
        let bad = converter.bad(line, &fields, wrong)?;
        self.bad.push((bad, fields.into_iter().map(<[u8]>::to_vec).collect()));
        Ok(())
    }
}

/// A chunk whose rows are read.
struct Reading<'a> {
    rows: &'a mut Rows,
    chunk: &'a mut Chunk,
    dialect: Dialect,
    fill: &'a Fill,
    encoder: Encoder<'a>,
}

/// The leaves to which rows are written, the sorters of their entries in indexes, and the number of the next row where
/// they are counted.
type Direct<'l> = Option<((&'l mut Leaves, &'l mut Sorters), i64)>;

impl<'a> Reading<'a> {
    fn new(rows: &'a mut Rows, chunk: &'a mut Chunk, dialect: Dialect, fill: &'a Fill) -> Reading<'a> {
        let is_utf8 = std::str::from_utf8(chunk.text()).is_ok();
        let encoder = Encoder::new(
            &fill.converter,
            fill.numbers.column(),
            |column| fill.indexes.contains(&vec![column]),
            is_utf8,
        );
        Reading { rows, chunk, dialect, fill, encoder }
    }

    fn start(self, direct: Direct) -> Result<()> {
        #[cfg(target_arch = "x86_64")]
        if self.encoder.is_plain()
            && is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt")
        {
            // SAFETY: this processor has all of them.
            return unsafe { self.plain(direct) };
        }
        self.any::<false>(direct)
    }

    /// The usual case, for processors since 2013: they find, count and shift bits in one instruction each.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn plain(self, direct: Direct) -> Result<()> {
        self.any::<true>(direct)
    }

    #[inline(always)]
    fn any<const PLAIN: bool>(self, direct: Direct) -> Result<()> {
        let Reading { rows, chunk, dialect, fill, encoder } = self;
        let (line, delimiter, name) = (chunk.line, dialect.delimiter, &fill.name);
        match direct {
            Some((to, first)) => rows.place::<PLAIN>(
                Lines::new(chunk.text(), line, delimiter, name),
                fill,
                &encoder,
                to,
                first,
            ),
            None if chunk.has_quotes => {
                rows.split::<PLAIN>(Quoted::new(chunk.text_mut(), line, delimiter, name), fill, &encoder)
            }
            None => rows.split::<PLAIN>(Lines::new(chunk.text(), line, delimiter, name), fill, &encoder),
        }
    }
}

impl Rows {
    #[inline(always)]
    fn split<const PLAIN: bool>(
        &mut self,
        mut split: impl Split,
        fill: &Fill,
        encoder: &Encoder,
    ) -> Result<()> {
        let is_numbered = fill.numbers.column().is_some();
        // The entries of indexes are read from the records, once these have their numbers.
        let mut keys = vec![None; fill.converter.columns.len()];
        while let Some((line, text, fields, flaw)) = split.next()? {
            if flaw != Flaw::None {
                let fields: Vec<_> = fields.collect();
                self.reject(&fill.converter, line, text, &fields, (None, flaw.reason()))?;
                continue;
            }
            let length = fields.span();
            let (mut row, mut number) = (self.records.begin(fields.len(), length), None);
            match encoder.encode::<PLAIN>(&mut row, text, fields.clone(), &mut number, &mut keys) {
                Ok(()) => {
                    let made = row.end()?;
                    self.records.add(made);
                    if is_numbered {
                        self.numbers.push(number.ok_or(Restart::Violated)?);
                    }
                }
                Err(wrong) => {
                    let fields: Vec<_> = fields.collect();
                    self.reject(&fill.converter, line, text, &fields, wrong)?;
                }
            }
        }
        Ok(())
    }

    /// Writes rows to the leaves in which their records are made, and keeps their index entries. Leaves refuse a row
    /// only if its number does not ascend.
    #[inline(always)]
    fn place<const PLAIN: bool>(
        &mut self,
        mut lines: Lines,
        fill: &Fill,
        encoder: &Encoder,
        (leaves, sorters): (&mut Leaves, &mut Sorters),
        first: i64,
    ) -> Result<()> {
        let (column, mut next) = (fill.numbers.column(), first);
        let (is_indexed, mut keys) = (!sorters.indexes.is_empty(), vec![None; fill.converter.columns.len()]);
        while let Some((line, text, fields, _)) = lines.next()? {
            if let Some(column) = column {
                next = own_number(text, fields.clone().nth(column))?.unwrap_or(next);
            }
            let (length, mut number) = (fields.span(), None);
            let encoded = match leaves.begin(next, fields.len(), length) {
                Some(mut row) => {
                    match encoder.encode::<PLAIN>(&mut row, text, fields.clone(), &mut number, &mut keys) {
                        Ok(()) => {
                            let made = row.end()?;
                            leaves.add(made).map_err(|_| Restart::Unordered)?;
                            Ok(())
                        }
                        Err(wrong) => Err(wrong),
                    }
                }
                None => {
                    self.place_long(text, fields.clone(), encoder, leaves, (next, &mut number, &mut keys))?
                }
            };
            if let Err(wrong) = encoded {
                let fields: Vec<_> = fields.collect();
                // It ends the import in its turn.
                return self.reject(&fill.converter, line, text, &fields, wrong);
            }
            if is_indexed {
                sorters.take_keys(next, column, &keys)?;
            }
            match column {
                None => next += 1,
                Some(_) => self.numbers.push(number.ok_or(Restart::Violated)?),
            }
            self.written += 1;
        }
        Ok(())
    }

    /// Writes a row that may be longer than a page.
    #[cold]
    #[inline(never)]
    fn place_long(
        &mut self,
        text: &[u8],
        fields: impl FieldBounds,
        encoder: &Encoder,
        leaves: &mut Leaves,
        (next, number, keys): (i64, &mut Option<i64>, &mut [Option<i64>]),
    ) -> Result<Result<(), BadField>> {
        self.records.clear();
        let mut row = self.records.begin(fields.len(), fields.span());
        if let Err(wrong) = encoder.encode::<false>(&mut row, text, fields, number, keys) {
            return Ok(Err(wrong));
        }
        let made = row.end()?;
        self.records.add(made);
        let push = |record| leaves.push_record(next, record);
        self.records.iter().try_for_each(push).map_err(|_| Restart::Unordered)?;
        self.records.clear();
        Ok(Ok(()))
    }
}

/// The row number in a field. None if the field holds no whole number; the encoder will report that.
#[inline(always)]
fn own_number(text: &[u8], field: Option<(u32, u32)>) -> Result<Option<i64>, Restart> {
    let Some((from, to)) = field else { return Ok(None) };
    let number = digits::integer(text, from as usize, to as usize);
    if number.is_none() && from == to { Err(Restart::Violated) } else { Ok(number) }
}
