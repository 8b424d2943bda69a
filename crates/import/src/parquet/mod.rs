//! Parquet files: their columns, and their rows. If dyno writes the database's pages, all cores turn the rows into
//! pages directly; otherwise the rows become records of text.
//!
//! The text of a value is one that reads as the same value again: a number becomes its shortest text.

mod column;
mod damage;
mod file;
mod form;
mod parts;
mod rows;

use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail, ensure};
use dyno_files::open_found;
use parquet::basic::Repetition;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};

use crate::error::Input;
use crate::names::escaped;
use crate::source::{Source, Stamp};
use crate::syntax::LONGEST;
use crate::value::Kind;
use damage::guarded;
use file::Positioned;
use form::Form;

pub use column::{Column, ParquetValue};
pub use parts::{Reader, RowParts};
pub use rows::Rows;

/// An open file.
pub struct File {
    bytes: Arc<Positioned>,
    metadata: ParquetMetaData,
    /// The meaning of each column's values.
    forms: Vec<Form>,
    /// The file's name in messages.
    pub name: String,
    /// The file as it was when it was opened.
    pub stamp: Option<Stamp>,
    /// The most bytes of a row.
    pub longest: usize,
    /// Its length, bytes, and how many rows it has.
    length: u64,
    rows: u64,
}

impl File {
    /// Opens a file, of which no row may be longer than `longest` bytes, and reads what it says about itself.
    ///
    /// # Errors
    /// It cannot be read, or has columns that no table takes.
    pub fn open(source: &Source, longest: usize) -> Result<File> {
        File::try_to_open(source, longest).input()
    }

    fn try_to_open(source: &Source, longest: usize) -> Result<File> {
        let Source::File(path) = source else {
            bail!("a Parquet file begins at its end: it cannot be read from standard input")
        };
        // It was a regular file before, and another one may have come in its place.
        let file = open_found(path).with_context(|| format!("cannot open {}", escaped(path)))?;
        let data = file.metadata()?;
        let (length, stamp) = (data.len(), Stamp::of(&data));
        let bytes = Arc::new(Positioned::new(file)?);
        let metadata = guarded(|| Ok(ParquetMetaDataReader::new().parse_and_finish(&*bytes)?));
        let metadata = metadata.with_context(|| format!("cannot read {}", escaped(path)))?;
        let about = metadata.file_metadata();
        let rows = about.num_rows().max(0) as u64;
        let form = |column: &Arc<parquet::schema::types::Type>| {
            let is_plain =
                column.is_primitive() && column.get_basic_info().repetition() != Repetition::REPEATED;
            ensure!(is_plain, "the column '{}' is nested, which no table takes", column.name());
            Form::of(column, about.created_by())
        };
        let forms: Result<Vec<Form>> = about.schema().get_fields().iter().map(form).collect();
        let forms = forms.map_err(|error| anyhow!("{}: {error:#}", escaped(path)))?;
        Ok(File { bytes, metadata, forms, name: source.name(), stamp, longest, length, rows })
    }

    /// Refuses a row whose values have more bytes than a row may have.
    ///
    /// # Errors
    /// It has more.
    pub fn check_length(&self, row: u64, bytes: usize) -> Result<()> {
        if bytes <= self.longest {
            return Ok(());
        }
        let more = if self.longest < LONGEST { "; more --memory holds longer ones" } else { "" };
        Err(anyhow!("{}:{row}: the row is longer than {} MiB{more}", self.name, self.longest >> 20)).input()
    }

    /// The names of the columns, and what each takes.
    pub fn columns(&self) -> (Vec<Vec<u8>>, Vec<Kind>) {
        let fields = self.metadata.file_metadata().schema().get_fields();
        let names = fields.iter().map(|field| field.name().as_bytes().to_vec()).collect();
        (names, self.forms.iter().map(|form| form.kind()).collect())
    }

    /// The number of the file's bytes before a row, if all rows take as many.
    pub fn bytes_before(&self, row: u64) -> u64 {
        let share = u128::from(self.length) * u128::from(row - 1) / u128::from(self.rows.max(1));
        share.min(u128::from(self.length)) as u64
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    use super::*;

    const SCHEMA: &str = "message t { required int64 id; optional double x; optional binary name (UTF8); \
                          required int64 at (TIMESTAMP(MILLIS,true)); }";

    /// A row of that schema.
    type Row = (i64, Option<f64>, Option<String>, i64);

    #[test]
    fn a_fifo_that_came_in_the_place_of_a_file_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let error = File::open(&Source::File(path), LONGEST).err().unwrap();
        assert!(format!("{error:#}").contains("it is not a regular file"), "{error:#}");
    }

    fn write(path: &Path, groups: &[Vec<Row>]) -> File {
        write_limited(path, groups, LONGEST)
    }

    /// The file of some groups of rows, of which none may be longer than `longest` bytes.
    fn write_limited(path: &Path, groups: &[Vec<Row>], longest: usize) -> File {
        let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
        let properties = WriterProperties::builder().set_data_page_row_count_limit(7).set_write_batch_size(5);
        let file = fs::File::create(path).unwrap();
        let mut file = SerializedFileWriter::new(file, schema, Arc::new(properties.build())).unwrap();
        for rows in groups {
            let mut group = file.next_row_group().unwrap();
            macro_rules! column {
                ($kind:ty, $values:expr, $levels:expr) => {
                    let (values, levels): (Vec<_>, Vec<i16>) = ($values.collect(), $levels.collect());
                    let mut column = group.next_column().unwrap().unwrap();
                    column.typed::<$kind>().write_batch(&values, Some(&levels), None).unwrap();
                    column.close().unwrap();
                };
            }
            let bytes = |text: &String| ByteArray::from(text.as_str());
            column!(Int64Type, rows.iter().map(|row| row.0), rows.iter().map(|_| 0));
            column!(
                DoubleType,
                rows.iter().filter_map(|row| row.1),
                rows.iter().map(|row| row.1.is_some().into())
            );
            column!(
                ByteArrayType,
                rows.iter().filter_map(|row| row.2.as_ref().map(bytes)),
                rows.iter().map(|row| row.2.is_some().into())
            );
            column!(Int64Type, rows.iter().map(|row| row.3), rows.iter().map(|_| 0));
            group.close().unwrap();
        }
        file.close().unwrap();
        File::open(&Source::File(path.to_owned()), longest).unwrap()
    }

    /// Each row as its line, the text of its fields, and which are NULL.
    fn texts(file: Arc<File>) -> Vec<(u64, String, Vec<bool>)> {
        let mut rows = Rows::new(file, Arc::default());
        let (mut buffer, mut ends, mut found) = (vec![0; 2], Vec::new(), Vec::new());
        while let Some(record) = rows.read(&mut buffer, 1, &mut ends).unwrap() {
            let text = String::from_utf8(buffer[1..1 + record.length].to_vec()).unwrap();
            found.push((record.line, text, rows.nulls().to_vec()));
        }
        found
    }

    #[test]
    fn rows_are_records_whose_nulls_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        let rows = vec![(1, Some(0.1), Some(String::new()), 0), (i64::MIN, None, Some("é".into()), 1_500)];
        let file = write(&folder.path().join("t.parquet"), &[rows]);
        let (names, kinds) = file.columns();
        assert_eq!(names, ["id", "x", "name", "at"].map(|name| name.as_bytes().to_vec()));
        assert_eq!(kinds, [Kind::INTEGER, Kind::Real, Kind::TEXT, Kind::TEXT]);
        let found = texts(Arc::new(file));
        let first = "10.11970-01-01 00:00:00.000 +00:00".to_owned();
        let second = "-9223372036854775808é1970-01-01 00:00:01.500 +00:00".to_owned();
        assert_eq!(found, [(1, first, vec![false; 4]), (2, second, vec![false, true, false, false])]);
    }

    #[test]
    fn a_row_that_is_too_long_is_refused_by_its_number() {
        let folder = tempfile::tempdir().unwrap();
        let rows = vec![(1, None, Some("short".to_owned()), 0), (2, None, Some("x".repeat(100)), 0)];
        // A digit, a text of 100 letters and a time of 30.
        for (longest, is_refused) in [(131, false), (130, true)] {
            let file = write_limited(&folder.path().join("t.parquet"), std::slice::from_ref(&rows), longest);
            let mut found = Rows::new(Arc::new(file), Arc::default());
            let (mut buffer, mut ends) = (Vec::new(), Vec::new());
            assert!(found.read(&mut buffer, 0, &mut ends).unwrap().is_some());
            let outcome = found.read(&mut buffer, 0, &mut ends).map_err(|error| error.to_string());
            let said = outcome.err().unwrap_or_default();
            assert_eq!(
                said.contains(":2: the row is longer than 0 MiB; more --memory"),
                is_refused,
                "{said}"
            );
        }
    }

    #[test]
    fn readers_that_share_the_parts_find_every_row() {
        let mut random = fastrand::Rng::with_seed(3);
        let folder = tempfile::tempdir().unwrap();
        for number in 0..40 {
            let groups: Vec<Vec<Row>> = (0..random.usize(0..4))
                .map(|_| {
                    let row = |random: &mut fastrand::Rng| {
                        let x = random.bool().then(|| random.f64());
                        let length = random.usize(0..30);
                        let name = random
                            .bool()
                            .then(|| std::iter::repeat_with(|| random.alphabetic()).take(length).collect());
                        (random.i64(..), x, name, random.i64(-1_000_000_000..1_000_000_000))
                    };
                    (0..random.usize(0..300)).map(|_| row(&mut random)).collect()
                })
                .collect();
            let file = Arc::new(write(&folder.path().join(format!("{number}.parquet")), &groups));
            let mut parts = RowParts::new(file.clone(), random.usize(1..4_000));
            let mut readers = [Reader::new(file.clone()), Reader::new(file.clone())];
            let (mut found, mut printed) = (Vec::new(), Vec::new());
            while let Some(part) = parts.next() {
                let reader = &mut readers[random.usize(0..2)];
                reader.go_to(&part).unwrap();
                while let Some((count, first)) = reader.read().unwrap() {
                    for line in first..first + count as u64 {
                        let (mut text, mut nulls) = (Vec::new(), Vec::new());
                        for column in &mut reader.columns {
                            // Going back and forth changes nothing.
                            column.next(&mut printed).unwrap();
                            column.back();
                            let given = column.next(&mut printed).unwrap();
                            nulls.push(given == ParquetValue::Null);
                            given.put(&mut text).unwrap();
                        }
                        found.push((line, String::from_utf8(text).unwrap(), nulls));
                    }
                }
            }
            assert_eq!(found.len(), groups.iter().map(Vec::len).sum::<usize>());
            assert_eq!(found, texts(file), "{number}");
        }
    }
}
