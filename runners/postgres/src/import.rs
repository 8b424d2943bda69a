//! Files of records into a table: the model `import-file`.

use std::ffi::CString;

use anyhow::{Error, Result};
use dyno_client::Sql;
use dyno_client::postgres::{Copy, Pipeline, Statement, copy_in};
use dyno_protocol::{FieldKind, FileColumn};
use dyno_runner::server::{Client, Pieces, insert_records, insert_texts};
use dyno_runner::{ANY_ROWS, Extent, Failure, Import, column_list, in_transactions, insert, whole_number};
use memchr::memchr2;

use crate::load::PIPELINE;
use crate::session::Session;
use crate::variant::Variant;

/// Bytes that are looked through for what must be escaped, and sent if nothing must be: so they are sent while
/// they are still in the processor's cache.
const PIECE: usize = 1 << 18;

impl Session {
    /// Imports by the variant.
    pub fn import_file(&self, import: &Import) -> Result<u64, Failure> {
        match self.variant {
            Variant::Text => insert_texts(self, import, b"'"),
            Variant::Insert => self.insert_file(import, false),
            Variant::MultiRow => self.insert_file(import, true),
            Variant::Pipeline => self.pipeline_file(import),
            Variant::Copy => self.copy_file(import, false),
            Variant::Freeze => self.copy_file(import, true),
        }
    }

    /// Prepared inserts, whose values lie in the file but for whole numbers, which are turned into such.
    fn insert_file(&self, import: &Import, several: bool) -> Result<u64, Failure> {
        insert_records(
            self,
            import,
            several,
            self.import_preparer(import),
            |statement, place, fields| bind(statement, place, fields, import.columns),
            |statement| statement.execute(&self.connection),
        )
    }

    /// The same, sent without waiting for the results of those before.
    fn pipeline_file<'a>(&self, import: &Import<'a>) -> Result<u64, Failure> {
        let pipeline = Pipeline::of(&self.connection)?;
        // One for each record, however many are left over.
        let mut prepared = self.import_preparer(import)(1)?;
        let mut reader = import.reader();
        insert(
            self,
            import.into(),
            PIPELINE,
            |_| Ok(()),
            |(), records| {
                let bind = |statement: &mut Statement<'a>, record| {
                    let bound = bind(statement, 0, reader.expect()?, import.columns);
                    bound.map_err(|error| Failure::at(record, error))
                };
                pipeline.execute(&mut prepared, records, bind, Failure::at)
            },
        )
    }

    fn import_preparer<'a, 'v>(
        &'a self,
        import: &'a Import<'v>,
    ) -> impl Fn(u64) -> Result<Statement<'v>> + 'a {
        let columns = import.columns.iter().map(|column| (column.name.as_str(), column.kind));
        move |rows| self.prepare_insert(import.table, columns.clone(), rows)
    }

    /// COPY FROM STDIN of the file as it is: the server splits the records. To freeze them, which spares a later
    /// visit to every row, the table must have been emptied in the same transaction: so that is done in the first
    /// one, of a table that is empty.
    fn copy_file(&self, import: &Import, freeze: bool) -> Result<u64, Failure> {
        let text = |sql: String| CString::new(sql).map_err(Error::from);
        let [plain, frozen] = [false, true].map(|freeze| text(copy_text(import, freeze)));
        let (plain, frozen) = (plain?, frozen?);
        let truncate = text(format!("TRUNCATE {}", import.table))?;
        let mut freezes =
            freeze && self.connection.rows(&format!("SELECT 1 FROM {} LIMIT 1", import.table))?.is_empty();
        let mut pieces = Pieces::new(import);
        let mut escaped = Vec::new();
        // To empty it and to fill it are two statements.
        let extent = Extent { each: if freeze { 0 } else { ANY_ROWS }, ..import.into() };
        in_transactions(self, extent, |records| {
            let sql = if std::mem::take(&mut freezes) {
                self.command(&truncate)?;
                &frozen
            } else {
                &plain
            };
            let bytes = pieces.take(records.end - records.start);
            Ok(copy_in(&self.connection, sql, |copy| {
                bytes.chunks(PIECE).try_for_each(|piece| send(copy, piece, &mut escaped))
            })?)
        })
    }
}

/// Takes the fields of a record, the one at a place among those of the statement.
#[inline]
fn bind<'v>(
    statement: &mut Statement<'v>,
    record: usize,
    fields: &[&'v [u8]],
    columns: &[FileColumn],
) -> Result<()> {
    for ((place, field), column) in (record * columns.len()..).zip(fields).zip(columns) {
        match column.kind {
            FieldKind::Text => statement.bind_text(place, field),
            FieldKind::Integer => statement.bind_integer(place, whole_number(field)?),
        }
    }
    Ok(())
}

fn copy_text(import: &Import, freeze: bool) -> String {
    let mut options = vec!["FORMAT text".to_owned()];
    if import.delimiter != b'\t' {
        options.push(format!("DELIMITER '{}'", char::from(import.delimiter).to_string().replace('\'', "''")));
    }
    if freeze {
        options.push("FREEZE".to_owned());
    }
    let names = column_list(import.names());
    format!("COPY {} ({names}) FROM STDIN WITH ({})", import.table, options.join(", "))
}

/// Sends bytes of a file of which none is to mean more than itself: to COPY a backslash begins an escape, and a
/// carriage return may end a line.
#[inline]
fn send(copy: &Copy, bytes: &[u8], escaped: &mut Vec<u8>) -> Result<()> {
    if memchr2(b'\\', b'\r', bytes).is_none() {
        return copy.put(bytes);
    }
    escape(bytes, escaped);
    copy.put(escaped)
}

#[cold]
fn escape(bytes: &[u8], escaped: &mut Vec<u8>) {
    escaped.clear();
    for &byte in bytes {
        match byte {
            b'\\' => escaped.extend_from_slice(br"\\"),
            b'\r' => escaped.extend_from_slice(br"\r"),
            _ => escaped.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_copy_would_take_for_more_is_escaped() {
        let mut escaped = b"before".to_vec();
        escape(b"a\\N\tb\r\n", &mut escaped);
        assert_eq!(escaped, b"a\\\\N\tb\\r\n");
    }
}
