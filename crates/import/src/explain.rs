//! Explains the choices and their reasons, with programs that do the same without dyno, from `templates/`.

use anyhow::{Context, Result};
use minijinja::{Environment, Value, context};

use crate::infer::Evidence;
use crate::plan::Plan;
use crate::source::Packing;
use crate::table::Column;
use crate::target::{Existing, Program};
use crate::value::Kind;

/// The text that comes before the programs.
const REASONS: (&str, &str) = ("reasons.txt", include_str!("../templates/reasons.txt.j2"));

impl Plan {
    /// The choices and their reasons, then the programs.
    pub fn explain(&self) -> Result<String> {
        let mut text = self.render(REASONS)?;
        if !self.is_plain() || self.table.merge.is_some() {
            return Ok(
                text + "\nPrograms are left out: they know neither several files, JSON, chosen columns, --skip, --comment, --escape, another --quote, --null-in nor --on-conflict.\n"
            );
        }
        if self.ends_lines() {
            return Ok(
                text + "\nPrograms are left out: a name holds a control character, which could end a line of theirs.\n"
            );
        }
        if !self.request.source.is_named_in_utf_8() || self.target().programs().is_empty() {
            return Ok(text + "\nPrograms are left out: a name of a file is not UTF-8, and they are.\n");
        }
        for (language, template) in self.target().programs() {
            text += &format!("\n\n--- {language} ---\n\n{}\n", self.render((language, template))?);
        }
        Ok(text)
    }

    /// True if a name or a text of the user may end a line of a program, and the rest of it be a command.
    fn ends_lines(&self) -> bool {
        let columns = self.table.columns.iter().map(|column| column.name.as_str());
        let nulls = self.request.nulls.iter().map(String::as_str);
        let (file, table) = (self.request.source.name(), self.table.name.as_str());
        columns.chain(nulls).chain([file.as_str(), table]).any(|name| name.contains(char::is_control))
    }

    /// The program of one language.
    pub fn program(&self, language: &str) -> Result<String> {
        let program = self.target().programs().iter().find(|(known, _)| *known == language);
        self.render(*program.with_context(|| format!("there is no program in {language}"))?)
    }

    fn render(&self, (name, template): Program) -> Result<String> {
        let mut templates = Environment::new();
        templates.add_filter("quote", quote);
        let literal = self.target().literal();
        templates.add_filter("sql", move |text: &str| literal(text));
        templates.add_filter("comment", comment);
        templates.add_filter("letter", |text: &str| quote(text).replace('"', "'"));
        templates.add_template(name, template)?;
        Ok(templates.get_template(name)?.render(self.context())?)
    }

    fn context(&self) -> Value {
        let (request, literal) = (&self.request, self.target().literal());
        let literals: Vec<String> = request.nulls.iter().map(|null| literal(null)).collect();
        let evidence = self.evidence.iter().map(Option::as_ref).chain(std::iter::repeat(None));
        let columns = self.table.columns.iter().zip(evidence);
        let columns: Vec<Value> =
            columns.map(|(column, evidence)| explained(column, evidence, &literals)).collect();
        let about = context! {
            file => request.source.name(),
            table => &self.table.name,
            delimiter => char::from(self.delimiter.value).to_string(),
            delimiter_why => &self.delimiter.why,
            header => self.header.value,
            header_why => &self.header.why,
            quotes => request.quote.is_some(),
            nulls => &request.nulls,
            columns,
            encoding => request.encoding.map_or("utf-8-sig", |encoding| encoding.name()),
            open => if self.packing == Packing::Gzip { "gzip.open" } else if self.packing == Packing::Zstd { "zstd.open" } else { "open" },
            packing => match self.packing {
                Packing::Plain => "plain",
                Packing::Gzip => "gzip",
                Packing::Zstd => "zstd",
            },
            existing => match self.existing {
                Existing::Create => "is new",
                Existing::Append => "exists; dyno adds the rows",
                Existing::Replace => "exists; dyno replaces it",
            },
            statements => self.statements(),
            reasons => self.target().reasons(&self.table, self.existing),
        };
        context! { ..about, ..self.target().context(&self.table, self.existing) }
    }
}

/// A column for templates.
fn explained(column: &Column, evidence: Option<&Evidence>, nulls: &[String]) -> Value {
    let (python, c) = match column.kind {
        Kind::Integer { .. } => ("integer", "INTEGER"),
        Kind::Real => ("real", "REAL"),
        _ => ("text", "TEXT"),
    };
    // An empty field of a number's column is NULL.
    let empty = column.kind.empty_is_null().then(|| "''".to_owned());
    let nulls: Vec<String> = empty.into_iter().chain(nulls.iter().cloned()).collect();
    let why = why(column, evidence);
    context! { name => &column.name, declared => &column.declared, why, python, c, nulls => nulls.join(", ") }
}

/// The reason for a column's type, with the value that decided it.
pub fn why(column: &Column, evidence: Option<&Evidence>) -> String {
    let Some(Evidence { line, file, value }) = evidence.filter(|_| column.inferred) else {
        return if column.inferred {
            "no value was seen"
        } else {
            "as --types, the table or a Parquet file states it"
        }
        .to_owned();
    };
    let (value, of_file) = (value.escape_debug(), file.as_ref().map(|file| format!(" of {}", comment(file))));
    let place = format!("line {line}{}", of_file.unwrap_or_default());
    match column.kind {
        Kind::Integer { .. } => format!("every value is a whole number, as \"{value}\" on {place}"),
        Kind::Real => format!("every value is a number; {place} has \"{value}\""),
        _ => format!("{place} has \"{value}\", which is a text, or a number that would print differently"),
    }
}

/// A text as it may stand in a comment of any of the languages: what ends a line or the comment would let the rest be
/// executed.
fn comment(text: &str) -> String {
    let text: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    text.replace("*/", "* /").replace("\"\"\"", "''")
}

/// A string as C, Python and the sqlite3 shell write it.
fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            letter if letter.is_ascii_control() => quoted += &format!("\\{:03o}", letter as u32),
            letter => quoted.push(letter),
        }
    }
    quoted + "\""
}
