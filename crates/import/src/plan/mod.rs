//! What an import will do, decided before anything is changed: shape of the file, columns, statements.

mod columns;
mod load;
mod survey;

use std::collections::HashMap;
use std::io::BufRead;

use anyhow::{Context, Result, anyhow};

use crate::error::{BadInput, Input};
use crate::guess::{self, Choice};
use crate::infer::Evidence;
use crate::records::{Dialect, Records, Syntax};
use crate::request::{IfExists, Request};
use crate::source::{Opened, Packing, Stamp, check_text, check_zeros, is_parquet, written_delimiter};
use crate::table::{Column, Table};
use crate::target::{Existing, Target};

use columns::stated;
pub use load::{Course, Report};

/// An import that is ready to go.
pub struct Plan {
    /// What was asked.
    pub request: Request,
    /// How the file is written.
    syntax: Syntax,
    /// Lines before the first record, or the header.
    skip: u64,
    /// The delimiter, and why that.
    pub delimiter: Choice<u8>,
    /// Whether there is a header, and why.
    pub header: Choice<bool>,
    /// How the file is packed.
    pub packing: Packing,
    /// The table.
    pub table: Table,
    /// The value that decided the type of each column that the file fills.
    pub evidence: Vec<Option<Evidence>>,
    /// How it comes to be.
    pub existing: Existing,
    /// What else the user should know, in sentences.
    pub notes: Vec<String>,
    /// Rows that the server refused in an attempt before: the lines on which they begin, with the reasons.
    refused: HashMap<u64, String>,
    /// Whether rows are known not to come in the order of their key.
    is_unordered: bool,
    /// The file as it was before anything of it was read.
    stamp: Option<Stamp>,
    /// The file from its beginning; none once it is read.
    opened: Option<Opened>,
    target: Box<dyn Target>,
}

impl Plan {
    /// Looks at the file and the target.
    ///
    /// # Errors
    /// What was asked cannot be done; nothing was changed.
    pub fn make(request: Request, mut target: Box<dyn Target>) -> Result<Plan> {
        let name = request.source.name();
        let stamp = request.source.stamp();
        let opened = request.source.open(request.encoding)?;
        if request.delimiter.is_none() {
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
            _ => guess::delimiter(&request.source, sample, whole, syntax, skip).map_err(ask)?,
        };
        let syntax = Syntax { delimiter: delimiter.value, ..syntax };
        let records = match &stated {
            Some((names, _)) => vec![names.clone()],
            None => guess::records(&name, sample, whole, syntax, skip)?,
        };
        let table = request.table.clone().or_else(|| request.source.stem());
        let table = table.context("standard input has no name: say --table NAME").input()?;
        let existing = target.existing(&table)?;
        let header = match request.header {
            _ if stated.is_some() => Choice::new(true, "a Parquet file names its columns"),
            Some(header) => Choice::new(header, "as asked"),
            None => header(&records, existing.as_deref().filter(|_| request.if_exists == IfExists::Append))
                .map_err(ask)?,
        };
        let mut table = Table {
            name: table,
            columns: Vec::new(),
            primary_key: request.primary_key.clone(),
            indexes: request.indexes.clone(),
        };
        let disposition = disposition(&table.name, existing.is_some(), request.if_exists).input()?;
        let mut plan = Plan {
            syntax,
            skip,
            evidence: Vec::new(),
            delimiter,
            header,
            packing: opened.packing,
            existing: disposition,
            notes: Vec::new(),
            refused: HashMap::new(),
            table: table.clone(),
            is_unordered: false,
            stamp,
            opened: None,
            target,
            request,
        };
        table.columns = match existing.filter(|_| disposition == Existing::Append) {
            Some(columns) => plan.matched(columns, &records).input()?,
            None => plan.new_columns(&records, stated.map(|(_, kinds)| kinds), sample, whole).input()?,
        };
        table.check_keys().input()?;
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
        let must_insert = plan.usual().is_none() || !plan.request.nulls_of.is_empty();
        if must_insert || !table.primary_key.is_empty() && !plan.request.source.is_repeatable() {
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

    /// Where the rows go.
    pub(crate) fn target(&self) -> &dyn Target {
        &*self.target
    }

    /// How the text is written, where the page writer's splitters know that way.
    pub(crate) fn usual(&self) -> Option<Dialect> {
        self.syntax.usual()
    }

    /// Whether programs that know the usual way can read the text.
    pub(crate) fn is_plain(&self) -> bool {
        self.usual().is_some() && self.skip == 0 && self.request.nulls_of.is_empty()
    }

    /// The records of a text behind what is skipped and the header.
    fn records(&self, text: Box<dyn BufRead + Send>) -> Result<Records> {
        let mut records = Records::new(text, self.syntax, self.request.source.name());
        records.skip(self.skip)?;
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

/// Whether the first record names the columns; of the table that rows are added to, where there is one.
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
        Some((name, _)) => Err(anyhow!(
            "--null-in names '{name}', which is no column; there are {}",
            crate::table::list(&table.columns)
        )),
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
