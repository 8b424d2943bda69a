//! A record's fields as values of their columns, or what is wrong with them.

use anyhow::Result;

use crate::error::BadRow;
use crate::split::Fields;
use crate::value::{Kind, Value, read};

/// The properties of a column that the parser needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    /// Its name, for messages.
    pub name: String,
    /// The kind of its values.
    pub kind: Kind,
    /// True if a value that does not fit only shows that the type was inferred from too few values.
    pub inferred: bool,
    /// True if it needs a value in every row.
    pub required: bool,
    /// Spellings of NULL in this column alone.
    pub nulls: Vec<Vec<u8>>,
}

/// A value contradicts an inferred type.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct TypeMismatch(pub BadRow);

/// The rules by which every record is checked and converted.
pub struct Converter {
    /// The columns, in the file's order.
    pub columns: Vec<Wanted>,
    /// Spellings of NULL.
    pub nulls: Vec<Vec<u8>>,
    /// True if the records are those of a text, which may be in another encoding.
    pub is_text: bool,
}

/// An error in a record: the column to blame, if it is one column, and the reason.
pub type BadField = (Option<usize>, String);

impl Converter {
    /// Gives each field's value and its place. `is_utf8` says that the whole text is known to be UTF-8, `is_null`
    /// which fields are NULL whatever their text.
    #[inline]
    pub fn convert(
        &self,
        text: &[u8],
        fields: &Fields,
        is_utf8: bool,
        is_null: &[bool],
        mut value: impl FnMut(Value, (u32, u32)),
    ) -> Result<(), BadField> {
        if fields.len() != self.columns.len() {
            return Err(self.not_as_many(fields.len()));
        }
        for (column, (wanted, &(from, to))) in self.columns.iter().zip(fields).enumerate() {
            let field = &text[from as usize..to as usize];
            let is_null = is_null.get(column) == Some(&true)
                || !self.nulls.is_empty() && self.nulls.iter().any(|null| null == field)
                || !wanted.nulls.is_empty() && wanted.nulls.iter().any(|null| null == field);
            let found = if is_null {
                Value::Null
            } else {
                read(wanted.kind, field).map_err(|reason| (Some(column), reason))?
            };
            if wanted.required && found == Value::Null {
                return Err((Some(column), "is no value, and the column needs one".into()));
            }
            if !is_utf8 && std::str::from_utf8(field).is_err() {
                return Err(self.not_utf8(column));
            }
            value(found, (from, to));
        }
        Ok(())
    }

    /// A record that has not as many fields as there are columns.
    #[cold]
    pub fn not_as_many(&self, fields: usize) -> BadField {
        let plural = if fields == 1 { "" } else { "s" };
        (None, format!("has {fields} field{plural}, not {}", self.columns.len()))
    }

    /// A field of this column that is not UTF-8.
    #[cold]
    pub fn not_utf8(&self, column: usize) -> BadField {
        let advice = if self.is_text { "; --encoding names another encoding" } else { "" };
        (Some(column), format!("is not UTF-8{advice}"))
    }

    /// The row that is wrong, or the contradiction that it is to a type that was only inferred. A row with a field that is
    /// not UTF-8 is rejected in any case, and so contradicts nothing.
    #[cold]
    pub fn bad(
        &self,
        line: u64,
        fields: &[&[u8]],
        (column, reason): BadField,
    ) -> Result<BadRow, TypeMismatch> {
        let contradicts = |column: usize| {
            let wanted = &self.columns[column];
            wanted.inferred && read(wanted.kind, fields[column]).is_err()
        };
        let is_contradiction = column.is_some_and(contradicts);
        let no_text = fields.iter().position(|field| std::str::from_utf8(field).is_err());
        let no_text = no_text.filter(|_| is_contradiction);
        let (column, reason) = no_text.map_or((column, reason), |column| self.not_utf8(column));
        let text = match column {
            Some(column) => fields[column].to_vec(),
            None => fields.join(&b", "[..]),
        };
        let name = column.map(|column| self.columns[column].name.clone());
        let bad = BadRow { line, column: name, reason, text };
        if is_contradiction && no_text.is_none() { Err(TypeMismatch(bad)) } else { Ok(bad) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_encoding_is_advised_for_texts_alone() {
        let said = |is_text| {
            let kind = Kind::TEXT;
            let column =
                Wanted { name: "a".into(), kind, inferred: false, required: false, nulls: Vec::new() };
            let converter = Converter { columns: vec![column], nulls: Vec::new(), is_text };
            converter.convert(b"\xff", &[(0, 1)], false, &[], |_, _| ()).unwrap_err()
        };
        assert_eq!(said(true), (Some(0), "is not UTF-8; --encoding names another encoding".to_owned()));
        assert_eq!(said(false), (Some(0), "is not UTF-8".to_owned()));
    }
}
