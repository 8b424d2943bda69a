//! Samples as Parquet: one row group, a column for each field of [`SampleRow`].

use std::sync::Arc;

use anyhow::{Context, Result};
use parquet::basic::Compression;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use super::rows::SampleRow;

/// A column: its name and how to read it from a row.
enum Column {
    Text(&'static str, fn(&SampleRow) -> &str),
    Number(&'static str, fn(&SampleRow) -> i64),
    Flag(&'static str, fn(&SampleRow) -> bool),
}

const COLUMNS: [Column; 27] = [
    Column::Text("run", |row| &row.run),
    Column::Text("started", |row| &row.started),
    Column::Text("suite", |row| &row.suite),
    Column::Text("test", |row| &row.test),
    Column::Text("title", |row| &row.title),
    Column::Text("contender", |row| &row.contender),
    Column::Text("engine", |row| &row.engine),
    Column::Text("engine_version", |row| &row.engine_version),
    Column::Text("driver", |row| &row.driver),
    Column::Text("profile", |row| &row.profile),
    Column::Text("level", |row| &row.level),
    Column::Number("block", |row| row.block),
    Column::Flag("warm_up", |row| row.warm_up),
    Column::Flag("disturbed", |row| row.disturbed),
    Column::Number("answer", |row| row.answer),
    Column::Number("nanoseconds", |row| row.nanoseconds),
    Column::Number("operations", |row| row.operations),
    Column::Number("rows", |row| row.rows),
    Column::Number("bytes", |row| row.bytes),
    Column::Number("user_ns", |row| row.user_ns),
    Column::Number("system_ns", |row| row.system_ns),
    Column::Number("wait_ns", |row| row.wait_ns),
    Column::Number("device_read_bytes", |row| row.device_read_bytes),
    Column::Number("device_written_bytes", |row| row.device_written_bytes),
    Column::Number("peak_memory_bytes", |row| row.peak_memory_bytes),
    Column::Number("database_bytes", |row| row.database_bytes),
    Column::Text("run_file", |row| &row.run_file),
];

/// The rows as a Parquet file, packed with Snappy.
pub fn write(rows: &[SampleRow]) -> Result<Vec<u8>> {
    let fields: Vec<String> = COLUMNS
        .iter()
        .map(|column| match column {
            Column::Text(name, _) => format!("REQUIRED BYTE_ARRAY {name} (UTF8);"),
            Column::Number(name, _) => format!("REQUIRED INT64 {name};"),
            Column::Flag(name, _) => format!("REQUIRED BOOLEAN {name};"),
        })
        .collect();
    let schema = parse_message_type(&format!("message samples {{ {} }}", fields.join(" ")))?;
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut file = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties))?;
    let mut group = file.next_row_group()?;
    for column in &COLUMNS {
        let mut writer = group.next_column()?.context("the schema has fewer columns than the rows")?;
        match column {
            Column::Text(_, read) => {
                let values: Vec<ByteArray> = rows.iter().map(|row| ByteArray::from(read(row))).collect();
                writer.typed::<ByteArrayType>().write_batch(&values, None, None)?;
            }
            Column::Number(_, read) => {
                let values: Vec<i64> = rows.iter().map(read).collect();
                writer.typed::<Int64Type>().write_batch(&values, None, None)?;
            }
            Column::Flag(_, read) => {
                let values: Vec<bool> = rows.iter().map(read).collect();
                writer.typed::<BoolType>().write_batch(&values, None, None)?;
            }
        }
        writer.close()?;
    }
    group.close()?;
    file.into_inner().context("cannot write Parquet")
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use parquet::file::reader::{FileReader, SerializedFileReader};

    use super::*;

    #[test]
    fn rows_are_read_back() {
        let run = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/run.json");
        let rows = super::super::rows::rows("run.json", &dyno_record::load(run.as_ref()).unwrap(), true);
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&write(&rows).unwrap()).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let times: Vec<i64> = reader
            .get_row_iter(None)
            .unwrap()
            .map(|row| {
                let row = row.unwrap();
                let place = row.get_column_iter().position(|(name, _)| name == "nanoseconds").unwrap();
                parquet::record::RowAccessor::get_long(&row, place).unwrap()
            })
            .collect();
        assert_eq!(times, rows.iter().map(|row| row.nanoseconds).collect::<Vec<_>>());
    }
}
