//! The plan of an import, made before anything is changed: shape of the file, columns, statements.

mod columns;
mod load;
mod survey;

use std::collections::{HashMap, HashSet};
use std::io::BufRead;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

use anyhow::{Context, Result, anyhow, ensure};

use crate::error::{BadInput, Input as _};
use crate::guess::{self, Choice};
use crate::infer::Evidence;
use crate::input::{Format, Input};
use crate::json;
use crate::records::{Dialect, Records, Syntax};
use crate::request::{IfExists, OnConflict, Request};
use crate::shape::Shape;
use crate::source::{
    Opened, Packing, Sample, Source, Stamp, check_text, check_zeros, is_parquet, written_delimiter,
};
use crate::table::{Column, Merge, Table, list, names};
use crate::target::{Existing, Target};

use columns::stated;
pub use load::{Course, Merged, Report};

/// The number of rows in a preview.
const SHOWN_ROWS: usize = 3;

/// An import that is ready to go.
pub struct Plan {
    /// The user's request.
    pub request: Request,
    /// The format of the files.
    format: Format,
    /// The fields that come to the table.
    shape: Shape,
    /// The delimiter, and why that.
    pub delimiter: Choice<u8>,
    /// True if the files have a header, with the reason.
    pub header: Choice<bool>,
    /// The compression of the file.
    pub packing: Packing,
    /// The table.
    pub table: Table,
    /// The value that decided the type of each column that the file fills.
    pub evidence: Vec<Option<Evidence>>,
    /// The table's state before, and the action it requires.
    pub existing: Existing,
    /// The first rows of a text with delimiters, field by field as the table's columns take them.
    pub first: Vec<Vec<String>>,
    /// Further notes for the user, in sentences.
    pub notes: Vec<String>,
    /// Rows that the server refused in an attempt before: the lines on which they begin, with the reasons.
    refused: HashMap<u64, String>,
    /// True if rows are known not to come in the order of their key.
    is_unordered: bool,
    /// The files as they were before anything of them was read.
    stamps: Vec<Option<Stamp>>,
    /// The file from its beginning; None once it is read.
    opened: Option<Opened>,
    target: Box<dyn Target>,
}

impl Plan {
    /// Looks at the file and the target.
    ///
    /// # Errors
    /// The request cannot be met; nothing was changed.
    pub fn make(request: Request, mut target: Box<dyn Target>) -> Result<Plan> {
        let name = request.source.name();
        let stamps = request.sources().map(Source::stamp).collect();
        let opened = request.source.open(request.encoding)?;
        let is_json = request.delimiter.is_none() && json::is_lines(&opened.sample);
        if request.delimiter.is_none() && !is_json {
            check_text(&opened.sample, &name).input()?;
        }
        if request.encoding.is_none() {
            check_zeros(&opened.sample, &name).input()?;
        }
        let (sample, whole) = (&opened.sample, opened.whole);
        let ask = |question: String| BadInput(anyhow!("{name}: {question}"));
        let written = request.delimiter.is_none().then(|| written_delimiter(sample)).flatten();
        let skip = request.skip.max(u64::from(written.is_some()));
        let Request { quote, escape, comment, .. } = request;
        let syntax = Syntax { delimiter: b',', quote, escape, comment };
        let stated = is_parquet(sample).then(|| stated(&request.source)).transpose()?;
        let delimiter = match (request.delimiter, written) {
            (Some(delimiter), _) => Choice::new(delimiter, "as asked"),
            (_, Some(delimiter)) => Choice::new(delimiter, "the first line is sep="),
            _ if stated.is_some() => Choice::new(b',', "a Parquet file has none"),
            _ if is_json => Choice::new(b',', "JSON Lines have none"),
            _ => guess::delimiter(&request.source, sample, whole, syntax, skip).map_err(ask)?,
        };
        let syntax = Syntax { delimiter: delimiter.value, ..syntax };
        let records = match &stated {
            Some((names, _)) => vec![names.clone()],
            None if is_json => vec![keys(&request, sample, whole)?],
            None => guess::records(&name, sample, whole, syntax, skip)?,
        };
        let table = request.table.clone().or_else(|| request.source.stem());
        let table = table.context("standard input has no name: say --table NAME").input()?;
        let existing = target.existing(&table)?;
        let header = match request.header {
            _ if stated.is_some() => Choice::new(true, "a Parquet file names its columns"),
            _ if is_json => Choice::new(true, "each line names its fields"),
            Some(header) => Choice::new(header, "as asked"),
            None => header(&records, existing.as_deref().filter(|_| request.if_exists == IfExists::Append))
                .map_err(ask)?,
        };
        let mut table = Table {
            name: table,
            columns: Vec::new(),
            primary_key: request.primary_key.clone(),
            indexes: request.indexes.clone(),
            merge: None,
        };
        let disposition = disposition(&table.name, existing.is_some(), request.if_exists).input()?;
        let mut plan = Plan {
            format: Format {
                syntax,
                skip,
                has_header: header.value,
                encoding: request.encoding,
                is_json,
                names: Vec::new(),
                keys: Vec::new(),
                is_delimited: !is_json && !is_parquet(sample),
            },
            shape: Shape::default(),
            evidence: Vec::new(),
            delimiter,
            header,
            packing: opened.packing,
            existing: disposition,
            first: Vec::new(),
            notes: Vec::new(),
            refused: HashMap::new(),
            table: table.clone(),
            is_unordered: false,
            stamps,
            opened: None,
            target,
            request,
        };
        let named = plan.choose(&records).input()?;
        plan.first = plan.shown(&records);
        table.columns = match existing.filter(|_| disposition == Existing::Append) {
            Some(columns) => plan.matched(columns, &records, &named).input()?,
            None => {
                plan.new_columns(&records, named, stated.map(|(_, kinds)| kinds), sample, whole).input()?
            }
        };
        table.check_keys().input()?;
        table.merge = plan.merge(&table).input()?;
        let keys = table.primary_key.clone();
        for column in table.columns.iter_mut().filter(|column| keys.contains(&column.name)) {
            column.required = true;
        }
        check_names(&plan.request.nulls_of, &table).input()?;
        plan.target.declare(&mut table);
        plan.target.check(&table, disposition).input()?;
        if disposition == Existing::Replace {
            plan.notes = plan.target.losses(&table.name)?;
        }
        let must_insert = !is_parquet(sample) && plan.usual().is_none()
            || !plan.shape.is_plain()
            || !plan.request.nulls_of.is_empty();
        if must_insert || !table.primary_key.is_empty() && !plan.request.is_repeatable() {
            plan.target.never_build();
        }
        plan.table = table;
        plan.opened = Some(opened);
        Ok(plan)
    }

    /// The statements that will be executed, in order.
    pub fn statements(&self) -> Vec<String> {
        self.target.statements(&self.table, self.existing)
    }

    /// The target of the rows.
    pub(crate) fn target(&self) -> &dyn Target {
        &*self.target
    }

    /// The way in which rows are merged with those of the table.
    fn merge(&self, table: &Table) -> Result<Option<Merge>> {
        let Request { on_conflict, key, .. } = &self.request;
        let updates = *on_conflict == OnConflict::Update;
        if *on_conflict == OnConflict::Error {
            ensure!(key.is_empty(), "--key is for --on-conflict skip and update");
            return Ok(None);
        }
        ensure!(
            self.existing == Existing::Append,
            "--on-conflict is for rows that are added to a table: add --append"
        );
        let is_asked = |name: &str| key.iter().any(|key| key.eq_ignore_ascii_case(name));
        let is_key = |column: &&Column| if key.is_empty() { column.required } else { is_asked(&column.name) };
        let found: Vec<String> =
            table.columns.iter().filter(is_key).map(|column| column.name.clone()).collect();
        ensure!(
            !found.is_empty() && found.len() >= key.len(),
            "the file has not all columns of the key by which rows are merged: --key names the columns of a unique key; \
             the file has {}",
            list(&table.columns)
        );
        Ok(Some(Merge { key: found, updates }))
    }

    /// The dialect of the text, if the page writer's splitters support it.
    pub(crate) fn usual(&self) -> Option<Dialect> {
        let is_alone = self.request.more.is_empty() && !self.format.is_json && self.shape.is_plain();
        self.format.syntax.usual().filter(|_| is_alone)
    }

    /// Chooses the fields that come to the table, and the names of its columns.
    fn choose(&mut self, records: &[Vec<Vec<u8>>]) -> Result<Vec<String>> {
        let Some(first) = records.first() else { return Ok(Vec::new()) };
        self.format.keys = first.iter().map(|key| String::from_utf8_lossy(key).into_owned()).collect();
        self.format.names = names(self.header.value.then_some(first), first.len())?;
        let (shape, named) = Shape::new(&self.format.names, &self.request.choose)?;
        self.shape = shape;
        Ok(named)
    }

    /// The first rows among the first records, as the file writes them.
    fn shown(&self, records: &[Vec<Vec<u8>>]) -> Vec<Vec<String>> {
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

    /// The records of a text and of the files behind it.
    fn text_input(&self, text: Box<dyn BufRead + Send>, counted: Counted, rest: &[Source]) -> Result<Input> {
        let shape = (!self.shape.is_plain()).then(|| self.shape.clone());
        Input::new(self.format.clone(), shape, text, counted, &self.request.source, rest)
    }

    /// True if the files are text with delimiters.
    pub fn is_delimited(&self) -> bool {
        self.format.is_delimited
    }

    /// True if programs that read only the usual dialect can read the text.
    pub(crate) fn is_plain(&self) -> bool {
        self.usual().is_some() && self.format.skip == 0 && self.request.nulls_of.is_empty()
    }

    /// The records of a text behind what is skipped and the header.
    fn records(&self, text: Box<dyn BufRead + Send>) -> Result<Records> {
        let mut records = Records::new(text, self.format.syntax, self.request.source.name());
        records.skip(self.format.skip)?;
        if self.header.value {
            records.read(&mut vec![0; 4096], 0, &mut vec![0; 64])?;
        }
        Ok(records)
    }

    /// Spellings of NULL.
    fn nulls(&self) -> Nulls {
        let bytes = |text: &String| text.as_bytes().to_vec();
        let of = |column: &Column| {
            let own = self.request.nulls_of.iter();
            let own = own.filter(|(name, _)| name.eq_ignore_ascii_case(&column.name));
            own.map(|(_, text)| bytes(text)).collect()
        };
        Nulls {
            every: self.request.nulls.iter().map(bytes).collect(),
            each: self.table.columns.iter().map(of).collect(),
        }
    }
}

/// Bytes that were read of all files, and whether the rest is no longer wanted.
type Counted = (Arc<AtomicU64>, Arc<AtomicBool>);

/// The keys of all lines of all files, as far as they can be read twice.
fn keys(request: &Request, sample: &Sample, whole: bool) -> Result<Vec<Vec<u8>>> {
    let (mut keys, mut known): (Vec<String>, HashSet<String>) = Default::default();
    for (place, source) in request.sources().enumerate() {
        let is_seen = place == 0 && (whole || !source.is_repeatable());
        let text: Box<dyn BufRead + Send> = match is_seen {
            true => Box::new(sample.read()),
            false => source.open(request.encoding)?.text,
        };
        let found = json::Lines::new(text, source.name(), &[]).all_keys()?;
        keys.extend(found.into_iter().filter(|key| known.insert(key.clone())));
    }
    Ok(keys.into_iter().map(String::into_bytes).collect())
}

/// Spellings of NULL.
struct Nulls {
    /// In every column.
    every: Vec<Vec<u8>>,
    /// In each column alone, in the file's order.
    each: Vec<Vec<Vec<u8>>>,
}

impl Nulls {
    fn has(&self, column: usize, field: &[u8]) -> bool {
        let own = self.each.get(column);
        self.every.iter().chain(own.into_iter().flatten()).any(|null| null == field)
    }
}

/// Decides whether the first record names the columns; if the guess is open, by the columns of the existing table.
fn header(records: &[Vec<Vec<u8>>], existing: Option<&[Column]>) -> guess::Guess<bool> {
    let guess = guess::header(records);
    let (Err(question), Some(columns), Some(first)) = (&guess, existing, records.first()) else {
        return guess;
    };
    let names_one = |field: &&Vec<u8>| {
        columns.iter().any(|column| field.trim_ascii().eq_ignore_ascii_case(column.name.as_bytes()))
    };
    match first.iter().filter(names_one).count() {
        0 => Ok(Choice::new(false, "it holds no name of the table's columns")),
        count if count == first.len() => Ok(Choice::new(true, "it holds names of the table's columns")),
        _ => Err(question.clone()),
    }
}

fn check_names(nulls_of: &[(String, String)], table: &Table) -> Result<()> {
    let is_column = |name: &String| table.columns.iter().any(|column| column.name.eq_ignore_ascii_case(name));
    match nulls_of.iter().find(|(name, _)| !is_column(name)) {
        None => Ok(()),
        Some((name, _)) => {
            Err(anyhow!("--null-in names '{name}', which is no column; there are {}", list(&table.columns)))
        }
    }
}

fn disposition(table: &str, is_there: bool, if_exists: IfExists) -> Result<Existing> {
    match (is_there, if_exists) {
        (false, IfExists::Append) => Err(anyhow!(
            "there is no table {table} to which --append could add rows: --table names another, and without --append the table is made"
        )),
        (false, _) => Ok(Existing::Create),
        (true, IfExists::Append) => Ok(Existing::Append),
        (true, IfExists::Replace) => Ok(Existing::Replace),
        (true, IfExists::Fail) => Err(anyhow!(
            "there is a table {table} already: --append adds the rows to it, --replace puts a new one in its place, --table names another"
        )),
    }
}
