//! The columns: what the file calls them, what the table that is there has, what the user says, and the types
//! that the values fit.

use anyhow::{Context, Result, bail, ensure};

use super::Plan;
use crate::infer::Inference;
use crate::source::{Sample, Source};
use crate::table::{Column, Types, list, names};
use crate::value::Kind;

impl Plan {
    /// The columns of a table that is there, in the order in which the file fills them.
    pub(super) fn matched(&self, columns: Vec<Column>, records: &[Vec<Vec<u8>>]) -> Result<Vec<Column>> {
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
    pub(super) fn new_columns(
        &mut self,
        records: &[Vec<Vec<u8>>],
        stated: Option<Vec<Kind>>,
        sample: &Sample,
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
        let kinds = match (stated, &self.request.types) {
            (Some(kinds), _) => kinds,
            // Nothing need be inferred, and each is replaced below.
            (None, Types::InOrder(_)) => vec![Kind::TEXT; first.len()],
            (None, _) => {
                let seen = self.inferred(first.len(), sample, whole)?;
                self.evidence = seen.evidence();
                seen.kinds()
            }
        };
        let found = named.iter().zip(kinds).map(|(name, kind)| Column {
            name: name.clone(),
            declared: String::new(),
            kind,
            inferred,
            required: false,
        });
        let mut columns: Vec<Column> = found.collect();
        match &self.request.types {
            Types::Inferred => {}
            Types::InOrder(types) => {
                ensure!(
                    types.len() == columns.len(),
                    "--types gives {} of the types of {} columns ({})",
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

    /// What the file's beginning shows of its columns.
    fn inferred(&self, columns: usize, sample: &Sample, whole: bool) -> Result<Inference> {
        match self.survey(Box::new(sample.read()), columns) {
            Ok(seen) => Ok(seen),
            // The sample ends where it ends, perhaps within quotes; what was seen until then counts.
            Err((seen, _)) if !whole => Ok(seen),
            Err((_, error)) => Err(error),
        }
    }
}

/// The columns that a Parquet file states, by name and kind.
#[cfg(feature = "parquet")]
pub(super) fn stated(source: &Source) -> Result<(Vec<Vec<u8>>, Vec<Kind>)> {
    Ok(crate::parquet::File::open(source)?.columns())
}

/// No file states its columns: one that would was refused.
#[cfg(not(feature = "parquet"))]
pub(super) fn stated(_: &Source) -> Result<(Vec<Vec<u8>>, Vec<Kind>)> {
    bail!("this dyno was built without Parquet")
}
