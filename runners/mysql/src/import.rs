//! Files of records into a table: the model `import-file`.

use std::ffi::c_ulong;

use anyhow::{Result, bail};
use dyno_protocol::FieldKind;
use dyno_runner::server::{Pieces, in_transactions, insert_records, insert_text, insert_texts};
use dyno_runner::{Failure, Import, whole_number};

use crate::api::{Bind, LONG, STRING};
use crate::connection::Connection;
use crate::infile;
use crate::load::Way;
use crate::statement::Statement;

/// The room of a field at first, in bytes.
const ROOM: usize = 32;

impl Connection {
    /// Imports by the variant's way.
    pub fn import_file(&self, import: &Import) -> Result<u64, Failure> {
        match self.way {
            Way::Text => insert_texts(self, import, br"'\"),
            Way::Insert => self.insert_file(import, false),
            Way::MultiRow => self.insert_file(import, true),
            Way::LoadData => self.load_file(import),
            Way::Array => Err(Failure::unsupported("import-file by this variant")),
        }
    }

    /// Prepared inserts.
    fn insert_file(&self, import: &Import, several: bool) -> Result<u64, Failure> {
        insert_records(
            self,
            import,
            several,
            |records| FieldInsert::prepare(self, import, records),
            |statement, place, fields| statement.take(place, fields),
            |statement| {
                statement.execute()?;
                self.check_warnings()
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
        let sql = infile::load_text(import.table, &fields, import.names())?;
        let mut pieces = Pieces::new(import);
        in_transactions(self, import.into(), |records| {
            let mut rest = pieces.take(records.end - records.start);
            Ok(infile::load_rows(self, &sql, |buffer| {
                let (now, later) = rest.split_at(rest.len().min(buffer.len()));
                buffer[..now.len()].copy_from_slice(now);
                rest = later;
                Ok(now.len())
            })?)
        })
    }
}

/// A prepared INSERT of some records, whose fields it takes from a place of its own, as the library is told once
/// where values lie.
struct FieldInsert {
    statement: Statement,
    kinds: Vec<FieldKind>,
    /// The fields, one after another, each with as much room.
    bytes: Vec<u8>,
    room: usize,
    /// How long each is.
    lengths: Vec<c_ulong>,
}

impl FieldInsert {
    fn prepare(connection: &Connection, import: &Import, records: u64) -> Result<FieldInsert> {
        let sql = insert_text(import.table, import.names(), records, |_| "?".to_owned());
        let fields = records as usize * import.columns.len();
        let mut prepared = FieldInsert {
            statement: Statement::prepare(connection, &sql)?,
            kinds: import.columns.iter().map(|column| column.kind).collect(),
            bytes: vec![0; fields * ROOM],
            room: ROOM,
            lengths: vec![0; fields],
        };
        prepared.bind()?;
        Ok(prepared)
    }

    fn bind(&mut self) -> Result<()> {
        let (bytes, lengths) = (&self.bytes, &self.lengths);
        let kinds = self.kinds.iter().cycle();
        let bind = |((field, length), kind): ((&[u8], &c_ulong), &FieldKind)| {
            let kind = if *kind == FieldKind::Integer { LONG } else { STRING };
            Bind::new(kind, field.as_ptr().cast(), length)
        };
        let mut binds: Vec<Bind> = bytes.chunks(self.room).zip(lengths).zip(kinds).map(bind).collect();
        // SAFETY: there is one for each parameter; the fields and their lengths keep their places until they are
        // bound anew.
        unsafe { self.statement.bind(&mut binds) }
    }

    /// Takes the fields of a record, the one at a place among those of the statement.
    #[inline]
    fn take(&mut self, record: usize, fields: &[&[u8]]) -> Result<()> {
        for (column, field) in fields.iter().enumerate() {
            let place = record * fields.len() + column;
            if self.kinds[column] == FieldKind::Integer {
                let number = whole_number::<i32>(field)?.to_ne_bytes();
                self.put(place, &number);
                continue;
            }
            if field.len() > self.room {
                self.grow(field.len())?;
            }
            self.put(place, field);
        }
        Ok(())
    }

    #[inline]
    fn put(&mut self, place: usize, bytes: &[u8]) {
        self.bytes[place * self.room..][..bytes.len()].copy_from_slice(bytes);
        self.lengths[place] = bytes.len() as c_ulong;
    }

    /// Makes room for longer fields, and keeps those that it has.
    #[cold]
    fn grow(&mut self, longest: usize) -> Result<()> {
        let room = longest.next_power_of_two();
        let Some(size) = self.lengths.len().checked_mul(room) else { bail!("a field is too long") };
        let mut bytes = vec![0; size];
        for (new, old) in bytes.chunks_mut(room).zip(self.bytes.chunks(self.room)) {
            new[..old.len()].copy_from_slice(old);
        }
        (self.bytes, self.room) = (bytes, room);
        self.bind()
    }

    /// Inserts as many records as it is for.
    #[inline]
    fn execute(&mut self) -> Result<()> {
        // The library reads them through the pointers that it was given.
        std::hint::black_box((&mut self.bytes, &mut self.lengths));
        self.statement.execute()
    }
}
