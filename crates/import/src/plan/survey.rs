//! The types that fit every value of a text, which is read on all cores.

use std::io::BufRead;
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::{Error, Result, anyhow};

use super::Plan;
use crate::chunks::{Chunk, Chunks};
use crate::fields::{Quoted, Split};
use crate::infer::Inference;
use crate::lines::Lines;
use crate::records::{Records, longest};
use crate::value::Kind;

/// Bytes of text that a thread takes at once.
const CHUNK: usize = 256 << 10;

impl Plan {
    /// The types that fit every record of a text, which begins with the header where there is one. With an error, those
    /// that fit what was seen.
    pub(super) fn survey(
        &self,
        text: Box<dyn BufRead + Send>,
        columns: usize,
    ) -> Result<Vec<Kind>, (Vec<Kind>, Error)> {
        let mut records = Records::new(text, self.dialect, self.request.source.name());
        if self.header.value {
            let header = records.read(&mut vec![0; 4096], 0, &mut vec![0; 64]);
            header.map_err(|error| (Inference::new(columns).kinds(), error))?;
        }
        let (text, line) = records.into_rest();
        let name = self.request.source.name();
        let chunks = Mutex::new(Chunks::new(
            text,
            self.dialect,
            name.clone(),
            line,
            CHUNK,
            longest(self.request.memory),
        ));
        let survey = Survey { chunks, delimiter: self.dialect.delimiter, nulls: self.nulls(), name };
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
            Some(error) => Err((all.kinds(), error)),
            None => Ok(all.kinds()),
        }
    }
}

/// A text of which each thread sees a part.
struct Survey {
    chunks: Mutex<Chunks>,
    delimiter: u8,
    nulls: Vec<Vec<u8>>,
    name: String,
}

impl Survey {
    /// One thread's part.
    fn look(&self, seen: &mut Inference) -> Result<()> {
        let mut chunk = Chunk::default();
        while self.chunks.lock().unwrap_or_else(PoisonError::into_inner).next(&mut chunk)? {
            match chunk.has_quotes {
                true => see(Quoted::new(&mut chunk, self.delimiter, &self.name), &self.nulls, seen)?,
                false => see(Lines::new(&chunk, self.delimiter, &self.name), &self.nulls, seen)?,
            }
            chunk.clear();
        }
        Ok(())
    }
}

fn see(mut split: impl Split, nulls: &[Vec<u8>], seen: &mut Inference) -> Result<()> {
    while let Some((_, text, fields)) = split.next()? {
        // Of a record that will be rejected no field tells anything.
        if fields.len() != seen.columns() {
            continue;
        }
        for (column, (from, to)) in fields.enumerate() {
            let (from, to) = (from as usize, to as usize);
            if !nulls.iter().any(|null| null == &text[from..to]) {
                seen.see_within(column, text, from, to);
            }
        }
    }
    Ok(())
}
