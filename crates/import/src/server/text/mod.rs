//! The parser's thread for a server that gets delimited text: rows that are right already go as they are.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use memchr::{memchr, memchr2};

use super::common::escape;
use crate::batch::Batch;
use crate::chunks::{Chunk, Chunks};
use crate::convert::{BadField, Converter};
use crate::digits;
use crate::fields::{Fields, Quoted, Split};
use crate::lines::Lines;
use crate::pipeline::Sender;
use crate::rejects::Rejects;
use crate::syntax::{Dialect, Flaw};
use crate::value::{Kind, Value, real};

/// Writes the rows of a text as servers read them by default: fields between tabs, a line each.
pub struct TextParser {
    /// The text.
    pub chunks: Chunks,
    /// Its delimiter and quotes.
    pub dialect: Dialect,
    /// Its name in messages.
    pub name: String,
    /// The rules by which rows are checked.
    pub converter: Converter,
    /// Rows that the server refused in an attempt before: their lines and the reasons.
    pub refused: HashMap<u64, String>,
    /// Takes the bad rows.
    pub rejects: Arc<Mutex<Rejects>>,
}

/// A check that a field of a column passes if the server may get its bytes.
#[derive(Debug, Clone, Copy)]
enum Check {
    /// Any text passes.
    Text,
    /// Whole numbers within bounds pass.
    Integer { min: i64, max: i64 },
    /// Numbers pass that a double holds exactly enough.
    Real,
    /// The whole row is to be converted.
    Other,
}

/// Facts about a chunk's text that save checks of its fields.
#[derive(Debug, Clone, Copy)]
struct Known {
    is_utf8: bool,
    has_zero: bool,
    /// True if no byte of a field needs an escape.
    is_plain: bool,
}

impl TextParser {
    /// Parses to the end of the file, or until the receiver is gone.
    ///
    /// # Errors
    /// The file cannot be read, or a row ends the import.
    pub fn run(mut self, sender: &Sender) -> Result<()> {
        let checks = self.checks();
        let mut writer = Writer { sender, batch: None };
        let mut chunk = Chunk::default();
        while self.chunks.next(&mut chunk)? {
            let known = known(&chunk, self.dialect);
            let is_open = match chunk.has_quotes {
                true => {
                    let split = Quoted::new(&mut chunk, self.dialect.delimiter, &self.name);
                    self.rows(split, known, &checks, &mut writer)?
                }
                false => {
                    let split = Lines::new(&chunk, self.dialect.delimiter, &self.name);
                    self.rows(split, known, &checks, &mut writer)?
                }
            };
            if !is_open {
                return Ok(());
            }
        }
        writer.finish();
        Ok(())
    }

    /// The checks of the columns.
    fn checks(&self) -> Vec<Check> {
        let columns = self.converter.columns.iter();
        let check = |kind| match kind {
            Kind::TEXT => Check::Text,
            Kind::Integer { min, max } => Check::Integer { min, max },
            Kind::Real => Check::Real,
            _ => Check::Other,
        };
        let has_nulls =
            !self.converter.nulls.is_empty() || columns.clone().any(|wanted| !wanted.nulls.is_empty());
        columns.map(|wanted| if has_nulls { Check::Other } else { check(wanted.kind) }).collect()
    }

    /// Writes the rows of a chunk; false once the receiver is gone.
    fn rows(
        &self,
        mut split: impl Split,
        known: Known,
        checks: &[Check],
        writer: &mut Writer,
    ) -> Result<bool> {
        let may_copy = known.is_utf8 && !known.has_zero && known.is_plain && self.refused.is_empty();
        while let Some((line, text, fields, flaw)) = split.next()? {
            let Some(batch) = writer.batch() else { return Ok(false) };
            if may_copy && flaw == Flaw::None && fits(text, fields.clone(), checks) {
                copy(text, fields, batch);
                batch.lines.push(line);
                continue;
            }
            let fields: Vec<(u32, u32)> = fields.collect();
            self.convert(line, text, &fields, flaw, known, batch)?;
        }
        Ok(true)
    }

    /// Converts a row field by field, or rejects it.
    fn convert(
        &self,
        line: u64,
        text: &[u8],
        fields: &Fields,
        flaw: Flaw,
        known: Known,
        batch: &mut Batch,
    ) -> Result<()> {
        let start = batch.used;
        if let Err(wrong) = self.put(line, text, fields, flaw, known, batch) {
            batch.used = start;
            let fields: Vec<&[u8]> =
                fields.iter().map(|&(from, to)| &text[from as usize..to as usize]).collect();
            let bad = self.converter.bad(line, &fields, wrong)?;
            return self.rejects.lock().unwrap_or_else(PoisonError::into_inner).take(bad, &fields);
        }
        batch.lines.push(line);
        Ok(())
    }

    fn put(
        &self,
        line: u64,
        text: &[u8],
        fields: &Fields,
        flaw: Flaw,
        known: Known,
        batch: &mut Batch,
    ) -> Result<(), BadField> {
        if let Some(reason) = self.refused.get(&line) {
            return Err((None, reason.clone()));
        }
        if flaw != Flaw::None {
            return Err((None, flaw.reason()));
        }
        let mut field_end = b"".as_slice();
        self.converter.convert(text, fields, known.is_utf8, &[], |value, (from, to)| {
            batch.put(std::mem::replace(&mut field_end, b"\t"));
            let field = &text[from as usize..to as usize];
            match value {
                Value::Null => batch.put(b"\\N"),
                _ if known.is_plain => batch.put(field),
                _ => escape(field, |part| batch.put(part)),
            }
        })?;
        let has_zero = |&(from, to): &(u32, u32)| memchr(0, &text[from as usize..to as usize]).is_some();
        if known.has_zero && fields.iter().any(has_zero) {
            return Err((None, "holds a zero byte, which the server does not store".into()));
        }
        batch.put(b"\n");
        Ok(())
    }
}

/// Looks once through all of a chunk, which spares a slower look at each field.
fn known(chunk: &Chunk, Dialect { delimiter, .. }: Dialect) -> Known {
    let text = chunk.text();
    let needs_escape = match delimiter {
        // A tab may lie within quotes.
        b'\t' if !chunk.has_quotes => memchr(b'\\', text).is_some(),
        _ => memchr2(b'\\', b'\t', text).is_some(),
    };
    Known {
        is_utf8: std::str::from_utf8(text).is_ok(),
        has_zero: memchr(0, text).is_some(),
        // A line may end within quotes, as well as between rows.
        is_plain: !needs_escape && !chunk.has_quotes,
    }
}

/// True if the fields of a row are values of their columns, none of them NULL.
#[inline]
fn fits(text: &[u8], fields: impl ExactSizeIterator<Item = (u32, u32)>, checks: &[Check]) -> bool {
    fields.len() == checks.len()
        && fields.zip(checks).all(|((from, to), check)| {
            let (from, to) = (from as usize, to as usize);
            match *check {
                Check::Text => true,
                Check::Integer { min, max } => {
                    digits::integer(text, from, to).is_some_and(|number| min <= number && number <= max)
                }
                Check::Real => real(&text[from..to]).is_some(),
                Check::Other => false,
            }
        })
}

/// Copies a row of fields that lie one after another, with a tab between them.
#[inline]
fn copy(text: &[u8], mut fields: impl Iterator<Item = (u32, u32)> + Clone, batch: &mut Batch) {
    let Some((from, first_end)) = fields.next() else { return };
    let end = fields.clone().last().map_or(first_end, |(_, end)| end);
    let start = batch.used;
    batch.put(&text[from as usize..end as usize]);
    let row = &mut batch.text[start..];
    for (field, _) in fields {
        row[(field - from - 1) as usize] = b'\t';
    }
    batch.put(b"\n");
}

/// The batch that is being written.
struct Writer<'s> {
    sender: &'s Sender,
    batch: Option<Batch>,
}

impl Writer<'_> {
    /// A batch with room; None once the receiver of the rows is gone.
    #[inline]
    fn batch(&mut self) -> Option<&mut Batch> {
        if let Some(full) = self.batch.take_if(|batch| batch.is_full()) {
            self.sender.send(full);
        }
        if self.batch.is_none() {
            self.batch = self.sender.empty(0);
            self.batch.as_mut()?.is_written = true;
        }
        self.batch.as_mut()
    }

    /// Sends what is left.
    fn finish(self) {
        if let Some(batch) = self.batch.filter(|batch| batch.rows() > 0) {
            self.sender.send(batch);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::path::Path;

    use proptest::prelude::*;

    use super::super::common::{write, written};
    use super::*;
    use crate::input::{Format, Input};
    use crate::parse::{Parser, Wanted};
    use crate::pipeline::{self, ImportObserver};
    use crate::rejects::OnError;
    use crate::source::Source;
    use crate::syntax::LONGEST;

    struct Patient;

    impl ImportObserver for Patient {
        fn stops(&self) -> bool {
            false
        }
        fn reached(&self, _: u64, _: u64) {}
        fn doing(&self, _: &str) {}
    }

    /// A text and the columns that it is for.
    #[derive(Debug, Clone)]
    struct Case {
        text: Vec<u8>,
        dialect: Dialect,
        kinds: Vec<Kind>,
        nulls: Vec<Vec<u8>>,
        refused: HashMap<u64, String>,
        is_rejecting: bool,
    }

    /// What the server gets, the lines of the rows, and the bad rows; or the error that ended it.
    type Outcome = Result<(Vec<u8>, Vec<u64>, Vec<u8>), String>;

    impl Case {
        fn converter(&self) -> Converter {
            let wanted = |kind: &Kind| Wanted {
                name: format!("{kind:?}"),
                kind: *kind,
                inferred: false,
                required: false,
                nulls: Vec::new(),
            };
            Converter { columns: self.kinds.iter().map(wanted).collect(), nulls: self.nulls.clone() }
        }

        fn outcome(&self, parse: impl FnOnce(&Sender, Arc<Mutex<Rejects>>) -> Result<()> + Send) -> Outcome {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("rejects");
            let on_error = match self.is_rejecting {
                true => OnError::Reject { file: file.clone(), most: 3 },
                false => OnError::Stop,
            };
            let rejects = Arc::new(Mutex::new(Rejects::new(&on_error, vec!["t".into()])));
            let (given, mut room) = (rejects.clone(), Vec::new());
            let ran = pipeline::run(
                Arc::default(),
                rejects.clone(),
                &Patient,
                move |sender| parse(sender, given),
                |rows, check| {
                    let (mut bytes, mut lines) = (Vec::new(), Vec::new());
                    while let Some(batch) = rows.batch()? {
                        write(&batch, &mut room);
                        bytes.extend_from_slice(written(&batch, &room));
                        lines.extend_from_slice(&batch.lines);
                        rows.recycle(batch);
                    }
                    check()?;
                    Ok((bytes, lines))
                },
            );
            let ((bytes, lines), _) = ran.map_err(|error| format!("{error:#}"))?;
            Arc::into_inner(rejects).unwrap().into_inner().unwrap().seal().unwrap();
            Ok((bytes, lines, std::fs::read(&file).unwrap_or_default()))
        }

        fn as_text(&self, size: usize) -> Outcome {
            let text = Box::new(Cursor::new(self.text.clone()));
            self.outcome(move |sender, rejects| {
                let chunks = Chunks::new(text, self.dialect, "t".into(), 1, size, LONGEST);
                let (converter, refused) = (self.converter(), self.refused.clone());
                let parser = TextParser {
                    chunks,
                    dialect: self.dialect,
                    name: "t".into(),
                    converter,
                    refused,
                    rejects,
                };
                parser.run(sender)
            })
        }

        fn as_cells(&self) -> Outcome {
            let format = Format {
                syntax: self.dialect.into(),
                skip: 0,
                has_header: false,
                encoding: None,
                is_json: false,
                names: Vec::new(),
                keys: Vec::new(),
                is_delimited: true,
            };
            let (text, source) = (Box::new(Cursor::new(self.text.clone())), Source::new(Path::new("t")));
            let input = Input::new(format, None, text, Default::default(), &source, &[]).unwrap();
            self.outcome(move |sender, rejects| {
                let (converter, refused) = (self.converter(), self.refused.clone());
                let input = Box::new(input);
                let parser = Parser { input, converter, typed: false, zeros: false, refused, rejects };
                parser.run(sender)
            })
        }
    }

    fn text() -> impl Strategy<Value = Vec<u8>> {
        const PIECES: [&[u8]; 22] = [
            b"a",
            b",",
            b",",
            b",",
            b"\t",
            b"\n",
            b"\n",
            b"\r",
            b"\"",
            b"\\",
            b"\\N",
            b"\\.",
            b"12",
            b"-7",
            b"0",
            b"1.5",
            b"\0",
            b"\xef\xbb\xbf",
            "é".as_bytes(),
            b"\xff",
            b"007",
            b"9223372036854775807",
        ];
        prop::collection::vec(prop::sample::select(&PIECES[..]), 0..60).prop_map(|pieces| pieces.concat())
    }

    /// Rows of which most are right.
    fn rows() -> impl Strategy<Value = Vec<u8>> {
        let row =
            ("-?[0-9]{0,20}", "[a-cé\\\\]{0,5}", prop::sample::select(vec!["1.5", "", "7", "2e3", "x"]));
        let row = row.prop_map(|(whole, text, real)| format!("{whole},{text},{real}\n"));
        prop::collection::vec(row, 0..12).prop_map(|rows| rows.concat().into_bytes())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1500))]
        #[test]
        fn a_server_gets_what_cells_would_come_to(
            text in prop_oneof![text(), rows()],
            delimiter in prop::sample::select(vec![b',', b',', b'\t', b'\\', 0]),
            quotes in any::<bool>(), is_rejecting in any::<bool>(),
            kinds in prop::sample::select(vec![
                vec![Kind::INTEGER, Kind::TEXT, Kind::Real],
                vec![Kind::TEXT],
                vec![Kind::TEXT, Kind::TEXT],
                vec![Kind::Integer { min: -8, max: 100 }, Kind::Text { longest: Some(2) }],
                vec![Kind::Empty, Kind::AsIs],
            ]),
            nulls in prop::sample::select(vec![vec![], vec![], vec![b"a".to_vec()]]),
            refused in prop::option::weighted(0.2, 1..4u64), size in 1..80usize,
        ) {
            let refused = refused.map(|line| (line, "is refused".to_owned())).into_iter().collect();
            let dialect = Dialect { delimiter, quotes };
            let case = Case { text, dialect, kinds, nulls, refused, is_rejecting };
            prop_assert_eq!(case.as_text(size), case.as_cells());
        }
    }
}
