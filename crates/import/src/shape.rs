//! The fields of a record that come to the table, with their order and conversions.

use std::collections::HashSet;

use anyhow::{Result, bail, ensure};

use crate::records::Record;
use crate::rewrite::Rewrite;
use crate::syntax::Flaw;

/// Columns that are chosen, as the command line says it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Choose {
    /// Names in the file and in the table; all columns if empty.
    pub columns: Vec<(String, String)>,
    /// Names in the file of those that are left out.
    pub skipped: Vec<String>,
    /// The name of the column that the file's name comes to.
    pub file_column: Option<String>,
}

/// The fields that come to the table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Shape {
    /// Fields of a record.
    width: usize,
    picks: Vec<Pick>,
    /// Spellings of NULL for each pick. They are found before a field is written in another form, which may look like
    /// one: the `no` of a BOOLEAN becomes 0.
    nulls: Vec<Vec<Vec<u8>>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Pick {
    Field(usize, Rewrite),
    /// The name of the file.
    File,
}

impl Shape {
    /// The shape of records with these fields, and the names of the columns that it fills.
    ///
    /// # Errors
    /// A name belongs to no field, or no field is left.
    pub fn new(fields: &[String], choose: &Choose) -> Result<(Shape, Vec<String>)> {
        let find = |name: &str| -> Result<usize> {
            let place = fields.iter().position(|field| field.eq_ignore_ascii_case(name));
            ensure!(place.is_some(), "the file has no column '{name}'; it has {}", fields.join(", "));
            Ok(place.unwrap_or_default())
        };
        let skipped = choose.skipped.iter().map(|name| find(name)).collect::<Result<HashSet<usize>>>()?;
        let all = || fields.iter().cloned().enumerate().collect();
        let chosen: Vec<(usize, String)> = match choose.columns.is_empty() {
            true => all(),
            false => {
                let pick = |(from, to): &(String, String)| Ok((find(from)?, to.clone()));
                choose.columns.iter().map(pick).collect::<Result<_>>()?
            }
        };
        let chosen: Vec<(usize, String)> =
            chosen.into_iter().filter(|(field, _)| !skipped.contains(field)).collect();
        ensure!(!chosen.is_empty(), "no column is left; the file has {}", fields.join(", "));
        let mut picks: Vec<Pick> =
            chosen.iter().map(|(field, _)| Pick::Field(*field, Rewrite::None)).collect();
        let mut names: Vec<String> = chosen.into_iter().map(|(_, name)| name).collect();
        if let Some(name) = &choose.file_column {
            picks.push(Pick::File);
            names.push(name.clone());
        }
        let mut seen = HashSet::new();
        if let Some(name) = names.iter().find(|name| !seen.insert(name.to_ascii_lowercase())) {
            bail!("two columns would be called '{name}'");
        }
        Ok((Shape { width: fields.len(), picks, nulls: Vec::new() }, names))
    }

    /// True if all fields come to the table unchanged and in their order.
    pub fn is_plain(&self) -> bool {
        let in_order = |(place, pick): (usize, &Pick)| *pick == Pick::Field(place, Rewrite::None);
        self.picks.len() == self.width && self.picks.iter().enumerate().all(in_order)
    }

    /// Has the fields of a column be rewritten.
    pub fn rewrite(&mut self, column: usize, rewrite: Rewrite) {
        if let Some(Pick::Field(_, own)) = self.picks.get_mut(column) {
            *own = rewrite;
        }
    }

    /// The same with the spellings of NULL for each column.
    pub fn with_nulls(&self, nulls: impl Iterator<Item = Vec<Vec<u8>>>) -> Shape {
        Shape { nulls: nulls.collect(), ..self.clone() }
    }

    /// True if the texts of a column have decimal commas.
    pub fn has_commas(&self, column: usize) -> bool {
        matches!(self.picks.get(column), Some(Pick::Field(_, Rewrite::Comma)))
    }

    /// True if the fields of a column come to it in another form.
    pub fn rewrites(&self, column: usize) -> bool {
        matches!(self.picks.get(column), Some(Pick::Field(_, rewrite)) if *rewrite != Rewrite::None)
    }

    /// The numbers of the file's fields that fill the columns; None for the file's name.
    pub fn fields(&self) -> impl Iterator<Item = Option<usize>> + '_ {
        self.picks.iter().map(|pick| match pick {
            Pick::Field(field, _) => Some(*field),
            Pick::File => None,
        })
    }

    /// The error message for a field that does not have the form that its column wants.
    pub fn wants(&self, column: usize) -> String {
        match self.picks.get(column) {
            Some(Pick::Field(_, rewrite)) => rewrite.wants(),
            _ => String::new(),
        }
    }

    /// Brings the fields of a record into the order of the table's columns. New texts are put behind the record's, and
    /// columns whose field is NULL are marked. Of JSON, the strings are marked: its numbers have no decimal comma, whatever
    /// the strings of the column have.
    pub fn apply(
        &self,
        text: &mut Vec<u8>,
        start: usize,
        record: &mut Record,
        (fields, is_null): (&mut Vec<(u32, u32)>, &mut [bool]),
        (strings, file): (Option<&[bool]>, &str),
    ) {
        if fields.len() != self.width {
            record.flaw =
                record.flaw.or(Flaw::Width { found: fields.len() as u32, wanted: self.width as u32 });
            return;
        }
        let mut picked = Vec::with_capacity(self.picks.len());
        for (column, pick) in self.picks.iter().enumerate() {
            match pick {
                Pick::Field(field, Rewrite::None) => picked.push(fields[*field]),
                Pick::Field(field, rewrite) => {
                    let (from, to) = fields[*field];
                    let own = &text[start + from as usize..start + to as usize];
                    if self.nulls.get(column).is_some_and(|nulls| nulls.iter().any(|null| null == own)) {
                        is_null[column] = true;
                        picked.push((from, to));
                        continue;
                    }
                    let is_number = strings.is_some_and(|strings| !strings[column]);
                    if is_number && *rewrite == Rewrite::Comma {
                        picked.push((from, to));
                        continue;
                    }
                    match rewrite.apply(own) {
                        Some(written) => picked.push(put(text, start, record, &written)),
                        None => {
                            record.flaw = record.flaw.or(Flaw::Form { column: column as u32 });
                            picked.push((from, to));
                        }
                    }
                }
                Pick::File => picked.push(put(text, start, record, file.as_bytes())),
            }
        }
        *fields = picked;
    }
}

/// Puts a text behind a record's, and gives its place.
fn put(text: &mut Vec<u8>, start: usize, record: &mut Record, more: &[u8]) -> (u32, u32) {
    let from = start + record.length;
    if text.len() < from + more.len() {
        text.resize((from + more.len()).max(text.len() * 2), 0);
    }
    text[from..from + more.len()].copy_from_slice(more);
    let place = (record.length as u32, (record.length + more.len()) as u32);
    record.length += more.len();
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_chosen_renamed_and_left_out() {
        let fields = ["id", "name", "size"].map(str::to_owned);
        let pair = |from: &str, to: &str| (from.to_owned(), to.to_owned());
        let choose = |columns: Vec<(String, String)>, skipped: &[&str]| Choose {
            columns,
            skipped: skipped.iter().map(|name| (*name).to_owned()).collect(),
            file_column: None,
        };
        let names = |choose: &Choose| Shape::new(&fields, choose).map(|(_, names)| names.join(","));
        assert_eq!(names(&choose(vec![pair("size", "area"), pair("ID", "id")], &[])).unwrap(), "area,id");
        assert_eq!(names(&choose(vec![], &["Name"])).unwrap(), "id,size");
        let with_file = Choose { file_column: Some("file".into()), ..Choose::default() };
        assert_eq!(names(&with_file).unwrap(), "id,name,size,file");
        for (wrong, said) in [
            (choose(vec![pair("x", "x")], &[]), "no column 'x'; it has id, name, size"),
            (choose(vec![], &["id", "name", "size"]), "no column is left"),
            (choose(vec![pair("id", "a"), pair("size", "A")], &[]), "two columns would be called 'A'"),
        ] {
            assert!(names(&wrong).unwrap_err().to_string().contains(said));
        }
        assert!(Shape::new(&fields, &Choose::default()).unwrap().0.is_plain());
    }
}
