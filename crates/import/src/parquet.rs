//! Parquet files: their columns, and their rows as records of text, so that all else is as for text.
//!
//! A number becomes its shortest text and that the number again, which is exact.

use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result, bail};
use parquet::basic::{ConvertedType, LogicalType, Type};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use parquet::record::reader::RowIter;

use crate::error::Input;
use crate::records::Record;
use crate::source::Source;
use crate::value::Kind;

/// The rows of a file.
pub struct Rows {
    rows: RowIter<'static>,
    name: String,
    /// Which fields of the last record are NULL.
    nulls: Vec<bool>,
    row: u64,
    /// Rows in all, and the file's bytes, for progress.
    of: (u64, u64),
    read: Arc<AtomicU64>,
}

fn reader(source: &Source) -> Result<SerializedFileReader<File>> {
    let Source::File(path) = source else {
        bail!("a Parquet file begins at its end: it cannot be read from standard input")
    };
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    SerializedFileReader::new(file).with_context(|| format!("cannot read {}", path.display()))
}

/// The names of the columns, and what each takes.
pub fn columns(source: &Source) -> Result<(Vec<Vec<u8>>, Vec<Kind>)> {
    let reader = reader(source).input()?;
    let schema = reader.metadata().file_metadata().schema();
    let mut columns = (Vec::new(), Vec::new());
    for field in schema.get_fields() {
        if !field.is_primitive()
            || field.get_basic_info().repetition() == parquet::basic::Repetition::REPEATED
        {
            let error = anyhow::anyhow!(
                "{}: the column '{}' is nested, which no table takes",
                source.name(),
                field.name()
            );
            return Err(error).input();
        }
        let about = field.get_basic_info();
        let is_number = matches!(about.logical_type_ref(), None | Some(LogicalType::Integer { .. }))
            && !matches!(
                about.converted_type(),
                ConvertedType::DATE
                    | ConvertedType::DECIMAL
                    | ConvertedType::TIME_MILLIS
                    | ConvertedType::TIME_MICROS
                    | ConvertedType::TIMESTAMP_MILLIS
                    | ConvertedType::TIMESTAMP_MICROS
            );
        columns.0.push(field.name().as_bytes().to_vec());
        columns.1.push(match field.get_physical_type() {
            Type::BOOLEAN | Type::INT32 | Type::INT64 if is_number => Kind::INTEGER,
            Type::FLOAT | Type::DOUBLE if is_number => Kind::Real,
            _ => Kind::TEXT,
        });
    }
    Ok(columns)
}

impl Rows {
    /// The rows from the first one.
    pub fn open(source: &Source, read: Arc<AtomicU64>) -> Result<Rows> {
        let reader = reader(source).input()?;
        let rows = reader.metadata().file_metadata().num_rows().max(0) as u64;
        let iter = RowIter::from_file_into(Box::new(reader));
        let of = (rows, source.bytes().unwrap_or_default());
        Ok(Rows { rows: iter, name: source.name(), nulls: Vec::new(), row: 0, of, read })
    }

    /// Which fields of the last record are NULL.
    pub fn nulls(&self) -> &[bool] {
        &self.nulls
    }

    /// As for text; the line is the row.
    pub fn read(
        &mut self,
        buffer: &mut Vec<u8>,
        start: usize,
        ends: &mut Vec<usize>,
    ) -> Result<Option<Record>> {
        let Some(row) = self.rows.next() else { return Ok(None) };
        let row = row.with_context(|| format!("cannot read {} after row {}", self.name, self.row)).input()?;
        self.row += 1;
        self.read.store(self.of.1 * self.row / self.of.0.max(1), Ordering::Relaxed);
        self.nulls.clear();
        ends.clear();
        let mut text = Vec::new();
        for (_, field) in row.get_column_iter() {
            self.nulls.push(matches!(field, Field::Null));
            write(field, &mut text)?;
            ends.push(text.len());
        }
        if buffer.len() < start + text.len() {
            buffer.resize((start + text.len()).next_power_of_two(), 0);
        }
        buffer[start..start + text.len()].copy_from_slice(&text);
        Ok(Some(Record { length: text.len(), fields: ends.len(), line: self.row }))
    }
}

fn write(field: &Field, to: &mut Vec<u8>) -> Result<()> {
    match field {
        Field::Null => {}
        Field::Bool(value) => to.push(b'0' + u8::from(*value)),
        Field::Str(text) => to.extend_from_slice(text.as_bytes()),
        Field::Bytes(bytes) => to.extend_from_slice(bytes.data()),
        // Widened first: the shortest text of four bytes is another number in eight.
        Field::Float(number) => write!(to, "{}", f64::from(*number))?,
        Field::Double(number) => write!(to, "{number}")?,
        other => write!(to, "{other}")?,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    use super::*;

    #[test]
    fn rows_are_records_whose_nulls_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        let schema = "message t { required int64 id; optional double x; optional binary name (UTF8); \
                      required int64 at (TIMESTAMP(MILLIS,true)); }";
        let schema = Arc::new(parse_message_type(schema).unwrap());
        let properties = Arc::new(WriterProperties::builder().build());
        let mut file = SerializedFileWriter::new(File::create(&path).unwrap(), schema, properties).unwrap();
        let mut group = file.next_row_group().unwrap();
        macro_rules! column {
            ($kind:ty, $values:expr, $levels:expr) => {
                let mut column = group.next_column().unwrap().unwrap();
                column.typed::<$kind>().write_batch($values, $levels, None).unwrap();
                column.close().unwrap();
            };
        }
        column!(Int64Type, &[1, i64::MIN], None);
        column!(DoubleType, &[0.1], Some(&[1, 0][..]));
        column!(ByteArrayType, &[ByteArray::from(""), ByteArray::from("é")], Some(&[1, 1][..]));
        column!(Int64Type, &[0, 1_500], None);
        group.close().unwrap();
        file.close().unwrap();

        let source = Source::File(path);
        let (names, kinds) = columns(&source).unwrap();
        assert_eq!(names, ["id", "x", "name", "at"].map(|name| name.as_bytes().to_vec()));
        assert_eq!(kinds, [Kind::INTEGER, Kind::Real, Kind::TEXT, Kind::TEXT]);
        let mut rows = Rows::open(&source, Arc::default()).unwrap();
        let (mut buffer, mut ends, mut found) = (vec![0; 2], Vec::new(), Vec::new());
        while let Some(record) = rows.read(&mut buffer, 1, &mut ends).unwrap() {
            let text = String::from_utf8(buffer[1..1 + record.length].to_vec()).unwrap();
            found.push((text, record.fields, rows.nulls().to_vec()));
        }
        assert_eq!(found.len(), 2);
        assert!(found[0].0.starts_with("10.11970-01-01 00:00:00"), "{}", found[0].0);
        assert!(found[1].0.starts_with("-9223372036854775808é1970-01-01 00:00:01.5"), "{}", found[1].0);
        assert_eq!(found[1].2, [false, true, false, false]);
    }
}
