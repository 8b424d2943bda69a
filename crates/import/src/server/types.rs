//! Types as a server declares them, and what their columns take without rounding or cutting.

use anyhow::{Result, ensure};

use crate::kind::Form;
use crate::table::Column;
use crate::value::Kind;

/// Types of PostgreSQL whose names alone say what they keep. No type of a user comes before them.
const PLAIN: [&str; 36] = [
    "bigint",
    "bool",
    "boolean",
    "bytea",
    "character varying",
    "cidr",
    "date",
    "decimal",
    "double precision",
    "float4",
    "float8",
    "inet",
    "int",
    "int2",
    "int4",
    "int8",
    "integer",
    "interval",
    "json",
    "jsonb",
    "macaddr",
    "numeric",
    "oid",
    "real",
    "smallint",
    "text",
    "time",
    "time with time zone",
    "time without time zone",
    "timestamp",
    "timestamp with time zone",
    "timestamp without time zone",
    "timestamptz",
    "timetz",
    "uuid",
    "varchar",
];

/// Types of MariaDB and MySQL that store a text as it is, or refuse it.
const AS_IS: [&str; 17] = [
    "blob",
    "geomcollection",
    "geometry",
    "geometrycollection",
    "inet4",
    "inet6",
    "linestring",
    "longblob",
    "mediumblob",
    "multilinestring",
    "multipoint",
    "multipolygon",
    "point",
    "polygon",
    "tinyblob",
    "uuid",
    "varbinary",
];

/// Words behind a type of MariaDB and MySQL that leave it the type that it is.
const ATTRIBUTES: [&str; 6] = ["auto_increment", "key", "not", "null", "primary", "unique"];

/// dyno's own types in the spelling of a server: the widest of each.
pub struct Spelling {
    /// True for PostgreSQL, false for MariaDB and MySQL.
    pub is_postgres: bool,
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
            _ => (declared, self.kind(declared)),
        };
        Ok(Column {
            name: name.to_owned(),
            declared: declared.to_owned(),
            kind,
            inferred: false,
            required: false,
            is_key: false,
        })
    }

    /// The kind of values that a column of a server's type takes.
    pub fn kind(&self, declared: &str) -> Kind {
        let lower = declared.to_ascii_lowercase();
        if let Some(element) = lower.strip_suffix("[]") {
            return several(self.kind(element));
        }
        let (lower, has_zone) = match lower.split_once(" with time zone") {
            Some((start, _)) => (start.to_owned(), true),
            None => (lower.replace(" without time zone", ""), false),
        };
        let (word, rest) = lower.split_at(lower.find('(').unwrap_or(lower.len()));
        let (numbers, after) =
            rest.strip_prefix('(').and_then(|rest| rest.split_once(')')).unwrap_or(("", ""));
        let numbers: Option<Vec<u32>> = match numbers {
            "" => Some(Vec::new()),
            some => some.split(',').map(|number| number.trim().parse().ok()).collect(),
        };
        let is_unsigned = after.contains("unsigned") || word.contains("unsigned");
        let word = word.trim_end_matches(" zerofill").trim_end_matches(" unsigned").trim();
        match (word, numbers) {
            ("enum" | "set", _) => words(declared, word),
            (word, Some(numbers)) => integers(word, is_unsigned)
                .or_else(|| self.time(word, &numbers, has_zone))
                .unwrap_or_else(|| self.other(word, &numbers)),
            // As numeric(3,-2), which rounds to hundreds.
            ("numeric" | "decimal", None) => Kind::Form(Form::Unknown),
            // As geometry(Point,4326).
            (_, None) => Kind::AsIs,
        }
    }

    /// The kind of values that a column of a type takes which the user names, if dyno knows the type without the server,
    /// which makes of some spellings another type than they say.
    pub fn known(&self, declared: &str) -> Option<Kind> {
        let lower = declared.to_ascii_lowercase();
        if self.is_postgres {
            let bare = lower.strip_suffix(" not null").unwrap_or(&lower);
            return PLAIN.contains(&bare).then(|| self.kind(bare));
        }
        let mut bare = lower.trim();
        while let Some((before, _)) = bare.rsplit_once(' ').filter(|(_, last)| ATTRIBUTES.contains(last)) {
            bare = before.trim_end();
        }
        let (word, rest) = bare.split_at(bare.find('(').unwrap_or(bare.len()));
        let after = rest.split_once(')').map_or("", |(_, after)| after);
        let is_whole = after.split_whitespace().all(|word| matches!(word, "unsigned" | "zerofill"));
        // MariaDB would call JSON a LONGTEXT, for which an empty field is a text.
        if bare.split([' ', '(']).next() == Some("json") || is_whole && AS_IS.contains(&word.trim_end()) {
            return Some(Kind::AsIs);
        }
        Some(self.kind(bare)).filter(|kind| is_whole && *kind != Kind::AsIs)
    }

    fn time(&self, word: &str, numbers: &[u32], has_zone: bool) -> Option<Kind> {
        let digits = numbers.first().copied().unwrap_or(if self.is_postgres { 6 } else { 0 });
        Some(Kind::Form(match word {
            "date" => Form::Date,
            "time" => Form::Time { digits, has_zone },
            "timetz" => Form::Time { digits, has_zone: true },
            "timestamp" | "datetime" => Form::Timestamp { digits, has_zone },
            "timestamptz" => Form::Timestamp { digits, has_zone: true },
            "interval" => Form::Interval { digits },
            word if word.starts_with("interval ") => Form::Unknown,
            "year" => return Some(Kind::Integer { min: 1901, max: 2155 }),
            _ => return None,
        }))
    }

    fn other(&self, word: &str, numbers: &[u32]) -> Kind {
        let fills = self.is_postgres;
        match (word, numbers) {
            ("double precision" | "double" | "float8", []) => Kind::Real,
            ("real" | "float4" | "float", []) => Kind::Real32,
            ("float", &[bits]) => {
                if bits > 24 {
                    Kind::Real
                } else {
                    Kind::Real32
                }
            }
            ("float" | "double" | "real", &[precision, scale]) => {
                Kind::Form(Form::Rounded { precision, scale, is_short: word == "float" })
            }
            ("numeric" | "decimal", []) if self.is_postgres => Kind::DECIMAL,
            ("numeric" | "decimal", []) => Kind::Decimal { precision: 10, scale: 0 },
            ("numeric" | "decimal", &[precision]) => Kind::Decimal { precision, scale: 0 },
            ("numeric" | "decimal", &[precision, scale]) => Kind::Decimal { precision, scale },
            ("text" | "longtext" | "mediumtext" | "tinytext", _) => Kind::TEXT,
            ("varchar" | "character varying", &[longest]) => Kind::Text { longest: Some(longest) },
            ("varchar" | "character varying", []) => Kind::TEXT,
            ("char" | "character", []) => Kind::Form(Form::Padded { length: 1, fills }),
            ("char" | "character", &[length]) => Kind::Form(Form::Padded { length, fills }),
            ("name", []) if self.is_postgres => Kind::Form(Form::Bytes { least: 0, most: 63 }),
            ("\"char\"", []) => Kind::Form(Form::Bytes { least: 0, most: 1 }),
            ("money", []) => Kind::Form(Form::Unknown),
            ("bit", _) if !self.is_postgres => Kind::Form(Form::Unknown),
            ("boolean" | "bool", []) if !self.is_postgres => Kind::Integer { min: -128, max: 127 },
            ("binary", []) => Kind::Form(Form::Bytes { least: 1, most: 1 }),
            ("binary", &[length]) => Kind::Form(Form::Bytes { least: length, most: length }),
            ("vector", _) => several(Kind::Real32),
            ("cube", []) if self.is_postgres => several(Kind::Real),
            ("seg" | "halfvec" | "sparsevec", _) if self.is_postgres => Kind::Form(Form::Unknown),
            ("point" | "line" | "lseg" | "box" | "path" | "polygon" | "circle", []) if self.is_postgres => {
                several(Kind::Real)
            }
            _ => Kind::AsIs,
        }
    }
}

/// The kind of whole numbers.
fn integers(word: &str, is_unsigned: bool) -> Option<Kind> {
    let bits = match word {
        "bigint" | "int8" => 64,
        "integer" | "int" | "int4" => 32,
        "mediumint" => 24,
        "smallint" | "int2" => 16,
        "tinyint" => 8,
        // PostgreSQL counts back from the greatest for a number below 0.
        "oid" | "xid" | "cid" => return Some(Kind::Integer { min: 0, max: u32::MAX.into() }),
        "xid8" => return Some(Kind::Integer { min: 0, max: i64::MAX }),
        _ => return None,
    };
    Some(match (is_unsigned, bits) {
        (false, 64) => Kind::INTEGER,
        (true, 64) => Kind::Integer { min: 0, max: i64::MAX },
        (false, _) => Kind::Integer { min: -(1 << (bits - 1)), max: (1 << (bits - 1)) - 1 },
        (true, _) => Kind::Integer { min: 0, max: (1 << bits) - 1 },
    })
}

/// An array or a range of a kind. Where the server keeps or refuses every element, it is asked.
pub fn several(kind: Kind) -> Kind {
    match kind {
        kind if keeps(kind) && kind != Kind::DECIMAL => Kind::AsIs,
        // There are as many as columns, and they are there as long as the program.
        kind => Kind::Form(Form::Several(Box::leak(Box::new(kind)))),
    }
}

/// A value of several kinds together, among which dyno does not look for the part that the server would change.
pub fn together(kinds: &[Kind]) -> Kind {
    if kinds.iter().copied().all(keeps) { Kind::AsIs } else { Kind::Form(Form::Unknown) }
}

/// True if the server itself keeps or refuses every value. It takes a number below 0 for another one where it keeps
/// none, and cuts spaces behind a text that is too long.
fn keeps(kind: Kind) -> bool {
    match kind {
        Kind::AsIs | Kind::TEXT | Kind::DECIMAL => true,
        Kind::Integer { min, .. } => min < 0,
        _ => false,
    }
}

/// The words of `enum('a','it''s')`.
fn words(declared: &str, word: &str) -> Kind {
    let mut words: Vec<String> = Vec::new();
    let mut rest = declared.split_once('(').map_or("", |(_, rest)| rest);
    while let Some(quoted) = rest.trim_start_matches([',', ' ']).strip_prefix('\'') {
        let Some((found, behind)) = quoted_word(quoted) else { return Kind::Form(Form::Unknown) };
        words.push(found);
        rest = behind;
    }
    // There are as many as columns, and they are there as long as the program.
    let words: &'static [String] = words.leak();
    Kind::Form(if word == "enum" { Form::OneOf(words) } else { Form::SomeOf(words) })
}

/// A word behind its first quote, and what is behind its last. A quote within it is doubled.
fn quoted_word(text: &str) -> Option<(String, &str)> {
    let mut word = String::new();
    let mut rest = text;
    loop {
        let (part, behind) = rest.split_once('\'')?;
        word += part;
        match behind.strip_prefix('\'') {
            Some(behind) => rest = behind,
            None => return Some((word, behind)),
        }
        word.push('\'');
    }
}

#[cfg(test)]
mod tests;
