//! The ways to write delimited text: delimiters, quotes, the limits of a record, and what makes one doubtful.

use anyhow::{Result, bail, ensure};

/// Longest record, bytes: more is what an unclosed quote swallows. Less memory holds only shorter ones.
pub const LONGEST: usize = 128 << 20;

/// The longest record that fits `memory` bytes: together with its text, the text behind it, its values and its pages.
pub fn longest(memory: usize) -> usize {
    (memory / 4).clamp(1 << 20, LONGEST)
}

/// Most fields of a record: more than any database has columns.
pub const MOST_FIELDS: usize = 1 << 20;

/// The usual dialect of such text: fields may be in double quotes, of which two within a field are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dialect {
    /// Between fields.
    pub delimiter: u8,
    /// True if a field may be quoted.
    pub quotes: bool,
}

/// Any way to write such text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Syntax {
    /// Between fields.
    pub delimiter: u8,
    /// Opens and closes a field.
    pub quote: Option<u8>,
    /// Within quotes, makes a quote behind it a letter. If not given, quotes are doubled, and a record in which a
    /// backslash may mean the same is refused.
    pub escape: Option<u8>,
    /// Begins a line that is no record.
    pub comment: Option<u8>,
}

impl Syntax {
    /// Refuses a character in two roles, for the text could be read in two ways. A quote may be escaped by a quote.
    pub fn check_roles(self) -> Result<()> {
        let roles = [
            ("--delimiter", Some(self.delimiter)),
            ("--comment", self.comment),
            ("--quote", self.quote),
            ("--escape", self.escape.filter(|escape| Some(*escape) != self.quote)),
        ];
        for (place, (role, byte)) in roles.iter().enumerate() {
            let other = roles[..place].iter().find(|(_, other)| byte.is_some() && other == byte);
            ensure!(
                other.is_none(),
                "one character, '{}', cannot be both {} and {role}: name another for one of them",
                byte.unwrap_or_default().escape_ascii(),
                other.map_or("", |(other, _)| other)
            );
        }
        Ok(())
    }

    /// The same for the page writer's splitters; None if they do not support it.
    pub fn usual(self) -> Option<Dialect> {
        let is_doubled = self.escape.is_none() && matches!(self.quote, None | Some(b'"'));
        let quotes = self.quote.is_some();
        (is_doubled && self.comment.is_none()).then_some(Dialect { delimiter: self.delimiter, quotes })
    }
}

impl From<Dialect> for Syntax {
    fn from(usual: Dialect) -> Syntax {
        let quote = usual.quotes.then_some(b'"');
        Syntax { delimiter: usual.delimiter, quote, escape: None, comment: None }
    }
}

/// A flaw that makes a record's text doubtful, so that it is a bad row whatever it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Flaw {
    /// Nothing.
    #[default]
    None,
    /// Text follows a closing quote.
    Behind,
    /// A field ends in a backslash and a quote, and a later one in a quote that nothing opened.
    Backslash,
    /// No quote closes the last field, which goes to the end of the file.
    Unclosed,
    /// It has another number of fields than the header.
    Width {
        /// Its fields.
        found: u32,
        /// Those of the header.
        wanted: u32,
    },
    /// A field is not written as its column says.
    Form {
        /// The column.
        column: u32,
    },
    /// A line is no object of JSON.
    Json,
    /// An object has a key that names no column.
    Key,
    /// An object has a key twice.
    KeyTwice,
}

impl Flaw {
    /// The flaw as the reason of a bad row.
    #[cold]
    pub fn reason(self) -> String {
        match self {
            Flaw::Width { found, wanted } => {
                let plural = if found == 1 { "" } else { "s" };
                return format!("has {found} field{plural}, not {wanted}");
            }
            Flaw::Form { .. } => "is not written as its column says",
            Flaw::Json => "is no object of JSON",
            Flaw::Key => "has a key that no line had when the columns were looked for",
            Flaw::KeyTwice => "has a key twice, and the table takes one value",
            Flaw::None => "is whole",
            Flaw::Behind => {
                "has text behind a closing quote. --escape names the character that precedes a quote within a \
                 field, --quote another quote, and --no-quotes takes quotes as ordinary letters"
            }
            Flaw::Backslash => {
                "has a backslash before a closing quote, and later a quote that nothing opened. If the backslash makes \
                 the quote a letter, say --escape '\\'; if quotes within fields are doubled, say --escape '\"'"
            }
            Flaw::Unclosed => {
                "has a quote that is never closed. Where quotes are ordinary letters, say --no-quotes"
            }
        }
        .to_owned()
    }

    /// The first of two.
    pub fn or(self, other: Flaw) -> Flaw {
        if self == Flaw::None { other } else { self }
    }
}

/// A record that is longer than `longest` bytes.
pub fn too_long<T>(line: u64, name: &str, longest: usize) -> Result<T> {
    let more = if longest < LONGEST { "; more --memory holds longer ones" } else { "" };
    bail!(
        "{name}:{line}: the record that begins here is longer than {} MiB{more}; perhaps a quote is never closed. Where quotes are ordinary letters, say --no-quotes",
        longest >> 20
    )
}

/// Refuses a record of more than [`MOST_FIELDS`] fields: memory for more is not available, whatever the file.
#[cold]
pub fn too_many_fields<T>(line: u64, name: &str) -> Result<T> {
    bail!("{name}:{line}: the record that begins here has more than {MOST_FIELDS} fields")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_has_one_role() {
        let usual = Syntax { delimiter: b',', quote: Some(b'"'), escape: None, comment: Some(b'#') };
        usual.check_roles().unwrap();
        Syntax { escape: Some(b'"'), ..usual }.check_roles().unwrap();
        for (wrong, said) in [
            (Syntax { quote: Some(b','), ..usual }, "',', cannot be both --delimiter and --quote"),
            (Syntax { comment: Some(b','), ..usual }, "both --delimiter and --comment"),
            (Syntax { escape: Some(b','), ..usual }, "both --delimiter and --escape"),
            (Syntax { comment: Some(b'"'), ..usual }, "both --comment and --quote"),
            (Syntax { escape: Some(b'#'), ..usual }, "both --comment and --escape"),
        ] {
            let error = wrong.check_roles().unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
