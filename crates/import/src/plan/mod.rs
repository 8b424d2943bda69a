//! What an import will do, decided before anything is changed: shape of the file, columns, statements.

mod columns;
mod load;
mod survey;

use anyhow::{Context, Result, anyhow};

use crate::error::Input;
use crate::guess::{self, Choice};
use crate::records::Dialect;
use crate::request::{IfExists, Request};
use crate::source::{Opened, Packing, Stamp, check_text, is_parquet};
use crate::table::Table;
use crate::target::{Existing, Target};

use columns::stated;
pub use load::{Course, Report};

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
        plan.target.declare(&mut table);
        plan.target.check(&table, disposition).input()?;
        if !table.primary_key.is_empty() && !plan.request.source.is_repeatable() {
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

    /// Spellings of NULL as bytes.
    fn nulls(&self) -> Vec<Vec<u8>> {
        self.request.nulls.iter().map(|null| null.as_bytes().to_vec()).collect()
    }
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
