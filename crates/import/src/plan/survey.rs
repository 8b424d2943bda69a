//! The types that fit every value of a text, which is read on all cores.

use std::io::BufRead;
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::{Error, Result, anyhow};

use super::Plan;
use super::nulls::Nulls;
use crate::chunks::{Chunk, Chunks};
use crate::infer::Inference;
use crate::input::Input;
use crate::records::Records;
use crate::source::Source;
use crate::split::{Lines, Quoted, Split};
use crate::syntax::{Dialect, Flaw, longest};

/// Bytes of text that a thread takes at once.
const CHUNK: usize = 256 << 10;

impl Plan {
    /// The types that every record of a text, and of the files behind it, shows for its columns. With an error, those
    /// seen before it.
    pub(super) fn survey(
        &self,
        text: Box<dyn BufRead + Send>,
        rest: &[Source],
        columns: usize,
    ) -> Result<Inference, (Inference, Error)> {
        let outcome = match self.usual() {
            Some(dialect) => {
                self.records(text).map(|records| self.survey_by_chunks(records, dialect, columns))
            }
            None => self
                .text_input(text, Default::default(), rest)
                .map(|input| self.survey_one_by_one(input, columns)),
        };
        outcome.unwrap_or_else(|error| Err((Inference::new(columns), error)))
    }

    fn survey_one_by_one(&self, mut input: Input, columns: usize) -> Result<Inference, (Inference, Error)> {
        let (mut seen, nulls) = (Inference::new(columns), self.nulls());
        let (mut text, mut ends, mut fields) = (vec![0; 4096], vec![0; 64], Vec::new());
        loop {
            let record = match input.read(&mut text, 0, &mut ends, &mut fields) {
                Ok(Some(record)) => record,
                Ok(None) => return Ok(seen),
                Err(error) => return Err((seen, error)),
            };
            if !matches!(record.flaw, Flaw::None | Flaw::Form { .. }) || fields.len() != columns {
                continue;
            }
            let is = |flags: &[bool], column| flags.get(column) == Some(&true);
            for (column, &(from, to)) in fields.iter().enumerate() {
                let (from, to) = (from as usize, to as usize);
                if is(input.strings(), column) {
                    seen.see_text(column, &text[from..to], record.line);
                } else if !is(input.nulls(), column) && !nulls.has(column, &text[from..to]) {
                    seen.see_within(column, &text, from, to, record.line);
                }
            }
        }
    }

    fn survey_by_chunks(
        &self,
        records: Records,
        dialect: Dialect,
        columns: usize,
    ) -> Result<Inference, (Inference, Error)> {
        let (text, line) = records.into_rest();
        let name = self.request.source.name();
        let chunks =
            Mutex::new(Chunks::new(text, dialect, name.clone(), line, CHUNK, longest(self.request.memory)));
        let survey = Survey { chunks, delimiter: dialect.delimiter, nulls: self.nulls(), name };
        let seen = Mutex::new((Inference::new(columns), None));
        let look = || {
            let mut own = Inference::new(columns);
            let outcome = survey.look(&mut own);
            let (all, error) = &mut *seen.lock().unwrap_or_else(PoisonError::into_inner);
            all.join(&own);
            *error = error.take().or(outcome.err());
        };
        let crashed = thread::scope(|scope| {
            let threads = thread::available_parallelism().map_or(1, usize::from);
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(look)).collect();
            look();
            others.into_iter().any(|other| other.join().is_err())
        });
        let (all, error) = seen.into_inner().unwrap_or_else(PoisonError::into_inner);
        match error.or_else(|| crashed.then(|| anyhow!("a thread crashed, which is a fault of dyno"))) {
            Some(error) => Err((all, error)),
            None => Ok(all),
        }
    }
}

impl Nulls {
    /// Shows the fields of a record to the inference, except those that stand for NULL.
    fn see(&self, text: &[u8], line: u64, fields: impl Iterator<Item = (u32, u32)>, seen: &mut Inference) {
        for (column, (from, to)) in fields.enumerate() {
            let (from, to) = (from as usize, to as usize);
            if !self.has(column, &text[from..to]) {
                seen.see_within(column, text, from, to, line);
            }
        }
    }
}

/// A text of which each thread sees a part.
struct Survey {
    chunks: Mutex<Chunks>,
    delimiter: u8,
    nulls: Nulls,
    name: String,
}

impl Survey {
    /// One thread's part.
    fn look(&self, seen: &mut Inference) -> Result<()> {
        let mut chunk = Chunk::default();
        while self.chunks.lock().unwrap_or_else(PoisonError::into_inner).next(&mut chunk)? {
            let line = chunk.line;
            match chunk.has_quotes {
                true => self.see(Quoted::new(chunk.text_mut(), line, self.delimiter, &self.name), seen)?,
                false => self.see(Lines::new(chunk.text(), line, self.delimiter, &self.name), seen)?,
            }
            chunk.clear();
        }
        Ok(())
    }

    fn see(&self, mut split: impl Split, seen: &mut Inference) -> Result<()> {
        while let Some((line, text, fields, flaw)) = split.next()? {
            // A record that will be rejected shows nothing of its columns.
            if flaw == Flaw::None && fields.len() == seen.columns() {
                self.nulls.see(text, line, fields, seen);
            }
        }
        Ok(())
    }
}
