//! The columns: their names in the file, the columns of an existing table, the user's wishes, and the types that the
//! values fit.

use std::io::Read;

use anyhow::{Context, Result, bail, ensure};
use memchr::memchr2_iter;

use super::Plan;
use super::beginning::Beginning;
use crate::infer::{Evidence, Inference};
use crate::input::file_and_line;
use crate::rewrite::Rewrite;
use crate::source::{Sample, Source};
use crate::table::{Column, Types, list, named_column};
use crate::value::Kind;

impl Plan {
    /// The columns of an existing table, in the order in which the file fills them.
    pub(super) fn matched(
        &mut self,
        columns: Vec<Column>,
        records: &[Vec<Vec<u8>>],
        named: &[String],
    ) -> Result<Vec<Column>> {
        let found = self.matching(columns, records, named)?;
        self.rewrite_only(&found)?;
        Ok(found)
    }

    /// Has fields be rewritten where --types says no more than that: the table has its types.
    fn rewrite_only(&mut self, columns: &[Column]) -> Result<()> {
        let table = self.table.name.clone();
        let types = match &self.request.types {
            Types::Inferred => return Ok(()),
            Types::Named(types) => types.clone(),
            Types::InOrder(_) => bail!("the table {table} is there and has its types: leave --types out"),
        };
        for (name, declared) in types {
            let rewrite = Rewrite::of(&declared, self.target.is_typed())?.1;
            ensure!(
                rewrite != Rewrite::None,
                "the table {table} is there and has its types: --types may only say how {name} is written, as in \
                 {name}:DATE(DD.MM.YYYY)"
            );
            self.shape.rewrite(place(columns, &name)?, rewrite);
        }
        Ok(())
    }

    fn matching(
        &self,
        columns: Vec<Column>,
        records: &[Vec<Vec<u8>>],
        named: &[String],
    ) -> Result<Vec<Column>> {
        let table = &self.table.name;
        ensure!(
            self.request.primary_key.is_empty(),
            "the table {table} is there and has its key: leave --primary-key out"
        );
        let Some(first) = records.first() else { return Ok(columns) };
        if !self.header.value && self.shape.is_plain() {
            ensure!(
                first.len() == columns.len(),
                "{} has {} fields and the table {table} {} columns ({}): a header would name them",
                self.request.source.name(),
                first.len(),
                columns.len(),
                list(&columns)
            );
            return Ok(columns);
        }
        let find = |name: &String| {
            named_column(&columns, name).cloned().with_context(|| {
                let name_list = list(&columns);
                format!(
                    "the table {table} has no column '{name}' that a file fills, and the header names it; there are \
                     {name_list}: --skip-columns leaves columns of the file out, --columns {name}=OTHER renames one"
                )
            })
        };
        named.iter().map(find).collect()
    }

    /// The columns of a table that is to be made.
    pub(super) fn new_columns(&mut self, named: Vec<String>, beginning: &Beginning) -> Result<Vec<Column>> {
        let (records, sample, whole) = (&beginning.records, &beginning.opened.sample, beginning.opened.whole);
        let stated = beginning.stated.as_ref().map(|(_, kinds)| kinds);
        let Some(first) = records.first() else { return self.no_record(beginning) };
        let named = match (&self.request.types, self.header.value) {
            // Without a header, names given for all columns are the columns' names, unless they are names that the columns
            // have already.
            (Types::Named(types), false)
                if types.len() == first.len() && self.shape.is_plain() && !names_any(types, &named) =>
            {
                types.iter().map(|(name, _)| name.clone()).collect()
            }
            _ => named,
        };
        let inferred = stated.is_none();
        let of = |name: &String| Column {
            name: name.clone(),
            declared: String::new(),
            kind: Kind::Empty,
            inferred,
            required: false,
            is_key: false,
        };
        // The spellings of NULL in a column are found by the column's name.
        self.table.columns = named.iter().map(of).collect();
        let kinds: Vec<Kind> = match (stated, &self.request.types) {
            (Some(kinds), _) => {
                let kind = |field: Option<usize>| field.map_or(Kind::TEXT, |field| kinds[field]);
                self.shape.fields().map(kind).collect()
            }
            // Nothing need be inferred, and each is replaced below.
            (None, Types::InOrder(_)) => vec![Kind::TEXT; named.len()],
            (None, _) => {
                let seen = self.inferred(named.len(), sample, whole)?;
                self.evidence = self.placed(seen.evidence());
                seen.kinds()
            }
        };
        let mut columns = self.table.columns.clone();
        for (column, kind) in columns.iter_mut().zip(kinds) {
            column.kind = kind;
        }
        for (column, field) in columns.iter_mut().zip(self.shape.fields()) {
            if field.is_none() {
                // The file's name is a text, whatever it looks like.
                (column.kind, column.inferred) = (Kind::TEXT, false);
            }
        }
        self.set_types(&mut columns)?;
        Ok(columns)
    }

    /// The error of a file in whose beginning there is no record.
    fn no_record<T>(&self, Beginning { opened, .. }: &Beginning) -> Result<T> {
        let name = self.request.source.name();
        ensure!(
            opened.whole,
            "{name}: the first record is longer than the {} MiB at the beginning that are looked at: {}",
            opened.sample.len() >> 20,
            match self.request.source.is_repeatable() {
                true => "more --memory looks at more",
                false => "import a file, of which more is looked at",
            }
        );
        let place = if self.request.skip > 0 { " behind the lines that --skip leaves out" } else { "" };
        bail!("{name} is empty{place}: there is nothing to make a table of")
    }

    /// Gives columns the types that the user names.
    fn set_types(&mut self, columns: &mut [Column]) -> Result<()> {
        match self.request.types.clone() {
            Types::Inferred => {}
            Types::InOrder(types) => {
                ensure!(
                    types.len() == columns.len(),
                    "--types gives {} of the types of {} columns ({})",
                    types.len(),
                    columns.len(),
                    list(columns)
                );
                for (place, declared) in types.iter().enumerate() {
                    columns[place] = self.typed(place, &columns[place].name, declared)?;
                }
            }
            Types::Named(types) => {
                for (name, declared) in types {
                    let place = place(columns, &name)?;
                    columns[place] = self.typed(place, &columns[place].name, &declared)?;
                }
            }
        }
        Ok(())
    }

    /// A column of a type that the user names, which may also say how its fields are written.
    fn typed(&mut self, place: usize, name: &str, declared: &str) -> Result<Column> {
        let (declared, rewrite) = Rewrite::of(declared, self.target.is_typed())?;
        self.shape.rewrite(place, rewrite);
        self.target.column(name, &declared)
    }

    /// The values that decided the columns' types, each with the name of its file if there are several.
    pub(super) fn placed(&self, evidence: Vec<Option<Evidence>>) -> Vec<Option<Evidence>> {
        let has_several = !self.request.more.is_empty();
        let placed = |found: Evidence| {
            let (file, line) = file_and_line(found.line);
            let file = self.request.sources().nth(file).filter(|_| has_several).map(Source::name);
            Evidence { line, file, ..found }
        };
        evidence.into_iter().map(|found| found.map(placed)).collect()
    }

    /// The types that the file's beginning shows for its columns.
    fn inferred(&self, columns: usize, sample: &Sample, whole: bool) -> Result<Inference> {
        // The sample may end within a value, which would be another one.
        let end = match whole {
            true => sample.len(),
            false => memchr2_iter(b'\n', b'\r', sample).next_back().map_or(0, |end| end + 1),
        };
        match self.survey(Box::new(sample.read().take(end as u64)), &[], columns, &()) {
            Ok(seen) => Ok(seen),
            // The sample ends where it ends, perhaps within quotes; what was seen until then counts.
            Err((seen, _)) if !whole => Ok(seen),
            Err((_, error)) => Err(error),
        }
    }
}

/// True if types are given for one of these columns by its name.
fn names_any(types: &[(String, String)], columns: &[String]) -> bool {
    types.iter().any(|(name, _)| columns.iter().any(|column| column.eq_ignore_ascii_case(name)))
}

/// The place of a column that --types names.
fn place(columns: &[Column], name: &str) -> Result<usize> {
    let exact = columns.iter().position(|column| column.name == name);
    let place = exact.or_else(|| columns.iter().position(|column| column.name.eq_ignore_ascii_case(name)));
    place.with_context(|| format!("--types names '{name}', which is no column; there are {}", list(columns)))
}
