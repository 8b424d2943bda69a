//! Prepared inserts whose parameters are bound once, to buffers that keep their address.

use std::ffi::{c_uint, c_ulong, c_void};
use std::ptr;

use anyhow::{Context, Result, bail, ensure};
use dyno_protocol::FieldKind;

use super::api::{ATTR_ARRAY_SIZE, Bind, LONG, STRING};
use super::connection::Connection;
use super::statement::Statement;

/// The room of a field at first, in bytes.
const ROOM: usize = 32;

/// A statement whose parameters are texts of fixed widths. It takes all of them at once and copies them into its buffer.
pub struct CellInsert<'c> {
    statement: Statement<'c>,
    cells: Vec<u8>,
    /// The lengths that the statement is bound to: they must outlive it.
    _lengths: Vec<c_ulong>,
}

impl<'c> CellInsert<'c> {
    /// Prepares one with a parameter of each of these widths, in bytes.
    pub fn prepare(connection: &'c Connection, sql: &str, widths: Vec<u64>) -> Result<CellInsert<'c>> {
        let statement = Statement::prepare(connection, sql)?;
        statement.check_parameters(widths.len())?;
        let cells: Vec<u8> = vec![0; widths.iter().sum::<u64>() as usize];
        let mut start = 0;
        let bind = |length: &c_ulong| {
            let cell = cells.as_ptr().wrapping_add(start);
            start += *length as usize;
            Bind::new(STRING, cell.cast(), length)
        };
        let mut binds: Vec<Bind> = widths.iter().map(bind).collect();
        // SAFETY: there is one for each parameter; the cells and the lengths keep their places.
        unsafe { statement.bind(&mut binds)? };
        Ok(CellInsert { statement, cells, _lengths: widths })
    }

    /// Executes it with the values of all parameters one after another.
    ///
    /// # Panics
    /// `cells` has not exactly as many bytes as the widths come to.
    #[inline]
    pub fn execute(&mut self, cells: &[u8]) -> Result<()> {
        self.cells.copy_from_slice(cells);
        // The library reads them through the pointers that it was given.
        std::hint::black_box(&mut self.cells);
        self.statement.execute()
    }
}

/// A statement for one row that is executed for many at once, which MariaDB's protocol has.
pub struct ArrayInsert<'c> {
    statement: Statement<'c>,
    widths: Vec<u64>,
    /// The address of each row's cell, column by column.
    cells: Vec<Vec<*const c_void>>,
    /// The lengths that the statement is bound to: they must outlive it.
    _lengths: Vec<Vec<c_ulong>>,
}

impl<'c> ArrayInsert<'c> {
    /// Prepares an insert of `rows` rows at once, with a parameter of each of these widths, in bytes.
    pub fn prepare(
        connection: &'c Connection,
        sql: &str,
        widths: Vec<u64>,
        rows: u64,
    ) -> Result<ArrayInsert<'c>> {
        let statement = Statement::prepare(connection, sql)?;
        statement.check_parameters(widths.len())?;
        let set = statement.set(ATTR_ARRAY_SIZE, rows as c_uint);
        set.context("the client library does not insert arrays: libmariadb does")?;
        let lengths: Vec<_> = widths.iter().map(|width| vec![*width; rows as usize]).collect();
        let cells: Vec<_> = widths.iter().map(|_| vec![ptr::null(); rows as usize]).collect();
        let columns = cells.iter().zip(&lengths);
        let bind = |(cells, lengths): (&Vec<*const c_void>, &Vec<c_ulong>)| {
            Bind::new(STRING, cells.as_ptr().cast(), lengths.as_ptr())
        };
        let mut binds: Vec<Bind> = columns.map(bind).collect();
        // SAFETY: there is one for each parameter; the pointers and the lengths keep their places.
        unsafe { statement.bind(&mut binds)? };
        Ok(ArrayInsert { statement, widths, cells, _lengths: lengths })
    }

    /// Inserts the rows from where they lie in memory. Each row is its cells one after another.
    ///
    /// # Errors
    /// There are fewer rows, or the server refuses them.
    ///
    /// # Panics
    /// There are more, or one is shorter than the widths come to.
    pub fn execute<'r>(&mut self, rows: impl Iterator<Item = &'r [u8]>) -> Result<()> {
        let mut count = 0;
        for row in rows {
            let mut rest = row;
            for (cells, width) in self.cells.iter_mut().zip(&self.widths) {
                let (cell, after) = rest.split_at(*width as usize);
                cells[count] = cell.as_ptr().cast();
                rest = after;
            }
            count += 1;
        }
        ensure!(self.cells.first().is_none_or(|cells| cells.len() == count), "there are only {count} rows");
        std::hint::black_box(&mut self.cells);
        self.statement.execute()
    }
}

/// A statement whose parameters are texts of any length and whole numbers, which it takes one by one to a place of its
/// own.
pub struct FieldInsert<'c> {
    statement: Statement<'c>,
    kinds: Vec<FieldKind>,
    /// The fields, one after another, each with as much room.
    bytes: Vec<u8>,
    room: usize,
    /// The length of each field, in bytes.
    lengths: Vec<c_ulong>,
}

impl<'c> FieldInsert<'c> {
    /// Prepares one with a parameter of each of these kinds.
    pub fn prepare(connection: &'c Connection, sql: &str, kinds: Vec<FieldKind>) -> Result<FieldInsert<'c>> {
        let statement = Statement::prepare(connection, sql)?;
        statement.check_parameters(kinds.len())?;
        let (bytes, lengths) = (vec![0; kinds.len() * ROOM], vec![0; kinds.len()]);
        let mut prepared = FieldInsert { statement, kinds, bytes, room: ROOM, lengths };
        prepared.bind()?;
        Ok(prepared)
    }

    fn bind(&mut self) -> Result<()> {
        let (bytes, lengths) = (&self.bytes, &self.lengths);
        let bind = |((field, length), kind): ((&[u8], &c_ulong), &FieldKind)| {
            let kind = if *kind == FieldKind::Integer { LONG } else { STRING };
            Bind::new(kind, field.as_ptr().cast(), length)
        };
        let mut binds: Vec<Bind> = bytes.chunks(self.room).zip(lengths).zip(&self.kinds).map(bind).collect();
        // SAFETY: there is one for each parameter; the fields and their lengths keep their places until they are
        // bound anew.
        unsafe { self.statement.bind(&mut binds) }
    }

    /// Takes the text of a parameter, counted from zero.
    #[inline]
    pub fn put_text(&mut self, place: usize, text: &[u8]) -> Result<()> {
        if text.len() > self.room {
            self.grow(text.len())?;
        }
        self.put(place, text);
        Ok(())
    }

    /// Takes the number of a parameter, counted from zero.
    #[inline]
    pub fn put_integer(&mut self, place: usize, number: i32) {
        self.put(place, &number.to_ne_bytes());
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

    /// Executes it with the values that it took.
    #[inline]
    pub fn execute(&mut self) -> Result<()> {
        // The library reads them through the pointers that it was given.
        std::hint::black_box((&mut self.bytes, &mut self.lengths));
        self.statement.execute()
    }
}
