//! Types as a server declares them, and what their columns take without rounding or cutting.

use anyhow::{Result, ensure};

use crate::table::Column;
use crate::value::Kind;

/// dyno's own types in the spelling of a server: the widest of each.
pub struct Spelling {
    /// Of INTEGER.
    pub integer: &'static str,
    /// Of REAL.
    pub real: &'static str,
    /// Of TEXT.
    pub text: &'static str,
}

impl Spelling {
    /// The spelling of what was inferred.
    pub fn of(&self, kind: Kind) -> &'static str {
        match kind {
            Kind::Integer { .. } => self.integer,
            Kind::Real => self.real,
            _ => self.text,
        }
    }

    /// A column of a type that the user names: one of dyno's types, or any of the server's.
    pub fn column(&self, name: &str, declared: &str) -> Result<Column> {
        let fits = |letter: char| letter.is_ascii_alphanumeric() || "_ (),".contains(letter);
        ensure!(declared.chars().all(fits), "'{declared}' is not the name of a type");
        let (declared, kind) = match declared.to_ascii_uppercase().as_str() {
            "INTEGER" => (self.integer, Kind::INTEGER),
            "REAL" => (self.real, Kind::Real),
            "TEXT" => (self.text, Kind::TEXT),
            _ => (declared, kind(declared)),
        };
        Ok(Column {
            name: name.to_owned(),
            declared: declared.to_owned(),
            kind,
            inferred: false,
            required: false,
        })
    }
}

/// The kind of values that a column of a server's type takes.
pub fn kind(declared: &str) -> Kind {
    let declared = declared.to_ascii_lowercase();
    let (word, rest) = declared.split_at(declared.find('(').unwrap_or(declared.len()));
    let (numbers, after) = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')).unwrap_or(("", ""));
    let numbers: Vec<u32> = numbers.split(',').filter_map(|number| number.trim().parse().ok()).collect();
    let is_unsigned = after.contains("unsigned") || word.contains("unsigned");
    let word = word.trim_end_matches(" unsigned").trim();
    let integer = |bits: u32| match (is_unsigned, bits) {
        (false, 64) => Kind::INTEGER,
        (true, 64) => Kind::Integer { min: 0, max: i64::MAX },
        (false, _) => Kind::Integer { min: -(1 << (bits - 1)), max: (1 << (bits - 1)) - 1 },
        (true, _) => Kind::Integer { min: 0, max: (1 << bits) - 1 },
    };
    match (word, numbers.as_slice()) {
        ("bigint" | "int8", _) => integer(64),
        ("integer" | "int" | "int4", _) => integer(32),
        ("mediumint", _) => integer(24),
        ("smallint" | "int2", _) => integer(16),
        ("tinyint", _) => integer(8),
        ("double precision" | "double" | "float8", []) => Kind::Real,
        ("real" | "float4" | "float", []) => Kind::Real32,
        ("numeric" | "decimal", &[precision]) => Kind::Decimal { precision, scale: 0 },
        ("numeric" | "decimal", &[precision, scale]) => Kind::Decimal { precision, scale },
        ("text" | "longtext", _) => Kind::TEXT,
        ("varchar" | "character varying" | "char" | "character", &[longest]) => {
            Kind::Text { longest: Some(longest) }
        }
        ("varchar" | "character varying", []) => Kind::TEXT,
        ("mediumtext" | "tinytext", _) => Kind::TEXT,
        _ => Kind::AsIs,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_take_what_they_keep() {
        assert_eq!(kind("bigint(20)"), Kind::INTEGER);
        assert_eq!(kind("int(10) unsigned"), Kind::Integer { min: 0, max: u32::MAX.into() });
        assert_eq!(kind("smallint"), Kind::Integer { min: -32768, max: 32767 });
        assert_eq!(kind("numeric(8,2)"), Kind::Decimal { precision: 8, scale: 2 });
        assert_eq!(kind("character varying(20)"), Kind::Text { longest: Some(20) });
        assert_eq!(kind("double precision"), Kind::Real);
        assert_eq!(kind("timestamp without time zone"), Kind::AsIs);
    }
}
