//! The variants `pages` and `pages-parallel`: the records become the pages of a new file without SQLite, which then takes
//! the place of the database, as `dyno import` makes a new database.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result, anyhow, bail};
use dyno_client::sqlite::{Connection, quoted};
use dyno_protocol::{FieldKind, Value};
use dyno_runner::{Failure, Import, whole_number};
use memchr::{memchr, memchr_iter};
use sqlite_pages::{Database, Leaves, Object, PageSize, Pages, Placed, Records, TableTree};

use crate::text::text;

/// Bytes of records that a thread takes at once.
const PART: usize = 512 << 10;

/// The part of the file that is known before the records are read.
pub struct Schema {
    /// The name and the statement of each table, in order.
    tables: Vec<(String, String)>,
    /// Of each column of the table that is filled which field it takes; none: it is NULL.
    fields: Vec<Option<usize>>,
    size: PageSize,
    /// SQLite's version as the file's header has it.
    version: u32,
}

impl Schema {
    /// That of a database; none where it has more than tables, or the table takes other types than the fields have.
    pub fn read(connection: &Connection, import: &Import) -> Result<Option<Schema>> {
        let mut tables = Vec::new();
        for row in connection.rows(c"SELECT type, name, sql FROM sqlite_master ORDER BY rowid")? {
            match &row[..] {
                [Value::Text(kind), Value::Text(name), Value::Text(sql)] if kind == "table" => {
                    tables.push((name.clone(), sql.clone()));
                }
                _ => return Ok(None),
            }
        }
        let columns = connection.rows(&text(format!("PRAGMA table_info({})", quoted(import.table)))?)?;
        let mut fields = Vec::new();
        for row in columns {
            let [_, Value::Text(name), Value::Text(declared), _, _, key] = &row[..] else { return Ok(None) };
            let field = import.columns.iter().position(|column| column.name == *name);
            let is_fit = match field.map(|field| import.columns[field].kind) {
                Some(FieldKind::Integer) => declared == "INTEGER" && *key == Value::Integer(0),
                Some(FieldKind::Text) => declared == "TEXT" && *key == Value::Integer(0),
                None => declared == "INTEGER" || *key == Value::Integer(0),
            };
            if !is_fit {
                return Ok(None);
            }
            fields.push(field);
        }
        let [Value::Integer(size)] = connection.rows(c"PRAGMA page_size")?.concat()[..] else {
            bail!("SQLite does not report its page size");
        };
        let size = u32::try_from(size).ok().and_then(PageSize::new).context("no pages are so long")?;
        // 3.46.1 is 3046001.
        let version = connection.version();
        let numbers = version.split('.').filter_map(|part| part.parse::<u32>().ok()).chain([0, 0]).take(3);
        let version = numbers.fold(0, |number, part| number * 1000 + part);
        let is_there = tables.iter().any(|(name, _)| name == import.table);
        Ok(is_there.then_some(Schema { tables, fields, size, version }))
    }

    /// Writes the file with this number of threads, and returns the number of its rows.
    pub fn write(&self, place: &Path, import: &Import, threads: usize) -> Result<u64, Failure> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(place);
        let file: File = file.with_context(|| format!("cannot make {}", place.display()))?;
        let database = Database::new(&file, self.size);
        let parts = parts(import.bytes);
        let (next, placed) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
        let fill = || -> Result<(), Failure> {
            let (mut records, mut leaves) = (Records::default(), Leaves::new(database.pages()));
            while let Some((first, bytes)) = parts.get(next.fetch_add(1, Ordering::Relaxed)) {
                let part = Import { bytes, ..*import };
                let done = self.part(&part, *first, &mut records, &mut leaves, database.pages())?;
                placed.lock().unwrap_or_else(PoisonError::into_inner).insert(*first, done);
            }
            Ok(())
        };
        thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(fill)).collect();
            let own = fill();
            let crashed = |_| Err(Failure::from(anyhow!("a thread crashed")));
            others.into_iter().map(|other| other.join().unwrap_or_else(crashed)).fold(own, Result::and)
        })?;
        let (mut tree, mut rows) = (TableTree::default(), 0);
        for part in placed.into_inner().unwrap_or_else(PoisonError::into_inner).into_values() {
            rows += part.rows;
            tree.append(part, database.pages()).context("cannot write the table")?;
        }
        let mut trees = Some(tree);
        let mut objects = Vec::new();
        for (name, sql) in &self.tables {
            let tree = if name == import.table { trees.take() } else { None }.unwrap_or_default();
            let root = tree.finish(database.pages()).context("cannot write a table")?;
            objects.push(Object { kind: "table", name, table: name, root, sql: Some(sql) });
        }
        database.finish(&objects, self.version).context("cannot write the schema")?;
        Ok(rows)
    }

    /// Writes the rows of some records, of which the first has this number.
    fn part(
        &self,
        import: &Import,
        first: u64,
        records: &mut Records,
        leaves: &mut Leaves,
        pages: &Pages,
    ) -> Result<Placed, Failure> {
        records.clear();
        let mut reader = import.reader();
        let wrong = |error| Failure::at(first - 1, error);
        while let Some(fields) = reader.next()? {
            let mut row = records.begin(self.fields.len(), fields.iter().map(|field| field.len()).sum());
            for field in &self.fields {
                let Some(field) = *field else {
                    row.null();
                    continue;
                };
                match import.columns[field].kind {
                    FieldKind::Text => row.text(fields[field], 0, fields[field].len()),
                    FieldKind::Integer => row.integer(whole_number(fields[field]).map_err(wrong)?),
                }
            }
            let made = row.end().context("a record is too long")?;
            records.add(made);
        }
        for (number, record) in (first as i64..).zip(records.iter()) {
            leaves.push_record(number, record).context("cannot write a row")?;
        }
        Ok(leaves.place(pages).context("cannot write the table")?)
    }
}

/// The records cut into parts that end with one, each with the number of its first.
fn parts(mut bytes: &[u8]) -> Vec<(u64, &[u8])> {
    let (mut parts, mut first) = (Vec::new(), 1);
    while !bytes.is_empty() {
        let least = PART.min(bytes.len());
        let end = memchr(b'\n', &bytes[least - 1..]).map_or(bytes.len(), |end| least + end);
        let (part, rest) = bytes.split_at(end);
        parts.push((first, part));
        first += memchr_iter(b'\n', part).count() as u64;
        bytes = rest;
    }
    parts
}
