//! The beginning of the first file: the format in which it is written, its delimiter and its first records.

use std::io::BufRead;
use std::sync::Arc;

#[cfg(not(feature = "parquet"))]
use anyhow::bail;
use anyhow::{Result, anyhow, ensure};

use crate::contents::{check_text, check_zeros, is_parquet, written_delimiter};
use crate::error::{BadInput, Input};
use crate::guess::{self, Choice};
use crate::json;
use crate::request::Request;
use crate::source::{Opened, Sample, Source, Stamp};
use crate::syntax::{Syntax, longest};
use crate::table::Column;
use crate::value::Kind;

/// The factor by which more is looked at of a file whose first record is not in its beginning.
const MORE: u64 = 16;

/// The first file as far as its beginning shows it.
pub(super) struct Beginning {
    /// The files as they were before anything of them was read.
    pub stamps: Vec<Option<Stamp>>,
    /// The file from its beginning.
    pub opened: Opened,
    /// True if each line is an object of JSON.
    pub is_json: bool,
    /// The names and kinds of columns that a Parquet file states.
    pub stated: Option<(Vec<Vec<u8>>, Vec<Kind>)>,
    /// Delimiter, quotes and the like.
    pub syntax: Syntax,
    /// The delimiter, and why that.
    pub delimiter: Choice<u8>,
    /// Lines before the first record, or the header.
    pub skip: u64,
    /// The first records.
    pub records: Vec<Vec<Vec<u8>>>,
}

impl Beginning {
    /// Looks at as much of the file as its first record needs.
    ///
    /// # Errors
    /// The file cannot be read, or can be read in two ways.
    pub fn of(request: &Request) -> Result<Beginning> {
        let (mut size, most) = (request.source.sample_size(), longest(request.memory) as u64);
        loop {
            let can_grow = request.source.is_repeatable() && size < most;
            let stamps = request.sources().map(Source::stamp).collect();
            let opened =
                request.source.open_sampled(request.encoding, size, Arc::default(), Arc::default())?;
            if !(can_grow && request.delimiter.is_none() && json::is_cut(&opened)) {
                let beginning = Beginning::of_beginning(request, stamps, opened)?;
                let is_enough = !beginning.records.is_empty() || beginning.opened.whole;
                if is_enough || !can_grow {
                    return Ok(beginning);
                }
            }
            size = (size * MORE).min(most);
        }
    }

    fn of_beginning(request: &Request, stamps: Vec<Option<Stamp>>, opened: Opened) -> Result<Beginning> {
        let name = request.source.name();
        let (sample, whole) = (&opened.sample, opened.whole);
        let is_json = request.delimiter.is_none() && json::is_lines(sample);
        check_contents(request, is_json, sample, &name).input()?;
        let written = written_delimiter(sample);
        let skip = request.skip.max(u64::from(written.is_some()));
        let Request { quote, escape, comment, .. } = *request;
        let stated = is_parquet(sample).then(|| stated(request)).transpose()?;
        if is_json || stated.is_some() {
            check_options(request, if is_json { "JSON Lines" } else { "Parquet" }).input()?;
        }
        if stated.is_some() {
            check_alone(request, &name).input()?;
        }
        // An end of line has no other role.
        let known = request.delimiter.or(written).unwrap_or(b'\n');
        let syntax = Syntax { delimiter: known, quote, escape, comment };
        syntax.check_roles().input()?;
        let delimiter = match (request.delimiter, written) {
            (Some(delimiter), _) => Choice::new(delimiter, "as asked"),
            (_, Some(delimiter)) => Choice::new(delimiter, "the first line is sep="),
            _ if stated.is_some() => Choice::new(b',', "a Parquet file has none"),
            _ if is_json => Choice::new(b',', "JSON Lines have none"),
            _ => guess::delimiter(&request.source, sample, whole, syntax, skip)
                .map_err(|question| asked(&request.source, &question))?,
        };
        let syntax = Syntax { delimiter: delimiter.value, ..syntax };
        syntax.check_roles().input()?;
        let records = match &stated {
            Some((names, _)) => vec![names.clone()],
            None if is_json => vec![keys(request, sample, whole)?],
            None => guess::records(&name, sample, whole, syntax, skip)?,
        };
        Ok(Beginning { stamps, opened, is_json, stated, syntax, delimiter, skip, records })
    }

    /// True if the file is text with delimiters.
    pub fn is_delimited(&self) -> bool {
        !self.is_json && self.stated.is_none()
    }

    /// Decides whether the first record names the columns; `existing` are those of a table to which rows are added.
    ///
    /// # Errors
    /// The user must say so.
    pub fn header(&self, request: &Request, existing: Option<&[Column]>) -> Result<Choice<bool>> {
        Ok(match request.header {
            _ if self.stated.is_some() => Choice::new(true, "a Parquet file names its columns"),
            _ if self.is_json => Choice::new(true, "each line names its fields"),
            Some(header) => Choice::new(header, "as asked"),
            None => header(&self.records, existing).map_err(|question| asked(&request.source, &question))?,
        })
    }
}

/// Refuses what is no text, as far as the beginning of a file shows it and no option says otherwise.
pub(super) fn check_contents(request: &Request, is_json: bool, sample: &Sample, name: &str) -> Result<()> {
    if request.delimiter.is_none() && !is_json {
        check_text(sample, name)?;
    }
    if request.encoding.is_none() {
        check_zeros(sample, name)?;
    }
    Ok(())
}

/// A question on a file, as an error.
pub(super) fn asked(source: &Source, question: &str) -> anyhow::Error {
    BadInput(anyhow!("{}: {question}", source.name())).into()
}

/// Refuses a pipe whose beginning would have to be read twice.
///
/// # Errors
/// It is one; with what to do.
pub(super) fn check_repeatable(source: &Source, advice: &str) -> Result<()> {
    match source.is_repeatable() {
        true => Ok(()),
        false => Err(BadInput(anyhow!("{} can be read only once: {advice}", source.name())).into()),
    }
}

/// The keys of all lines of all files, as far as they can be read twice.
fn keys(request: &Request, sample: &Sample, whole: bool) -> Result<Vec<Vec<u8>>> {
    let mut keys = json::JsonKeys::default();
    for (place, source) in request.sources().enumerate() {
        let is_seen = place == 0 && (whole || !source.is_repeatable());
        if place > 0 {
            check_repeatable(source, "name it as the first file, or save it in one")?;
        }
        let text: Box<dyn BufRead + Send> = match is_seen {
            true => Box::new(sample.read()),
            false => source.open(request.encoding)?.text,
        };
        let lines = json::Lines::new(text, source.name(), &[], longest(request.memory));
        lines.add_keys(&mut keys)?;
    }
    Ok(keys.into_fields())
}

/// Decides whether the first record names the columns: where rows are added to a table, by that table's columns.
pub(super) fn header(records: &[Vec<Vec<u8>>], existing: Option<&[Column]>) -> guess::Guess<bool> {
    let guess = guess::header(records);
    let (Some(columns), Some((first, rest))) = (existing, records.split_first()) else { return guess };
    let names_one = |field: &&Vec<u8>| {
        columns.iter().any(|column| field.trim_ascii().eq_ignore_ascii_case(column.name.as_bytes()))
    };
    let named = first.iter().filter(names_one).count();
    match (named, guess) {
        (0, Err(_)) => Ok(Choice::new(false, "it holds no name of the table's columns")),
        (0, guess) => guess,
        (named, guess) if named == first.len() => {
            match rest.iter().any(|record| guess::is_again(record, first)) {
                // Files with headers were joined.
                true if first.len() > 1 || guess.is_err() => Err(guess::repeated(records)),
                _ => Ok(Choice::new(true, "it holds names of the table's columns")),
            }
        }
        (_, Ok(header)) if header.value => Ok(header),
        _ => Err(guess::either("it holds names of some of the table's columns, and other values")),
    }
}

/// Refuses options for text with delimiters if the file is no such text: they would do nothing.
fn check_options(request: &Request, format: &str) -> Result<()> {
    let given = [
        ("--skip", request.skip > 0),
        ("--comment", request.comment.is_some()),
        ("--delimiter", request.delimiter.is_some()),
        ("--no-header", request.header == Some(false)),
        ("--escape", request.escape.is_some()),
        ("--quote and --no-quotes", request.quote != Some(b'"')),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((option, _)) => Err(anyhow!(
            "{} is {format}, and {option} is for text with delimiters: leave it out",
            request.source.name()
        )),
    }
}

/// Refuses other files beside a Parquet file, and an encoding of its texts.
fn check_alone(request: &Request, name: &str) -> Result<()> {
    ensure!(
        request.more.is_empty(),
        "{name} is a Parquet file, of which dyno loads one at a time: load the others with --append"
    );
    ensure!(
        request.encoding.is_none(),
        "{name} is a Parquet file, whose texts are UTF-8: leave --encoding out"
    );
    Ok(())
}

/// The columns that a Parquet file states, by name and kind.
#[cfg(feature = "parquet")]
fn stated(request: &Request) -> Result<(Vec<Vec<u8>>, Vec<Kind>)> {
    Ok(crate::parquet::File::open(&request.source, longest(request.memory))?.columns())
}

/// No file states its columns: one that would was refused.
#[cfg(not(feature = "parquet"))]
fn stated(_: &Request) -> Result<(Vec<Vec<u8>>, Vec<Kind>)> {
    bail!("this dyno was built without Parquet")
}
