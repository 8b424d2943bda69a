//! The shared part of all ways of importing files into a server.

use std::ffi::CStr;

use anyhow::{Context, Result};
use memchr::memchr_iter;

use super::Client;
use crate::inserts::{Extent, column_list, in_transactions, insert, rows_per_statement};
use crate::{Answer, Failure, Import};

/// Inserts each record by the text of a statement with its values in it, all of them between quotes. The bytes
/// of `doubled` are those that stand twice between quotes.
pub fn insert_texts<C: Client>(client: &C, import: &Import, doubled: &[u8]) -> Result<u64, Failure> {
    let head = format!("INSERT INTO {} ({}) VALUES (", import.table, column_list(import.names()));
    let mut sql = head.clone().into_bytes();
    let mut reader = import.reader();
    let mut answer = Answer::new();
    in_transactions(client, import.into(), |records| {
        let mut done = 0;
        for record in records {
            sql.truncate(head.len());
            for field in reader.expect()? {
                sql.push(b'\'');
                put(field, doubled, &mut sql);
                sql.extend_from_slice(b"',");
            }
            sql.pop();
            sql.extend_from_slice(b")\0");
            let text = CStr::from_bytes_with_nul(&sql).context("a field holds a NUL byte");
            let inserted = text.and_then(|text| client.execute(text, &mut answer));
            done += inserted.map_err(|error| Failure::at(record, error))?;
        }
        Ok(done)
    })
}

/// A field between quotes.
#[inline]
fn put(field: &[u8], doubled: &[u8], sql: &mut Vec<u8>) {
    for &byte in field {
        if doubled.contains(&byte) {
            sql.push(byte);
        }
        sql.push(byte);
    }
}

/// Inserts the records by a prepared statement that takes one of them in a call, or `several`, as
/// [`insert`](crate::insert) does. `bind` takes the fields of the record at a place within the call.
pub fn insert_records<'a, C: Client, S>(
    client: &C,
    import: &Import<'a>,
    several: bool,
    prepare: impl Fn(u64) -> Result<S>,
    bind: impl Fn(&mut S, usize, &[&'a [u8]]) -> Result<()>,
    mut execute: impl FnMut(&mut S) -> Result<()>,
) -> Result<u64, Failure> {
    let group = if several { rows_per_statement(import.into(), import.columns.len()) } else { 1 };
    let extent = Extent { each: group, ..import.into() };
    let mut reader = import.reader();
    insert(client, extent, group, prepare, |statement, records| {
        for (place, record) in records.enumerate() {
            let bound = bind(statement, place, reader.expect()?);
            bound.map_err(|error| Failure::at(record, error))?;
        }
        Ok(execute(statement)?)
    })
}

/// The bytes of a file, transaction by transaction, for ways in which the server splits them.
#[derive(Debug)]
pub struct Pieces<'a> {
    rest: &'a [u8],
    left: u64,
}

impl<'a> Pieces<'a> {
    /// Those of an import.
    pub fn new(import: &Import<'a>) -> Pieces<'a> {
        Pieces { rest: import.bytes, left: import.records }
    }

    /// The bytes of the next `records` records. Only where others follow are line feeds looked for.
    pub fn take(&mut self, records: u64) -> &'a [u8] {
        let end = match records {
            0 => 0,
            _ if records >= self.left => self.rest.len(),
            _ => {
                memchr_iter(b'\n', self.rest).nth(records as usize - 1).map_or(self.rest.len(), |end| end + 1)
            }
        };
        let (piece, rest) = self.rest.split_at(end);
        self.rest = rest;
        self.left = self.left.saturating_sub(records);
        piece
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_whole_records() {
        let mut pieces = Pieces { rest: b"a\nbb\n\nd\n", left: 4 };
        assert_eq!([pieces.take(2), pieces.take(1), pieces.take(1)], [&b"a\nbb\n"[..], b"\n", b"d\n"]);
        assert!(pieces.take(1).is_empty());
    }

    #[test]
    fn quotes_within_quotes_stand_twice() {
        let mut sql = Vec::new();
        put(br"it's \ x", br"'\", &mut sql);
        assert_eq!(sql, br"it''s \\ x");
    }
}
