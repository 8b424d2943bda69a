//! Column types from values: the narrowest of INTEGER, REAL and TEXT that keeps every one of them.

use crate::digits;
use crate::value::{Kind, real};

/// Most bytes that are kept of a value that decided a type.
const SHOWN: usize = 40;

/// The values seen in each column.
#[derive(Debug, Clone, PartialEq)]
pub struct Inference {
    columns: Vec<Column>,
}

#[derive(Debug, Clone, PartialEq, Default)]
struct Column {
    seen: Seen,
    by: Option<Evidence>,
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
enum Seen {
    /// Nothing but empty fields.
    #[default]
    Nothing,
    Integer,
    Real,
    /// Integers that a double would round, so that no real may come to them.
    LongInteger,
    Text,
}

/// The first value that did not fit a narrower type.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// The line on which its record begins.
    pub line: u64,
    /// The file's name, where there are several.
    pub file: Option<String>,
    /// The value, or its beginning.
    pub value: String,
}

impl Inference {
    /// Nothing seen of this many columns.
    pub fn new(columns: usize) -> Inference {
        Inference { columns: vec![Column::default(); columns] }
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns.len()
    }

    /// Sees the fields of a record.
    pub fn see_all(&mut self, record: &[Vec<u8>]) {
        for (column, field) in record.iter().enumerate().take(self.columns.len()) {
            self.see(column, field);
        }
    }

    /// Sees a value that is not NULL.
    fn see(&mut self, column: usize, field: &[u8]) {
        self.see_within(column, field, 0, field.len(), 0);
    }

    /// Sees a value that is not NULL, where it lies in a text, of the record that begins on a line.
    #[inline]
    pub fn see_within(&mut self, column: usize, text: &[u8], from: usize, to: usize, line: u64) {
        let column = &mut self.columns[column];
        if from == to || column.seen == Seen::Text {
            return;
        }
        let field = &text[from..to];
        // A double holds every whole number up to 2⁵³; of larger ones only some.
        let is_double = |number: i64| number.unsigned_abs() <= 1 << 53 || real(field).is_some();
        let seen = match (column.seen, digits::integer(text, from, to)) {
            (Seen::Real, Some(number)) if is_double(number) => Seen::Real,
            (Seen::Nothing | Seen::Integer, Some(number)) if is_double(number) => Seen::Integer,
            (Seen::Nothing | Seen::Integer | Seen::LongInteger, Some(_)) => Seen::LongInteger,
            (Seen::Nothing | Seen::Integer | Seen::Real, None) if real(field).is_some() => Seen::Real,
            _ => Seen::Text,
        };
        if seen != column.seen {
            column.decide(seen, field, line);
        }
    }

    /// Sees a value that is a text whatever it looks like.
    pub fn see_text(&mut self, column: usize, field: &[u8], line: u64) {
        if self.columns[column].seen != Seen::Text {
            self.columns[column].decide(Seen::Text, field, line);
        }
    }

    /// Sees what another one has seen.
    pub fn join(&mut self, other: &Inference) {
        self.columns.iter_mut().zip(&other.columns).for_each(|(one, other)| one.join(other));
    }

    /// The value that decided each column's type.
    pub fn evidence(&self) -> Vec<Option<Evidence>> {
        self.columns.iter().map(|column| column.by.clone()).collect()
    }

    /// The types that fit all that was seen.
    pub fn kinds(&self) -> Vec<Kind> {
        let kind = |column: &Column| match column.seen {
            Seen::Integer | Seen::LongInteger => Kind::INTEGER,
            Seen::Real => Kind::Real,
            Seen::Text => Kind::TEXT,
            Seen::Nothing => Kind::Empty,
        };
        self.columns.iter().map(kind).collect()
    }
}

impl Column {
    #[cold]
    fn decide(&mut self, seen: Seen, field: &[u8], line: u64) {
        let value = String::from_utf8_lossy(&field[..field.len().min(SHOWN)]).into_owned();
        *self = Column { seen, by: Some(Evidence { line, file: None, value }) };
    }

    fn join(&mut self, other: &Column) {
        let seen = match (self.seen, other.seen) {
            (one, other) if one == other => one,
            (Seen::Nothing, seen) | (seen, Seen::Nothing) => seen,
            (Seen::Integer, seen @ (Seen::Real | Seen::LongInteger))
            | (seen @ (Seen::Real | Seen::LongInteger), Seen::Integer) => seen,
            _ => Seen::Text,
        };
        let line = |column: &Column| column.by.as_ref().map_or(u64::MAX, |by| by.line);
        let is_others = match (self.seen == seen, other.seen == seen) {
            (true, true) => line(other) < line(self),
            (is_own, _) => !is_own,
        };
        if is_others {
            self.by.clone_from(&other.by);
        }
        self.seen = seen;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn infer(fields: &[&str]) -> Kind {
        let mut inference = Inference::new(1);
        fields.iter().for_each(|field| inference.see(0, field.as_bytes()));
        inference.kinds()[0]
    }

    /// The same if each value is seen in a separate inference.
    fn join(fields: &[&str]) -> Kind {
        let mut all = Inference::new(1);
        for field in fields {
            let mut one = Inference::new(1);
            one.see(0, field.as_bytes());
            all.join(&one);
        }
        all.kinds()[0]
    }

    #[test]
    fn what_is_seen_apart_comes_to_the_same() {
        let values = ["", "1", "-7", "2.5", "9007199254740993", "9007199254740992", "007", "x"];
        for one in values {
            for other in values {
                for third in values {
                    let fields = [one, other, third];
                    assert_eq!(join(&fields), infer(&fields), "{fields:?}");
                }
            }
        }
    }

    #[test]
    fn the_narrowest_type_keeps_every_value() {
        assert_eq!(infer(&["1", "", "-2"]), Kind::INTEGER);
        assert_eq!(infer(&["1", "2.5"]), Kind::Real);
        assert_eq!(infer(&["2.5", "1"]), Kind::Real);
        assert_eq!(infer(&["1", "007"]), Kind::TEXT);
        assert_eq!(infer(&["9007199254740993"]), Kind::INTEGER);
        assert_eq!(infer(&["9007199254740993", "2.5"]), Kind::TEXT);
        assert_eq!(infer(&["2.5", "9007199254740993"]), Kind::TEXT);
        assert_eq!(infer(&["12345678901234567890"]), Kind::TEXT);
        assert_eq!(infer(&["", ""]), Kind::Empty);
        assert_eq!(infer(&["1", "1e3"]), Kind::Real);
    }
}
