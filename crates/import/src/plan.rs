//! What an import will do, decided before anything is changed: shape of the file, columns, statements.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use encoding_rs::Encoding;

use crate::error::Input;
use crate::explain::Program;
use crate::guess::{self, Choice};
use crate::infer::Inference;
use crate::parse::{self, Contradiction, Parser, Wanted, unrepeatable};
use crate::pipeline::{self, Rows, Waits, Watch};
use crate::records::{Dialect, Records};
use crate::rejects::{OnError, Rejects};
use crate::safety::Reached;
use crate::source::{Opened, Packing, Source, check_text, is_parquet};
use crate::table::{Column, Table, Types, list, names};
use crate::value::Kind;

/// What the user asks.
#[derive(Debug, Clone)]
pub struct Request {
    /// The file.
    pub source: Source,
    /// Between fields; guessed if not given.
    pub delimiter: Option<u8>,
    /// Whether the first record names the columns; guessed if not given.
    pub header: Option<bool>,
    /// Whether fields may be quoted.
    pub quotes: bool,
    /// The text's encoding; by its byte order mark or UTF-8 if not given.
    pub encoding: Option<&'static Encoding>,
    /// Spellings of NULL.
    pub nulls: Vec<String>,
    /// The table; by the file's name if not given.
    pub table: Option<String>,
    /// Types of the columns.
    pub types: Types,
    /// What to do with a table that is there.
    pub if_exists: IfExists,
    /// Columns of the primary key.
    pub primary_key: Vec<String>,
    /// Indexes, each of some columns.
    pub indexes: Vec<Vec<String>>,
    /// What to do with a bad row.
    pub on_error: OnError,
}

/// What to do with a table that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfExists {
    /// Refuse.
    Fail,
    /// Add the rows to it.
    Append,
    /// Put the new one in its place.
    Replace,
}

/// How the table comes to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// It is made.
    Create,
    /// It is there, and the rows come to it.
    Append,
    /// It is there, and made anew.
    Replace,
}

/// Where rows go.
pub trait Target {
    /// The columns of a table that is there; none if it is not.
    fn existing(&mut self, table: &str) -> Result<Option<Vec<Column>>>;
    /// A column of a type that the user names.
    fn column(&self, name: &str, declared: &str) -> Result<Column>;
    /// Spells the types that were inferred.
    fn declare(&self, table: &mut Table);
    /// Whether it wants numbers as numbers, or as the text that they have.
    fn is_typed(&self) -> bool;
    /// The statements that will be executed, in order.
    fn statements(&self, table: &Table, existing: Existing) -> Vec<String>;
    /// Why it is done so, in sentences.
    fn reasons(&self) -> Vec<String>;
    /// Programs that do the same without dyno, as templates.
    fn programs(&self) -> &'static [Program] {
        &[]
    }
    /// What those templates need to know besides what every import has.
    fn context(&self, _table: &Table, _existing: Existing) -> minijinja::Value {
        minijinja::context! {}
    }
    /// Loads the rows. Before it commits it asks `check` whether the rows ended because the file did.
    ///
    /// # Errors
    /// Nothing was loaded.
    fn load(
        &mut self,
        table: &Table,
        existing: Existing,
        rows: &mut Rows,
        check: &dyn Fn() -> Result<()>,
    ) -> Result<Reached>;
}

/// An import that is ready to go.
pub struct Plan {
    /// What was asked.
    pub request: Request,
    /// How the file is written.
    pub dialect: Dialect,
    /// The delimiter, and why that.
    pub delimiter: Choice<u8>,
    /// Whether there is a header, and why.
    pub header: Choice<bool>,
    /// How the file is packed.
    pub packing: Packing,
    /// The table.
    pub table: Table,
    /// How it comes to be.
    pub existing: Existing,
    /// The file from its beginning; none once it is read.
    opened: Option<Opened>,
    target: Box<dyn Target>,
}

/// What an import came to.
#[derive(Debug, Clone)]
pub struct Report {
    /// Rows in the table.
    pub rows: u64,
    /// Rows that were bad.
    pub rejected: u64,
    /// Bytes of the file as it lies there.
    pub bytes: u64,
    /// How long it took, from opening the file to the safety reached.
    pub took: Duration,
    /// What it survives.
    pub reached: Reached,
    /// How the threads spent the time.
    pub waits: Waits,
    /// Whether a late value changed the types, so that all was read again.
    pub widened: bool,
}

impl Plan {
    /// Looks at the file and the target.
    ///
    /// # Errors
    /// What was asked cannot be done; nothing was changed.
    pub fn make(request: Request, mut target: Box<dyn Target>) -> Result<Plan> {
        let name = request.source.name();
        let opened = request.source.open(request.encoding)?;
        check_text(&opened.sample, &name).input()?;
        let (sample, whole) = (&opened.sample, opened.whole);
        let delimiter = match request.delimiter {
            Some(delimiter) => Choice::new(delimiter, "as asked"),
            None => guess::delimiter(&request.source, sample, whole, request.quotes),
        };
        let dialect = Dialect { delimiter: delimiter.value, quotes: request.quotes };
        let stated = is_parquet(sample).then(|| stated(&request.source)).transpose()?;
        let records = match &stated {
            Some((names, _)) => vec![names.clone()],
            None => guess::records(&name, sample, whole, dialect)?,
        };
        let header = match request.header {
            _ if stated.is_some() => Choice::new(true, "a Parquet file names its columns"),
            Some(header) => Choice::new(header, "as asked"),
            None => guess::header(&records),
        };
        let table = request.table.clone().or_else(|| request.source.stem());
        let table = table.context("standard input has no name: say --table NAME").input()?;
        let existing = target.existing(&table)?;
        let mut table = Table {
            name: table,
            columns: Vec::new(),
            primary_key: request.primary_key.clone(),
            indexes: request.indexes.clone(),
        };
        let disposition = disposition(&table.name, existing.is_some(), request.if_exists).input()?;
        let mut plan = Plan {
            dialect,
            delimiter,
            header,
            packing: opened.packing,
            existing: disposition,
            table: table.clone(),
            opened: None,
            target,
            request,
        };
        table.columns = match existing.filter(|_| disposition == Existing::Append) {
            Some(columns) => plan.matched(columns, &records).input()?,
            None => plan.new_columns(&records, stated.map(|(_, kinds)| kinds), sample, whole).input()?,
        };
        table.check_keys().input()?;
        plan.target.declare(&mut table);
        plan.table = table;
        plan.opened = Some(opened);
        Ok(plan)
    }

    /// The statements that will be executed, in order.
    pub fn statements(&self) -> Vec<String> {
        self.target.statements(&self.table, self.existing)
    }

    /// Where the rows go.
    pub(crate) fn target(&self) -> &dyn Target {
        &*self.target
    }

    /// The columns of a table that is there, in the order in which the file fills them.
    fn matched(&self, columns: Vec<Column>, records: &[Vec<Vec<u8>>]) -> Result<Vec<Column>> {
        let table = &self.table.name;
        ensure!(
            self.request.types == Types::Inferred,
            "the table {table} is there and has its types: leave --types out"
        );
        ensure!(
            self.request.primary_key.is_empty(),
            "the table {table} is there and has its key: leave --primary-key out"
        );
        let Some(first) = records.first() else { return Ok(columns) };
        if !self.header.value {
            ensure!(
                first.len() == columns.len(),
                "{} has {} fields and the table {table} {} columns ({}): a header would tell which is which",
                self.request.source.name(),
                first.len(),
                columns.len(),
                list(&columns)
            );
            return Ok(columns);
        }
        let named = names(Some(first), first.len())?;
        let find = |name: &String| {
            let found = columns.iter().find(|column| column.name.eq_ignore_ascii_case(name));
            found.cloned().with_context(|| {
                let name_list = list(&columns);
                format!(
                    "the table {table} has no column '{name}', which the header names; it has {name_list}"
                )
            })
        };
        named.iter().map(find).collect()
    }

    /// The columns of a table that is to be made.
    fn new_columns(
        &self,
        records: &[Vec<Vec<u8>>],
        stated: Option<Vec<Kind>>,
        sample: &[u8],
        whole: bool,
    ) -> Result<Vec<Column>> {
        let name = self.request.source.name();
        let Some(first) = records.first() else {
            ensure!(
                whole,
                "{name}: the first record is longer than the beginning that is looked at; give --types and --append to a table"
            );
            bail!("{name} is empty: there is nothing to make a table of");
        };
        let named = match (&self.request.types, self.header.value) {
            // Without a header, names given for all columns are the columns' names.
            (Types::Named(types), false) if types.len() == first.len() => {
                types.iter().map(|(name, _)| name.clone()).collect()
            }
            (_, header) => names(header.then_some(first), first.len())?,
        };
        let inferred = stated.is_none();
        let kinds = match stated {
            Some(kinds) => kinds,
            None => self.inferred(first.len(), sample, whole)?,
        };
        let found = named.iter().zip(kinds).map(|(name, kind)| Column {
            name: name.clone(),
            declared: String::new(),
            kind,
            inferred,
        });
        let mut columns: Vec<Column> = found.collect();
        match &self.request.types {
            Types::Inferred => {}
            Types::InOrder(types) => {
                ensure!(
                    types.len() == columns.len(),
                    "--types gives {} types for {} columns ({})",
                    types.len(),
                    columns.len(),
                    list(&columns)
                );
                for (column, declared) in columns.iter_mut().zip(types) {
                    *column = self.target.column(&column.name, declared)?;
                }
            }
            Types::Named(types) => {
                for (name, declared) in types {
                    let place = columns.iter().position(|column| column.name.eq_ignore_ascii_case(name));
                    let place = place.with_context(|| {
                        format!("--types names '{name}', which is no column; there are {}", list(&columns))
                    })?;
                    columns[place] = self.target.column(&columns[place].name, declared)?;
                }
            }
        }
        Ok(columns)
    }

    /// The types that fit the file's beginning.
    fn inferred(&self, columns: usize, sample: &[u8], whole: bool) -> Result<Vec<Kind>> {
        let sample = Box::new(std::io::Cursor::new(sample.to_vec()));
        let records = Records::new(sample, self.dialect, self.request.source.name());
        match infer(records, self.header.value, columns, &self.nulls()) {
            Ok(kinds) => Ok(kinds),
            // The sample ends where it ends, perhaps within quotes; what was seen until then counts.
            Err((kinds, _)) if !whole => Ok(kinds),
            Err((_, error)) => Err(error),
        }
    }

    /// Spellings of NULL as bytes.
    fn nulls(&self) -> Vec<Vec<u8>> {
        self.request.nulls.iter().map(|null| null.as_bytes().to_vec()).collect()
    }

    /// Loads the file.
    ///
    /// # Errors
    /// Nothing was loaded; [`crate::BadInput`] where the file is to blame, [`crate::Interrupted`] where
    /// `watch` asked to stop.
    pub fn load(mut self, watch: &dyn Watch) -> Result<Report> {
        let began = Instant::now();
        let mut widened = false;
        loop {
            let rejects = Rejects::new(&self.request.on_error, self.request.source.name());
            let rejects = Arc::new(Mutex::new(rejects));
            let outcome = self.attempt(&rejects, watch);
            let rejects = Arc::into_inner(rejects).and_then(|rejects| rejects.into_inner().ok());
            let rejects = rejects.context("a thread crashed, which is a fault of dyno")?;
            match outcome {
                Ok(mut report) => {
                    report.rejected = rejects.finish()?;
                    report.took = began.elapsed();
                    report.widened = widened;
                    return Ok(report);
                }
                Err(error) => {
                    rejects.discard();
                    let contradiction = error.downcast::<Contradiction>()?;
                    if !self.request.source.is_repeatable() || widened {
                        return Err(unrepeatable(&contradiction, &self.request.source.name())).input();
                    }
                    watch.doing("reading all of it for its types");
                    self.widen()?;
                    widened = true;
                }
            }
        }
    }

    /// Reads the file for the types that fit all of it.
    fn widen(&mut self) -> Result<()> {
        let opened = self.request.source.open(self.request.encoding)?;
        let records = Records::new(opened.text, self.dialect, self.request.source.name());
        let kinds = infer(records, self.header.value, self.table.columns.len(), &self.nulls())
            .map_err(|(_, error)| error)?;
        for (column, kind) in self.table.columns.iter_mut().zip(kinds).filter(|(column, _)| column.inferred) {
            column.kind = kind;
            column.declared.clear();
        }
        self.target.declare(&mut self.table);
        Ok(())
    }

    /// The rows of what was opened.
    fn input(&self, opened: Opened) -> Result<parse::Input> {
        if is_parquet(&opened.sample) {
            #[cfg(feature = "parquet")]
            return Ok(parse::Input::Parquet(crate::parquet::Rows::open(&self.request.source, opened.read)?));
        }
        let mut records = Records::new(opened.text, self.dialect, self.request.source.name());
        if self.header.value {
            records.read(&mut vec![0; 4096], 0, &mut vec![0; 64])?;
        }
        Ok(parse::Input::Text(Box::new(records)))
    }

    fn attempt(&mut self, rejects: &Arc<Mutex<Rejects>>, watch: &dyn Watch) -> Result<Report> {
        let opened = match self.opened.take() {
            Some(opened) => opened,
            None => self.request.source.open(self.request.encoding)?,
        };
        let read = opened.read.clone();
        let input = self.input(opened)?;
        let wanted = |column: &Column| Wanted {
            name: column.name.clone(),
            kind: column.kind,
            inferred: column.inferred,
        };
        let parser = Parser {
            input,
            columns: self.table.columns.iter().map(wanted).collect(),
            nulls: self.nulls(),
            typed: self.target.is_typed(),
            zeros: self.target.is_typed(),
            rejects: rejects.clone(),
        };
        let (target, table, existing) = (&mut self.target, &self.table, self.existing);
        let load = |rows: &mut Rows, check: &dyn Fn() -> Result<()>| {
            let reached = target.load(table, existing, rows, check)?;
            Ok((reached, rows.loaded()))
        };
        let parse = |sender: &pipeline::Sender| parser.run(sender);
        let ((reached, rows), waits) = pipeline::run(read.clone(), rejects.clone(), watch, parse, load)?;
        let bytes = read.load(std::sync::atomic::Ordering::Relaxed);
        Ok(Report { rows, rejected: 0, bytes, took: Duration::ZERO, reached, waits, widened: false })
    }
}

/// The columns that a Parquet file states, by name and kind.
#[cfg(feature = "parquet")]
fn stated(source: &Source) -> Result<(Vec<Vec<u8>>, Vec<Kind>)> {
    crate::parquet::columns(source)
}

/// No file states its columns: one that would was refused.
#[cfg(not(feature = "parquet"))]
fn stated(_: &Source) -> Result<(Vec<Vec<u8>>, Vec<Kind>)> {
    bail!("this dyno was built without Parquet")
}

fn disposition(table: &str, is_there: bool, if_exists: IfExists) -> Result<Existing> {
    match (is_there, if_exists) {
        (false, _) => Ok(Existing::Create),
        (true, IfExists::Append) => Ok(Existing::Append),
        (true, IfExists::Replace) => Ok(Existing::Replace),
        (true, IfExists::Fail) => Err(anyhow!(
            "there is a table {table} already: --append adds the rows to it, --replace puts a new one in its place, --table names another"
        )),
    }
}

/// The types that fit every record; with an error, those until then.
fn infer(
    mut records: Records,
    header: bool,
    columns: usize,
    nulls: &[Vec<u8>],
) -> Result<Vec<Kind>, (Vec<Kind>, anyhow::Error)> {
    let mut inference = Inference::new(columns);
    let (mut buffer, mut ends, mut first) = (vec![0; 1 << 16], vec![0; columns + 1], header);
    loop {
        let record = match records.read(&mut buffer, 0, &mut ends) {
            Ok(Some(record)) => record,
            Ok(None) => return Ok(inference.kinds()),
            Err(error) => return Err((inference.kinds(), error)),
        };
        // Of a record that will be rejected no field tells anything.
        if !std::mem::take(&mut first) && record.fields == columns {
            let mut from = 0;
            for (column, &end) in ends[..columns].iter().enumerate() {
                let field = &buffer[std::mem::replace(&mut from, end)..end];
                if !nulls.iter().any(|null| null == field) {
                    inference.see(column, field);
                }
            }
        }
    }
}
