//! The types that fit every value of a text, which is read on all cores.

use std::io::BufRead;
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::{Error, Result, anyhow};

use super::Plan;
use super::nulls::Nulls;
use crate::chunks::{Chunk, Chunks};
use crate::error::Interrupted;
use crate::infer::Inference;
use crate::input::Input;
use crate::pipeline::ImportObserver;
use crate::records::Records;
use crate::source::Source;
use crate::split::{FieldBounds, Lines, Quoted, Split};
use crate::syntax::{Dialect, Flaw, longest};

/// Bytes of text that a thread takes at once.
const CHUNK: usize = 256 << 10;
/// Records that are read before a look at whether to stop, where one thread reads all.
const RECORDS: u64 = 1024;

impl Plan {
    /// The types that every record of a text, and of the files behind it, shows for its columns. With an error, those
    /// seen before it.
    pub(super) fn survey(
        &self,
        text: Box<dyn BufRead + Send>,
        rest: &[Source],
        columns: usize,
        watch: &dyn ImportObserver,
    ) -> Result<Inference, (Inference, Error)> {
        let outcome = match self.usual() {
            Some(dialect) => {
                self.records(text).map(|records| self.survey_by_chunks(records, dialect, columns, watch))
            }
            None => self
                .text_input(text, Default::default(), rest)
                .map(|input| self.survey_one_by_one(input, columns, watch)),
        };
        outcome.unwrap_or_else(|error| Err((Inference::new(columns), error)))
    }

    fn survey_one_by_one(
        &self,
        mut input: Input,
        columns: usize,
        watch: &dyn ImportObserver,
    ) -> Result<Inference, (Inference, Error)> {
        let (mut seen, nulls) = (Inference::new(columns), self.nulls());
        let (mut text, mut ends, mut fields) = (vec![0; 4096], vec![0; 64], Vec::new());
        for number in 0u64.. {
            if number.is_multiple_of(RECORDS) && watch.stops() {
                return Err((seen, Interrupted.into()));
            }
            let record = match input.read(&mut text, 0, &mut ends, &mut fields) {
                Ok(Some(record)) => record,
                Ok(None) => break,
                Err(error) => return Err((seen, error)),
            };
            if !matches!(record.flaw, Flaw::None | Flaw::Form { .. })
                || fields.len() != columns
                || !are_utf8(&text, fields.iter().copied())
            {
                continue;
            }
            let is = |flags: &[bool], column| flags.get(column) == Some(&true);
            for (column, &(from, to)) in fields.iter().enumerate() {
                let (from, to) = (from as usize, to as usize);
                if is(input.nulls(), column) || nulls.has(column, &text[from..to]) {
                    continue;
                }
                match is(input.strings(), column) {
                    true => seen.see_text(column, &text[from..to], record.line),
                    false => seen.see_within(column, &text, from, to, record.line),
                }
            }
        }
        Ok(seen)
    }

    fn survey_by_chunks(
        &self,
        records: Records,
        dialect: Dialect,
        columns: usize,
        watch: &dyn ImportObserver,
    ) -> Result<Inference, (Inference, Error)> {
        let (text, line) = records.into_rest();
        let name = self.request.source.name();
        let chunks =
            Mutex::new(Chunks::new(text, dialect, name.clone(), line, CHUNK, longest(self.request.memory)));
        let survey = Survey { chunks, delimiter: dialect.delimiter, nulls: self.nulls(), name };
        let seen = Mutex::new((Inference::new(columns), None));
        let look = || {
            let mut own = Inference::new(columns);
            let outcome = survey.look(&mut own, watch);
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
    fn look(&self, seen: &mut Inference, watch: &dyn ImportObserver) -> Result<()> {
        let mut chunk = Chunk::default();
        while self.chunks.lock().unwrap_or_else(PoisonError::into_inner).next(&mut chunk)? {
            if watch.stops() {
                return Err(Interrupted.into());
            }
            let (line, is_utf8) = (chunk.line, std::str::from_utf8(chunk.text()).is_ok());
            match chunk.has_quotes {
                true => {
                    let split = Quoted::new(chunk.text_mut(), line, self.delimiter, &self.name);
                    self.see(split, is_utf8, seen)?;
                }
                false => {
                    let split = Lines::new(chunk.text(), line, self.delimiter, &self.name);
                    self.see(split, is_utf8, seen)?;
                }
            }
            chunk.clear();
        }
        Ok(())
    }

    /// Sees the records of a chunk, which may be known to be UTF-8 as a whole.
    fn see(&self, mut split: impl Split, is_utf8: bool, seen: &mut Inference) -> Result<()> {
        while let Some((line, text, fields, flaw)) = split.next()? {
            // A record that will be rejected shows nothing of its columns.
            let is_right = flaw == Flaw::None && fields.len() == seen.columns();
            if is_right && (is_utf8 || are_utf8(text, fields.all())) {
                self.nulls.see(text, line, fields, seen);
            }
        }
        Ok(())
    }
}

/// True if all fields of a record are UTF-8.
fn are_utf8(text: &[u8], mut fields: impl Iterator<Item = (u32, u32)>) -> bool {
    fields.all(|(from, to)| std::str::from_utf8(&text[from as usize..to as usize]).is_ok())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Duration;

    use super::*;
    use crate::request::Request;
    use crate::safety::Safety;
    use crate::sqlite::Sqlite;

    /// An interrupt that came before.
    struct Interrupt;

    impl ImportObserver for Interrupt {
        fn stops(&self) -> bool {
            true
        }
        fn reached(&self, _: u64, _: u64) {}
        fn doing(&self, _: &str) {}
    }

    #[test]
    fn an_interrupt_ends_the_reading_for_types() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        fs::write(&path, "id,v\n1,a\n").unwrap();
        // All cores read the usual dialect, and one reads others.
        for comment in [None, Some(b'#')] {
            let request = Request { comment, ..Request::new(Source::new(&path)) };
            let target = Sqlite::new(&folder.path().join("a.db"), Safety::None, Duration::ZERO).unwrap();
            let plan = Plan::make(request, Box::new(target)).unwrap();
            let text = plan.request.source.open(None).unwrap().text;
            let (_, error) = plan.survey(text, &[], 2, &Interrupt).unwrap_err();
            assert!(error.is::<Interrupted>(), "{error:#}");
        }
    }
}
