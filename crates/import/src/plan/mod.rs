//! The plan of an import, made before anything is changed: shape of the file, columns, statements.

mod beginning;
mod cases;
mod columns;
mod course;
mod later;
mod load;
mod nulls;
mod pages;
mod reading;
mod report;
mod rows;
mod survey;

use std::collections::HashMap;

use anyhow::{Context, Result, anyhow, ensure};

use crate::error::Input as _;
use crate::guess::Choice;
use crate::infer::Evidence;
use crate::input::Format;
use crate::request::{IfExists, OnConflict, Request};
use crate::shape::Shape;
use crate::source::{Opened, Packing, Stamp};
use crate::syntax::longest;
use crate::table::{Column, Merge, Table, list, named_column};
use crate::target::{Existing, Target};
use crate::value::Kind;

use beginning::Beginning;
pub use report::{Course, Merged, Report};

/// An import that is ready to go.
pub struct Plan {
    /// The user's request.
    pub request: Request,
    /// The format of the files.
    format: Format,
    /// Lines before the first record of the first file, or its header.
    lines_before: u64,
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
    /// Rows that the server refused in an attempt before: the numbers of their records, with the reasons.
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
        check_names_of_files(&request).input()?;
        let beginning = Beginning::of(&request)?;
        if beginning.is_delimited() {
            beginning.check_first(&request).input()?;
            later::check_texts(&request)?;
        }
        let name = request.table.clone().or_else(|| request.source.stem());
        let unnamed = || format!("{} gives the table no name: say --table NAME", request.source.name());
        let name = name.with_context(unnamed).input()?;
        let existing = target.existing(&name)?;
        let added_to = existing.as_deref().filter(|_| request.if_exists == IfExists::Append);
        let header = beginning.header(&request, added_to)?;
        let disposition = disposition(&name, existing.is_some(), request.if_exists).input()?;
        let mut plan = Plan::begun(request, target, name, disposition, header, &beginning);
        if !plan.header.value && plan.request.header.is_none() && beginning.is_delimited() {
            beginning.check_later_headers(&plan.request, added_to)?;
        }
        let existing = existing.filter(|_| disposition == Existing::Append);
        plan.find_columns(existing, &beginning)?;
        plan.check(&beginning)?;
        plan.opened = Some(beginning.opened);
        Ok(plan)
    }

    /// A plan whose columns are still to be found.
    fn begun(
        request: Request,
        target: Box<dyn Target>,
        name: String,
        existing: Existing,
        header: Choice<bool>,
        beginning: &Beginning,
    ) -> Plan {
        let format = Format {
            syntax: beginning.syntax,
            skip: request.skip,
            has_header: header.value,
            encoding: request.encoding,
            is_json: beginning.is_json,
            longest: longest(request.memory),
            names: Vec::new(),
            keys: Vec::new(),
            is_delimited: beginning.is_delimited(),
        };
        let table = Table {
            name,
            columns: Vec::new(),
            primary_key: request.primary_key.clone(),
            indexes: request.indexes.clone(),
            merge: None,
        };
        Plan {
            format,
            lines_before: beginning.skip,
            shape: Shape::default(),
            evidence: Vec::new(),
            delimiter: beginning.delimiter.clone(),
            header,
            packing: beginning.opened.packing,
            existing,
            first: Vec::new(),
            notes: Vec::new(),
            refused: HashMap::new(),
            table,
            is_unordered: false,
            stamps: beginning.stamps.clone(),
            opened: None,
            target,
            request,
        }
    }

    /// Finds the columns: those of an existing table, or new ones.
    fn find_columns(&mut self, existing: Option<Vec<Column>>, beginning: &Beginning) -> Result<()> {
        let records = &beginning.records;
        let named = self.choose(records).input()?;
        check_width(&self.table.name, named.len(), self.target.most_columns()).input()?;
        self.check_cases(&named, existing.as_deref()).input()?;
        self.first = self.shown(records);
        let mut table = self.table.clone();
        table.columns = match existing {
            Some(columns) => self.matched(columns, records, &named).input()?,
            None => self.new_columns(named, beginning).input()?,
        };
        table.resolve_keys().input()?;
        table.merge = self.merge(&table).input()?;
        let keys = table.primary_key.clone();
        for column in table.columns.iter_mut().filter(|column| keys.contains(&column.name)) {
            column.required = true;
        }
        self.target.declare(&mut table);
        self.table = table;
        Ok(())
    }

    /// Refuses what the target cannot do, and chooses the way of the rows.
    fn check(&mut self, beginning: &Beginning) -> Result<()> {
        check_names(&self.request.nulls_of, &self.table).input()?;
        check_commas(&self.shape, beginning).input()?;
        self.target.check(&self.table, self.existing).input()?;
        if self.existing == Existing::Replace {
            self.notes = self.target.losses(&self.table)?;
        }
        let must_insert = beginning.stated.is_none() && self.usual().is_none()
            || !self.shape.is_plain()
            || !self.request.nulls_of.is_empty();
        if must_insert || !self.table.primary_key.is_empty() && !self.request.is_repeatable() {
            self.target.never_build();
        }
        Ok(())
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
        let asked: Vec<&Column> = key.iter().filter_map(|key| named_column(&table.columns, key)).collect();
        let is_asked = |name: &str| asked.iter().any(|column| column.name == name);
        let is_key = |column: &&Column| if key.is_empty() { column.is_key } else { is_asked(&column.name) };
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

/// Refuses more columns than a table has, before any work for each of them.
fn check_width(table: &str, columns: usize, most: usize) -> Result<()> {
    ensure!(
        columns <= most,
        "too many columns on {table}: the file has {columns} for it, and the database takes {most} at most. --columns names \
         those that are wanted"
    );
    Ok(())
}

/// Refuses decimal commas for numbers that a file holds as numbers: it writes none of them.
fn check_commas(shape: &Shape, beginning: &Beginning) -> Result<()> {
    let Some((names, kinds)) = &beginning.stated else { return Ok(()) };
    for (column, field) in shape.fields().enumerate() {
        let Some(field) = field.filter(|_| shape.has_commas(column)) else { continue };
        let name = String::from_utf8_lossy(&names[field]);
        ensure!(
            kinds[field] == Kind::TEXT,
            "the file holds numbers in {name}, without a comma: leave REAL(,) out"
        );
    }
    Ok(())
}

/// Refuses a column of names that are no texts: a text that stands for two names would lose what distinguishes their rows.
fn check_names_of_files(request: &Request) -> Result<()> {
    let Some(column) = &request.choose.file_column else { return Ok(()) };
    let unnamed = request.sources().find(|source| !source.is_named_in_utf_8());
    match unnamed {
        None => Ok(()),
        Some(source) => Err(anyhow!(
            "the name {} is not UTF-8, so the column '{column}' of --file-column cannot hold it: rename the file",
            source.name()
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
