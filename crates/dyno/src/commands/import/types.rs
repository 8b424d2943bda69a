//! The types of columns that the command line or a file states.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use dyno_import::{Types, escaped};

use super::twice;
use crate::cli::ImportArgs;

/// The longest file of types, in bytes: what is longer is another file.
const LONGEST: u64 = 4 << 20;

/// The types that the command line or a file states.
pub fn types(arguments: &ImportArgs) -> Result<Types> {
    let types = match &arguments.schema {
        Some(path) => schema(path)?,
        None => arguments.types.as_deref().map(Types::parse).transpose()?.unwrap_or_default(),
    };
    if let Types::Named(named) = &types {
        let names: Vec<String> = named.iter().map(|(name, _)| name.clone()).collect();
        twice(&names).map_or(Ok(()), |name| bail!("the column '{name}' is given a type twice"))?;
    }
    Ok(types)
}

/// The types that a file states.
fn schema(path: &Path) -> Result<Types> {
    let mut text = String::new();
    // Also of a pipe, as a shell's `<(…)` makes: dyno does not listen for signals yet, so one ends the wait.
    let read = File::open(path).and_then(|file| file.take(LONGEST + 1).read_to_string(&mut text));
    read.with_context(|| format!("cannot read {}", escaped(path)))?;
    ensure!(
        text.len() as u64 <= LONGEST,
        "{} is longer than {} MiB, and no list of columns is",
        escaped(path),
        LONGEST >> 20
    );
    // Some editors begin a text with the mark of UTF-8.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let lines = text.lines().zip(1..).map(|(line, number)| (line.trim().trim_end_matches(','), number));
    let column = |(line, number): (&str, usize)| {
        let (name, declared) = named_type(line).with_context(|| {
            format!(
                "{}:{number}: write a column and its type, as id INTEGER or \"order date\" TEXT",
                escaped(path)
            )
        })?;
        Ok((name, declared.to_owned()))
    };
    let columns = lines.filter(|(line, _)| !line.is_empty() && !line.starts_with('#')).map(column);
    let columns = columns.collect::<Result<Vec<_>>>()?;
    ensure!(!columns.is_empty(), "{} names no column", escaped(path));
    Ok(Types::Named(columns))
}

/// The name of a column, which may stand in quotes, and its type.
fn named_type(line: &str) -> Option<(String, &str)> {
    let (name, declared) = match line.strip_prefix('"') {
        Some(rest) => quoted(rest)?,
        None => {
            let (name, declared) = line.split_once(char::is_whitespace)?;
            (name.to_owned(), declared)
        }
    };
    let declared = declared.trim();
    (!name.is_empty() && !declared.is_empty()).then_some((name, declared))
}

/// The text up to the closing quote, and what is behind it. Two quotes are one letter of the text.
fn quoted(mut rest: &str) -> Option<(String, &str)> {
    let mut name = String::new();
    loop {
        let (part, behind) = rest.split_once('"')?;
        name += part;
        match behind.strip_prefix('"') {
            Some(more) => {
                name.push('"');
                rest = more;
            }
            None => return Some((name, behind)),
        }
    }
}
