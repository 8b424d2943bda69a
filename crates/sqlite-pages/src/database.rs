//! The whole file: its header and its schema, which are written last.

use std::fs::File;
use std::os::unix::fs::FileExt;

use crate::error::Error;
use crate::leaves::Leaves;
use crate::pages::{PageSize, Pages};
use crate::record::Value;
use crate::table::{TableTree, empty_leaf};

/// Bytes of the file's header, before the first page's own (section 1.3 of the format).
const HEADER: usize = 100;

/// A row of `sqlite_schema`: a table or an index. An application learns from SQLite which rows a statement makes and
/// how they read: it executes the statement in a database in memory and reads the rows there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Object<'a> {
    /// `table` or `index`.
    pub kind: &'a str,
    /// Its name.
    pub name: &'a str,
    /// The table that it belongs to; a table's own name.
    pub table: &'a str,
    /// Its tree's root page.
    pub root: u32,
    /// The statement that makes it; None for an index that a constraint makes.
    pub sql: Option<&'a str>,
}

/// A database that is being written to an empty file.
pub struct Database<'a> {
    file: &'a File,
    pages: Pages<'a>,
}

impl<'a> Database<'a> {
    /// In an empty file, which may be read and written.
    pub fn new(file: &'a File, size: PageSize) -> Database<'a> {
        Database { file, pages: Pages::new(file, size) }
    }

    /// The pages that trees are written to.
    pub fn pages(&self) -> &Pages<'a> {
        &self.pages
    }

    /// Writes the schema and the header, after which the file is a database. `version` is SQLite's version number
    /// that the header names as the last writer's, such as 3046000. The file is not synced.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(self, objects: &[Object], version: u32) -> Result<(), Error> {
        let (pages, size) = (&self.pages, self.pages.size().bytes());
        // The header holds the number of pages, so it is written a second time at the end.
        let empty = [0; HEADER];
        let mut leaves = schema(Leaves::with_head(size, HEADER), objects)?;
        match leaves.count() {
            0 => pages.write(pages.first(), &empty_leaf(HEADER, size))?,
            1 => leaves.place_first(pages, &empty)?,
            _ => {
                let mut tree = TableTree::default();
                tree.append(schema(Leaves::new(pages), objects)?.place(pages)?, pages)?;
                tree.finish_first(pages, &empty)?;
            }
        }
        let last = pages.last();
        self.file.set_len(u64::from(last) * size as u64)?;
        self.file.write_all_at(&header(size, last, version), 0)?;
        Ok(())
    }
}

fn schema(mut leaves: Leaves, objects: &[Object]) -> Result<Leaves, Error> {
    for (number, object) in (1..).zip(objects) {
        let [kind, name, table] =
            [object.kind, object.name, object.table].map(|text| Value::Text(text.as_bytes()));
        let root = Value::Integer(object.root.into());
        let sql = object.sql.map_or(Value::Null, |sql| Value::Text(sql.as_bytes()));
        leaves.push(number, &[kind, name, table, root, sql])?;
    }
    Ok(leaves)
}

/// The file's header, field by field as section 1.3 lists them.
fn header(size: usize, pages: u32, version: u32) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    let mut put = |at: usize, bytes: &[u8]| header[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, b"SQLite format 3\0");
    // 65,536 is written as 1.
    put(16, &(if size == 65_536 { 1 } else { size as u16 }).to_be_bytes());
    // Rollback journal for reading and for writing; no reserved bytes; three fractions that are fixed.
    put(18, &[1, 1, 0, 64, 32, 32]);
    let change_counter = 1u32.to_be_bytes();
    put(24, &change_counter);
    put(28, &pages.to_be_bytes());
    let schema_cookie = 1u32.to_be_bytes();
    put(40, &schema_cookie);
    let schema_format = 4u32.to_be_bytes();
    put(44, &schema_format);
    let utf8 = 1u32.to_be_bytes();
    put(56, &utf8);
    // The number of pages is right as long as these two counters are the same.
    put(92, &change_counter);
    put(96, &version.to_be_bytes());
    header
}
