//! Files of records into a table: the model `import-file`.

use anyhow::{Context, Result};
use dyno_client::mysql::{FieldInsert, load_data};
use dyno_protocol::{FieldKind, FileColumn};
use dyno_runner::server::{Pieces, insert_records, insert_texts};
use dyno_runner::{ANY_ROWS, Extent, Failure, Import, in_transactions, insert_text, quote, whole_number};

use crate::session::Session;
use crate::variant::Variant;

impl Session {
    /// Imports by the variant.
    pub fn import_file(&self, import: &Import) -> Result<u64, Failure> {
        match self.variant {
            Variant::Text => insert_texts(self, import, br"'\"),
            Variant::Insert => self.insert_file(import, false),
            Variant::MultiRow => self.insert_file(import, true),
            Variant::LoadData => self.load_file(import),
            Variant::Array => Err(Failure::unsupported("import-file by this variant")),
        }
    }

    /// Prepared inserts.
    fn insert_file(&self, import: &Import, several: bool) -> Result<u64, Failure> {
        insert_records(
            self,
            import,
            several,
            |records| self.prepare_insert(import, records),
            |statement, place, fields| put(statement, place, fields, import.columns),
            |statement| {
                statement.execute()?;
                self.connection.check_warnings()
            },
        )
    }

    /// LOAD DATA LOCAL INFILE of the file as it is: the server splits the records, and takes no byte for an escape.
    fn load_file(&self, import: &Import) -> Result<u64, Failure> {
        let delimiter = match char::from(import.delimiter) {
            '\'' => "''".to_owned(),
            other => other.to_string(),
        };
        let fields = format!("FIELDS TERMINATED BY '{delimiter}' ESCAPED BY '' LINES TERMINATED BY '\\n' ");
        let sql = load_data::load_text(import.table, &fields, import.names())?;
        let mut pieces = Pieces::new(import);
        let extent = Extent { each: ANY_ROWS, ..import.into() };
        in_transactions(self, extent, |records| {
            let mut rest = pieces.take(records.end - records.start);
            Ok(load_data::load_rows(&self.connection, &sql, |buffer| {
                let (now, later) = rest.split_at(rest.len().min(buffer.len()));
                buffer[..now.len()].copy_from_slice(now);
                rest = later;
                Ok(now.len())
            })?)
        })
    }

    /// A prepared INSERT of some records.
    fn prepare_insert(&self, import: &Import, records: u64) -> Result<FieldInsert<'_>> {
        let sql = insert_text(import.table, import.names(), records, |_| "?".to_owned());
        let kinds: Vec<FieldKind> = import.columns.iter().map(|column| column.kind).collect();
        let prepared = FieldInsert::prepare(&self.connection, &sql, kinds.repeat(records as usize));
        prepared.with_context(|| format!("cannot prepare {}", quote(&sql)))
    }
}

/// Takes the fields of a record, the one at a place among those of the statement.
#[inline]
fn put(statement: &mut FieldInsert, record: usize, fields: &[&[u8]], columns: &[FileColumn]) -> Result<()> {
    for ((place, field), column) in (record * columns.len()..).zip(fields).zip(columns) {
        match column.kind {
            FieldKind::Text => statement.put_text(place, field)?,
            FieldKind::Integer => statement.put_integer(place, whole_number(field)?),
        }
    }
    Ok(())
}
