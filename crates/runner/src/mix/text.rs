//! Statements whose values stand in their text, for servers whose simple protocol has no parameters.

use std::ffi::CStr;
use std::io::Write;

use anyhow::{Context, Result};
use dyno_protocol::MixValue;

use super::statements::Statement;
use super::{Value, Values};

/// A statement that is sent as text, values included.
#[derive(Debug)]
pub struct TextStatement {
    pieces: Vec<String>,
    parameters: Vec<MixValue>,
    /// The text of the last execution, whose memory the next one uses.
    sql: Vec<u8>,
}

impl TextStatement {
    /// The statement with its texts around its parameters.
    pub fn new(statement: &Statement) -> TextStatement {
        let Statement { pieces, parameters, .. } = statement;
        TextStatement { pieces: pieces.clone(), parameters: parameters.clone(), sql: Vec::new() }
    }

    /// The text with the values that its parameters have now. `text` and `blob` append a literal of the server's dialect.
    ///
    /// # Errors
    /// A value has no literal, or the text holds a NUL byte.
    #[inline]
    pub fn fill(
        &mut self,
        values: &Values,
        text: impl Fn(&[u8], &mut Vec<u8>) -> Result<()>,
        blob: impl Fn(&[u8], &mut Vec<u8>),
    ) -> Result<&CStr> {
        let TextStatement { pieces, parameters, sql } = self;
        sql.clear();
        sql.extend_from_slice(pieces.first().map_or(b"", |piece| piece.as_bytes()));
        for (&source, piece) in parameters.iter().zip(pieces.iter().skip(1)) {
            match values.get(source) {
                Value::Null => sql.extend_from_slice(b"NULL"),
                // Parentheses keep `-:n` from becoming a comment where n is negative.
                Value::Integer(number) if number < 0 => write!(sql, "({number})")?,
                Value::Integer(number) => write!(sql, "{number}")?,
                // With an exponent MariaDB and MySQL read a DOUBLE and not a DECIMAL.
                Value::Real(number) if number < 0.0 => write!(sql, "({number:e})")?,
                Value::Real(number) => write!(sql, "{number:e}")?,
                Value::Text(value) => text(value, sql)?,
                Value::Blob(value) => blob(value, sql),
            }
            sql.extend_from_slice(piece.as_bytes());
        }
        sql.push(0);
        CStr::from_bytes_with_nul(sql)
            .context("a value holds a NUL byte, which no statement can have in its text")
    }
}

#[cfg(test)]
mod tests {
    use dyno_protocol::{MixClass, MixWork, StepField, StepFile, StepKind};

    use super::super::Steps;
    use super::*;

    #[test]
    fn values_stand_in_the_text() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("steps");
        let numbers = [0, 0, 7_i64, -7];
        let mut bytes = numbers.map(i64::to_le_bytes).concat();
        bytes.extend((-0.25_f64).to_le_bytes());
        bytes.extend(b"it's");
        std::fs::write(&file, bytes).unwrap();
        let field = |kind, bytes| StepField { name: "f".into(), kind, bytes };
        let mix = MixWork {
            classes: vec![MixClass::default()],
            fields: vec![
                field(StepKind::Integer, 8),
                field(StepKind::Integer, 8),
                field(StepKind::Real, 8),
                field(StepKind::Text, 4),
            ],
            clients: 1,
            steps: vec![StepFile { file, count: 1 }],
            ..MixWork::default()
        };
        let steps = Steps::load(&mix).unwrap();
        let step = steps[0].get(0);
        let mut statement = TextStatement {
            pieces: ["SELECT ", ", -", ", ", ", ", ""].map(str::to_owned).to_vec(),
            parameters: (0..4).map(MixValue::Field).collect(),
            sql: Vec::new(),
        };
        for _ in 0..2 {
            let quoted = |text: &[u8], sql: &mut Vec<u8>| {
                sql.extend_from_slice(&[b"<", text, b">"].concat());
                Ok(())
            };
            let text = statement.fill(&Values::of(&step), quoted, |_, _| unreachable!());
            assert_eq!(text.unwrap(), c"SELECT 7, -(-7), (-2.5e-1), <it's>");
        }
    }
}
