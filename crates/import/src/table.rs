//! The table into which rows are loaded: its columns, their types, its keys and indexes.

use std::collections::{HashMap, HashSet};

use anyhow::{Result, bail, ensure};

use crate::value::Kind;

/// A column of the table that the file fills.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The type as the engine spells it.
    pub declared: String,
    /// The kind of its values.
    pub kind: Kind,
    /// True if the type was inferred from the file's beginning.
    pub inferred: bool,
    /// True if it needs a value in every row, as a column of the primary key does.
    pub required: bool,
    /// True if it is part of the primary key of a table that is there.
    pub is_key: bool,
}

/// The table.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// The columns that the file fills, in its order.
    pub columns: Vec<Column>,
    /// The columns of the primary key.
    pub primary_key: Vec<String>,
    /// Indexes to make after the load, each of some columns.
    pub indexes: Vec<Vec<String>>,
    /// The way in which rows whose key is in the table already are merged with it.
    pub merge: Option<Merge>,
}

/// The way in which rows are merged with those of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merge {
    /// The columns of the key.
    pub key: Vec<String>,
    /// True if the table's row gets the values of the file's; else it stays as it is.
    pub updates: bool,
}

impl Table {
    /// Replaces each name in the keys by the column's own spelling.
    ///
    /// # Errors
    /// No column has a name.
    pub fn resolve_keys(&mut self) -> Result<()> {
        let columns = &self.columns;
        for name in self.primary_key.iter_mut().chain(self.indexes.iter_mut().flatten()) {
            match named_column(columns, name) {
                Some(column) => *name = column.name.clone(),
                None => bail!(
                    "the table has no column '{name}', which --primary-key or --index names; it has {}",
                    list(columns)
                ),
            }
        }
        Ok(())
    }

    /// The columns that a merge overwrites: all but those of its key, or none where the row of the table stays.
    pub fn updated(&self) -> Vec<&str> {
        let Some(merge) = self.merge.as_ref().filter(|merge| merge.updates) else { return Vec::new() };
        let names = self.columns.iter().map(|column| column.name.as_str());
        names.filter(|name| !merge.key.iter().any(|key| key == name)).collect()
    }

    /// True if a row of the table gets the values of a row of the file that has its key.
    pub fn updates(&self) -> bool {
        self.merge.as_ref().is_some_and(|merge| merge.updates)
    }

    /// True if a column is part of the primary key or an index.
    pub fn is_indexed(&self, name: &str) -> bool {
        self.primary_key.iter().chain(self.indexes.iter().flatten()).any(|key| key == name)
    }
}

/// Types as the command line gives them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Types {
    /// All are inferred.
    #[default]
    Inferred,
    /// One for each column, in order.
    InOrder(Vec<String>),
    /// Some by the columns' names; the others are inferred.
    Named(Vec<(String, String)>),
}

impl Types {
    /// Reads `INTEGER,TEXT` or `name:TYPE,name:TYPE`.
    pub fn parse(text: &str) -> Result<Types> {
        let parts = split(text);
        ensure!(
            parts.iter().all(|part| !part.trim().is_empty()),
            "'{text}' leaves a type out: write one between any two commas"
        );
        let named: Vec<(String, String)> = parts
            .iter()
            .filter_map(|part| {
                // A colon within the parentheses of a type, as in DATE(DD:MM:YYYY), separates nothing.
                let end = part.rfind('(').filter(|_| part.trim_end().ends_with(')')).unwrap_or(part.len());
                let mark = part[..end].rfind(':')?;
                Some((&part[..mark], &part[mark + 1..]))
            })
            .map(|(name, kind)| (name.trim().to_owned(), kind.trim().to_owned()))
            .collect();
        let is_whole = named.iter().all(|(name, kind)| !name.is_empty() && !kind.is_empty());
        ensure!(is_whole, "'{text}' leaves a column or its type out: write column:TYPE");
        match named.len() {
            0 => Ok(Types::InOrder(parts.iter().map(|part| part.trim().to_owned()).collect())),
            count if count == parts.len() => Ok(Types::Named(named)),
            _ => bail!(
                "'{text}' mixes TYPE and column:TYPE: write all in one way; a comma always separates columns"
            ),
        }
    }
}

/// Cuts at commas that are not within parentheses, as in DECIMAL(8,2).
fn split(text: &str) -> Vec<&str> {
    let mut depth = 0;
    text.split(|letter| {
        depth += i32::from(letter == '(') - i32::from(letter == ')');
        letter == ',' && depth == 0
    })
    .collect()
}

/// Unique names for columns. The first column with a name in the header keeps it; a column whose name is missing or taken
/// gets one that the header does not contain.
pub fn names(header: Option<&[Vec<u8>]>, columns: usize) -> Result<Vec<String>> {
    let given = |column: usize| header.and_then(|header| header.get(column)).map_or(&b""[..], Vec::as_slice);
    let given: Vec<String> = (0..columns).map(|column| given_name(given(column))).collect::<Result<_>>()?;
    let mut taken: HashSet<String> = given.iter().map(|name| name.to_ascii_lowercase()).collect();
    let (mut seen, mut numbers) = (HashSet::new(), HashMap::new());
    let named = given.into_iter().zip(1..).map(|(given, column)| {
        if !given.is_empty() && seen.insert(given.to_ascii_lowercase()) {
            return given;
        }
        let wanted = if given.is_empty() { format!("c{column}") } else { given };
        let lower = wanted.to_ascii_lowercase();
        if taken.insert(lower.clone()) {
            return wanted;
        }
        // A name once taken stays taken, so the search continues from the last number.
        let number = numbers.entry(lower.clone()).or_insert(2u64);
        while !taken.insert(format!("{lower}_{number}")) {
            *number += 1;
        }
        format!("{wanted}_{number}")
    });
    Ok(named.collect())
}

/// A name as a field of the header gives it; empty where it gives none.
pub fn given_name(field: &[u8]) -> Result<String> {
    let Ok(given) = std::str::from_utf8(field) else {
        bail!("the header is not UTF-8; --encoding names another encoding")
    };
    Ok(given.trim().replace('\0', ""))
}

/// The column of a name; if none has just that, one that differs only in case.
pub fn named_column<'c>(columns: &'c [Column], name: &str) -> Option<&'c Column> {
    let exact = columns.iter().find(|column| column.name == name);
    exact.or_else(|| columns.iter().find(|column| column.name.eq_ignore_ascii_case(name)))
}

/// The columns' names for a message.
pub fn list(columns: &[Column]) -> String {
    columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_in_order_or_named() {
        assert_eq!(
            Types::parse("INTEGER, TEXT").unwrap(),
            Types::InOrder(vec!["INTEGER".into(), "TEXT".into()])
        );
        let named = vec![("a b".to_owned(), "decimal(8,2)".to_owned()), ("c".to_owned(), "TEXT".to_owned())];
        assert_eq!(Types::parse("a b:decimal(8,2),c:TEXT").unwrap(), Types::Named(named));
        let named = vec![("d".to_owned(), "DATE(DD:MM:YYYY)".to_owned())];
        assert_eq!(Types::parse("d:DATE(DD:MM:YYYY)").unwrap(), Types::Named(named));
        assert_eq!(
            Types::parse("DATE(DD:MM:YYYY)").unwrap(),
            Types::InOrder(vec!["DATE(DD:MM:YYYY)".into()])
        );
        assert!(Types::parse("a:TEXT,INTEGER").is_err());
        assert!(Types::parse("TEXT,").is_err());
    }

    #[test]
    fn columns_have_names_that_differ() {
        let header: Vec<Vec<u8>> = ["a", "", "A", "c2"].map(|name| name.as_bytes().to_vec()).to_vec();
        assert_eq!(names(Some(&header), 5).unwrap(), ["a", "c2_2", "A_2", "c2", "c5"]);
        let header: Vec<Vec<u8>> = ["a", "a", "A_2", "a"].map(|name| name.as_bytes().to_vec()).to_vec();
        assert_eq!(names(Some(&header), 4).unwrap(), ["a", "a_3", "A_2", "a_4"]);
        let header = vec![b"a".to_vec(); 100_000];
        assert_eq!(names(Some(&header), 100_000).unwrap()[99_999], "a_100000");
        assert_eq!(names(None, 2).unwrap(), ["c1", "c2"]);
    }
}
