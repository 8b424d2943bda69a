//! Names in a header that differ only in case: a table has one column of them, and dyno gives the others further names.

use std::collections::{HashMap, HashSet};

use anyhow::{Result, ensure};

use super::Plan;
use crate::table::{Column, Types, given_name};

/// A field whose column has another name than the header gives it, while a name that differs from that one only in case is
/// another column's.
struct Renamed {
    given: String,
    column: String,
    other: String,
}

impl Plan {
    /// Refuses options and tables that could mean either of two fields whose names differ only in case.
    pub(super) fn check_cases(&self, named: &[String], existing: Option<&[Column]>) -> Result<()> {
        let renamed = self.renamed()?;
        // After --columns, options name the columns by the names that they have then.
        let of_table = self.of_table().filter(|name| !named.contains(name));
        for name in self.of_file().chain(of_table) {
            let meant = renamed.iter().find(|renamed| renamed.given == *name);
            if let Some(Renamed { given, column, other }) = meant {
                anyhow::bail!(
                    "the file has the columns {other} and {given}, which differ only in case, so {given} is called \
                     {column} here: name {column} or {other}"
                );
            }
        }
        let Some(columns) = existing else { return Ok(()) };
        let named: HashSet<&String> = named.iter().collect();
        for Renamed { given, column, other } in &renamed {
            for name in [column, other].into_iter().filter(|name| named.contains(name)) {
                let is_exact = columns.iter().any(|own| own.name == *name);
                ensure!(
                    is_exact,
                    "the file has the columns {other} and {given}, which differ only in case, and the table {} has no \
                     column '{name}': --columns {other}=…,{column}=… says which of its columns each fills",
                    self.table.name
                );
            }
        }
        Ok(())
    }

    fn renamed(&self) -> Result<Vec<Renamed>> {
        let mut found = Vec::new();
        if !self.header.value {
            return Ok(found);
        }
        let names = &self.format.names;
        let known: HashSet<&String> = names.iter().collect();
        let mut first: HashMap<String, &String> = HashMap::new();
        for name in names {
            first.entry(name.to_ascii_lowercase()).or_insert(name);
        }
        for (key, column) in self.format.keys.iter().zip(names) {
            let given = given_name(key.as_bytes())?;
            if given == *column || known.contains(&given) {
                continue;
            }
            if let Some(&other) = first.get(&given.to_ascii_lowercase()) {
                found.push(Renamed { other: other.clone(), given, column: column.clone() });
            }
        }
        Ok(found)
    }

    /// The names of the file's columns in options, as the user wrote them.
    fn of_file(&self) -> impl Iterator<Item = &String> {
        let choose = &self.request.choose;
        choose.columns.iter().map(|(from, _)| from).chain(&choose.skipped)
    }

    /// The names of the table's columns in options, as the user wrote them.
    fn of_table(&self) -> impl Iterator<Item = &String> {
        let request = &self.request;
        let types = match &request.types {
            Types::Named(types) => types.as_slice(),
            _ => &[],
        };
        let types = types.iter().map(|(name, _)| name);
        types
            .chain(request.nulls_of.iter().map(|(name, _)| name))
            .chain(request.primary_key.iter().chain(request.indexes.iter().flatten()).chain(&request.key))
    }
}
