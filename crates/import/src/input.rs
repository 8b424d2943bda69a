//! The records of an import's files, one file after another, as the table takes them.

use std::collections::VecDeque;
use std::io::BufRead;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

use anyhow::Result;
use encoding_rs::Encoding;

use crate::contents::lines_before;
use crate::error::Input as _;
use crate::field_order::order;
use crate::json;
use crate::records::{Record, Records};
use crate::shape::Shape;
#[cfg(feature = "parquet")]
use crate::source::Opened;
use crate::source::{Source, Stamp, check_stamp};
use crate::split::{Fields, fields_of};
use crate::syntax::Syntax;

/// The number of low bits of a place that hold the line. The bits above hold the number of the file.
const LINE_BITS: u32 = 40;

/// The file's number, from 0, and the line of a place.
pub fn file_and_line(place: u64) -> (usize, u64) {
    ((place >> LINE_BITS) as usize, place & ((1 << LINE_BITS) - 1))
}

/// The format that all files share.
#[derive(Debug, Clone)]
pub struct Format {
    /// Delimiter, quotes and the like.
    pub syntax: Syntax,
    /// Lines before the first record, or the header.
    pub skip: u64,
    /// True if the first record names the columns.
    pub has_header: bool,
    /// The text's encoding, if it is stated.
    pub encoding: Option<&'static Encoding>,
    /// True if each line is an object of JSON.
    pub is_json: bool,
    /// The longest record, in bytes.
    pub longest: usize,
    /// The fields of a record by name, as the first file has them.
    pub names: Vec<String>,
    /// The names as the file spells them; `names` holds unique ones.
    pub keys: Vec<String>,
    /// True if fields are separated by delimiters.
    pub is_delimited: bool,
}

/// The reader of one file.
enum Reader {
    Text(Box<Records>),
    Json(Box<json::Lines>),
    #[cfg(feature = "parquet")]
    Parquet(Box<crate::parquet::Rows>),
}

/// Reads all files.
pub struct Input {
    format: Format,
    shape: Option<Shape>,
    reader: Reader,
    /// The number of the file that is read, and its name.
    file: usize,
    name: String,
    /// The positions of the first file's fields in this one, if they differ.
    order: Option<Vec<usize>>,
    /// The files behind it, each as it was before anything of it was read.
    rest: VecDeque<(Source, Option<Stamp>)>,
    read: Arc<AtomicU64>,
    is_unwanted: Arc<AtomicBool>,
    nulls: Vec<bool>,
    strings: Vec<bool>,
    /// The last record as its file has it, if the table's fields are not that.
    as_found: Vec<(u32, u32)>,
}

impl Input {
    /// The records of a file that is opened, and of others behind it, each as it was before anything of it was read.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn new(
        format: Format,
        shape: Option<Shape>,
        text: Box<dyn BufRead + Send>,
        (read, is_unwanted): (Arc<AtomicU64>, Arc<AtomicBool>),
        first: &Source,
        rest: VecDeque<(Source, Option<Stamp>)>,
    ) -> Result<Input> {
        let (reader, order) = open(&format, text, first)?;
        Ok(Input {
            format,
            shape,
            reader,
            file: 0,
            name: first.name(),
            order,
            rest,
            read,
            is_unwanted,
            nulls: Vec::new(),
            strings: Vec::new(),
            as_found: Vec::new(),
        })
    }

    /// The rows of a Parquet file.
    #[cfg(feature = "parquet")]
    pub fn parquet(
        format: Format,
        shape: Option<Shape>,
        rows: crate::parquet::Rows,
        source: &Source,
        opened: &Opened,
    ) -> Input {
        Input {
            format,
            shape,
            reader: Reader::Parquet(Box::new(rows)),
            file: 0,
            name: source.name(),
            order: None,
            rest: VecDeque::new(),
            read: opened.read.clone(),
            is_unwanted: opened.is_unwanted.clone(),
            nulls: Vec::new(),
            strings: Vec::new(),
            as_found: Vec::new(),
        }
    }

    /// Reads a record into `buffer` at `start`. `fields` receives where each field begins and ends, relative to `start`;
    /// `ends` is working memory. None after the last record.
    ///
    /// # Errors
    /// A file cannot be read, or differs in form from the first one.
    pub fn read(
        &mut self,
        buffer: &mut Vec<u8>,
        start: usize,
        ends: &mut Vec<usize>,
        fields: &mut Vec<(u32, u32)>,
    ) -> Result<Option<Record>> {
        let Some(mut record) = self.next_record(buffer, start, ends)? else { return Ok(None) };
        fields_of(&ends[..record.fields], fields);
        self.arrange(buffer, start, &mut record, fields);
        record.line |= (self.file as u64) << LINE_BITS;
        Ok(Some(record))
    }

    /// Reads the next record of this file or of one behind it.
    fn next_record(
        &mut self,
        buffer: &mut Vec<u8>,
        start: usize,
        ends: &mut Vec<usize>,
    ) -> Result<Option<Record>> {
        loop {
            let found = match &mut self.reader {
                Reader::Text(records) => records.read(buffer, start, ends)?,
                Reader::Json(lines) => lines.read(buffer, start, ends)?,
                #[cfg(feature = "parquet")]
                Reader::Parquet(rows) => rows.read(buffer, start, ends)?,
            };
            if found.is_some() || !self.next_file()? {
                return Ok(found);
            }
        }
    }

    /// Puts the fields of a record into the order of the first file and then into the shape of the table, and notes which
    /// are NULL or texts.
    fn arrange(
        &mut self,
        buffer: &mut Vec<u8>,
        start: usize,
        record: &mut Record,
        fields: &mut Vec<(u32, u32)>,
    ) {
        self.as_found.clear();
        let (nulls, strings): (&[bool], &[bool]) = match &self.reader {
            Reader::Text(_) => (&[], &[]),
            Reader::Json(lines) => {
                self.as_found.push(lines.whole());
                (lines.nulls(), lines.strings())
            }
            #[cfg(feature = "parquet")]
            Reader::Parquet(rows) => (rows.nulls(), rows.strings()),
        };
        self.nulls.clear();
        self.strings.clear();
        if let Some(order) = self.order.as_ref().filter(|order| order.len() == fields.len()) {
            *fields = order.iter().map(|&field| fields[field]).collect();
        }
        match &self.shape {
            None => {
                self.nulls.extend_from_slice(nulls);
                self.strings.extend_from_slice(strings);
            }
            Some(shape) => {
                let of = |flags: &[bool], field: Option<usize>| {
                    field.is_some_and(|field| flags.get(field) == Some(&true))
                };
                self.nulls.extend(shape.fields().map(|field| of(nulls, field)));
                self.strings.extend(shape.fields().map(|field| of(strings, field)));
                let is_json = matches!(self.reader, Reader::Json(_));
                if !is_json {
                    self.as_found.clone_from(fields);
                }
                let strings = is_json.then_some(self.strings.as_slice());
                shape.apply(buffer, start, record, (fields, &mut self.nulls), (strings, &self.name));
            }
        }
    }

    /// True for each field of the last record that is NULL whatever its text.
    pub fn nulls(&self) -> &[bool] {
        &self.nulls
    }

    /// True for each field that is a text whatever it holds.
    pub fn strings(&self) -> &[bool] {
        &self.strings
    }

    /// The last record as its file has it: all fields in the order of the first file, or a line of JSON as one. `fields` are
    /// those that the table takes.
    pub fn as_found<'f>(&'f self, fields: &'f Fields) -> &'f Fields {
        if self.as_found.is_empty() { fields } else { &self.as_found }
    }

    /// The shape of the records, which can say what is wrong with a field.
    pub fn shape(&self) -> Option<&Shape> {
        self.shape.as_ref()
    }

    fn next_file(&mut self) -> Result<bool> {
        let Some((source, planned)) = self.rest.pop_front() else { return Ok(false) };
        let opened =
            source.open_counted(self.format.encoding, self.read.clone(), self.is_unwanted.clone())?;
        check_stamp(opened.stamp.as_ref(), planned.as_ref(), &source.name())?;
        (self.reader, self.order) = open(&self.format, opened.text, &source)?;
        self.name = source.name();
        self.file += 1;
        Ok(true)
    }
}

/// Opens a file, reads past its header, and returns the positions of the first file's fields in it, if they differ.
fn open(
    format: &Format,
    mut text: Box<dyn BufRead + Send>,
    source: &Source,
) -> Result<(Reader, Option<Vec<usize>>)> {
    let name = source.name();
    if format.is_json {
        let lines = json::Lines::new(text, name, &format.keys, format.longest);
        return Ok((Reader::Json(Box::new(lines)), None));
    }
    let skip = lines_before(&mut text, format.skip, &name)?;
    let mut records = Records::new(text, format.syntax, name.clone()).limited_to(format.longest);
    records.skip(skip)?;
    if !format.has_header {
        return Ok((Reader::Text(Box::new(records)), None));
    }
    let order = match records.read_header()? {
        Some(header) => order((&format.names, &format.keys), &header, &name).input()?,
        None => return Ok((Reader::Text(Box::new(records)), None)),
    };
    let is_same = order.iter().enumerate().all(|(place, field)| place == *field);
    Ok((Reader::Text(Box::new(records)), (!is_same).then_some(order)))
}
