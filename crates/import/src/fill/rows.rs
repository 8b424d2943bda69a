//! The rows of a chunk as SQLite's records.

use anyhow::Result;
use sqlite_pages::Records;

use super::encode::Encoder;
use super::{Fill, Unfit};
use crate::chunks::Chunk;
use crate::convert::{Converter, Wrong};
use crate::error::BadRow;
use crate::fields::{Fields, Quoted, Split};
use crate::lines::Lines;
use crate::records::{Dialect, Flaw};

/// What became of a chunk, before its turn.
#[derive(Default)]
pub struct Rows {
    /// The rows' records.
    pub records: Records,
    /// Their numbers, where a column has them.
    pub numbers: Vec<i64>,
    /// The rows that are none, with their fields.
    pub bad: Vec<(BadRow, Vec<Vec<u8>>)>,
}

impl Rows {
    /// Forgets all of them.
    pub fn clear(&mut self) {
        self.records.clear();
        self.numbers.clear();
        self.bad.clear();
    }

    /// Makes records of a chunk's rows.
    pub fn read(&mut self, chunk: &mut Chunk, dialect: Dialect, fill: &Fill) -> Result<()> {
        let is_utf8 = std::str::from_utf8(chunk.text()).is_ok();
        let encoder = Encoder::new(&fill.converter, fill.numbers.column(), is_utf8);
        #[cfg(target_arch = "x86_64")]
        if encoder.is_plain()
            && is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt")
        {
            // SAFETY: this processor has all of them.
            return unsafe { self.read_plain(chunk, dialect, fill, &encoder) };
        }
        self.read_by::<false>(chunk, dialect, fill, &encoder)
    }

    /// The usual case, for processors since 2013: they find, count and shift bits in one instruction each.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn read_plain(
        &mut self,
        chunk: &mut Chunk,
        dialect: Dialect,
        fill: &Fill,
        encoder: &Encoder,
    ) -> Result<()> {
        self.read_by::<true>(chunk, dialect, fill, encoder)
    }

    #[inline(always)]
    fn read_by<const PLAIN: bool>(
        &mut self,
        chunk: &mut Chunk,
        dialect: Dialect,
        fill: &Fill,
        encoder: &Encoder,
    ) -> Result<()> {
        match chunk.has_quotes {
            true => self.split::<PLAIN>(Quoted::new(chunk, dialect.delimiter, &fill.name), fill, encoder),
            false => self.split::<PLAIN>(Lines::new(chunk, dialect.delimiter, &fill.name), fill, encoder),
        }
    }

    #[inline(always)]
    fn split<const PLAIN: bool>(
        &mut self,
        mut split: impl Split,
        fill: &Fill,
        encoder: &Encoder,
    ) -> Result<()> {
        let is_numbered = fill.numbers.column().is_some();
        while let Some((line, text, fields, flaw)) = split.next()? {
            if flaw != Flaw::None {
                let fields: Vec<_> = fields.collect();
                self.reject(&fill.converter, line, text, &fields, (None, flaw.reason()))?;
                continue;
            }
            let length = text_length(fields.clone());
            let (mut row, mut number) = (self.records.begin(fields.len(), length), None);
            match encoder.encode::<PLAIN>(&mut row, text, fields.clone(), &mut number) {
                Ok(()) => {
                    row.end()?;
                    if is_numbered {
                        self.numbers.push(number.ok_or(Unfit::Violated)?);
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

    /// Takes a row that is none, or tells that it contradicts a type that was only inferred.
    #[cold]
    pub fn reject(
        &mut self,
        converter: &Converter,
        line: u64,
        text: &[u8],
        fields: &Fields,
        wrong: Wrong,
    ) -> Result<()> {
        let fields: Vec<&[u8]> = fields.iter().map(|&(from, to)| &text[from as usize..to as usize]).collect();
        let bad = converter.bad(line, &fields, wrong)?;
        self.bad.push((bad, fields.into_iter().map(<[u8]>::to_vec).collect()));
        Ok(())
    }
}

/// Bytes from the first field's beginning to the last one's end.
#[inline(always)]
fn text_length(mut fields: impl Iterator<Item = (u32, u32)>) -> usize {
    fields.next().map_or(0, |(first, end)| fields.last().map_or(end, |(_, end)| end) - first) as usize
}
