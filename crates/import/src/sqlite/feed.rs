//! The rows as a virtual table of SQLite, so that one `INSERT … SELECT` loads all of them: no statement
//! is bound, stepped and reset for each row, and a text is read where it lies in its batch.
//!
//! The statement says OR FAIL: a row that violates a constraint ends it and keeps the rows before. The feed stops at
//! that row then, and goes on behind it when the statement runs again.

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr;

use anyhow::{Error, Result};
use dyno_client::sqlite::api::{
    CONSTRAINT, DONE, ERROR, FunctionContext, INTERRUPT, Module, OK, STATIC, Sqlite3, Vtab, VtabCursor,
};
use dyno_client::sqlite::{Api, SqliteError};

use super::connection::Connection;
use crate::batch::{Batch, BatchCell};
use crate::error::{BadInput, Input};
use crate::pipeline::Rows;

/// The name of the virtual table in statements.
pub const NAME: &str = "dyno_rows";

/// The rows and where in them the statement is.
struct Feed<'a, 'b> {
    api: &'a Api,
    rows: &'a mut Rows<'b>,
    batch: Option<Batch>,
    /// The row of the batch.
    row: usize,
    /// Cells before it.
    base: usize,
    /// True if the row was refused, or is in, and is to be left behind.
    is_past: bool,
    /// The reason that no next row comes, if that is not the end.
    error: Option<Error>,
    /// The declaration of the table's columns.
    declaration: CString,
}

#[repr(C)]
struct Table {
    base: Vtab,
    feed: *mut Feed<'static, 'static>,
}

#[repr(C)]
struct Cursor {
    base: VtabCursor,
    feed: *mut Feed<'static, 'static>,
}

/// Runs `insert`, which selects from the virtual table, until all rows are in. How many there are is
/// counted by `rows`.
///
/// With `one_by_one`, the statement takes one row each time, so that SQLite judges each row's foreign keys alone.
pub fn load(
    connection: &Connection,
    columns: usize,
    insert: &str,
    one_by_one: bool,
    rows: &mut Rows,
) -> Result<()> {
    let (client, api) = (connection.client(), connection.client().api());
    let names: Vec<String> = (0..columns).map(|column| format!("c{column}")).collect();
    let declaration = CString::new(format!("CREATE TABLE x({})", names.join(", ")))?;
    let mut feed = Feed { api, rows, batch: None, row: 0, base: 0, is_past: false, error: None, declaration };
    let feed: *mut Feed = &mut feed;
    let name = CString::new(NAME)?;
    // SAFETY: module and feed outlive the statement, which is finalized below, and no other statement
    // names the table. The lifetimes are those of this function's arguments.
    let code = unsafe { (api.create_module)(client.raw(), name.as_ptr(), &MODULE, feed.cast::<c_void>()) };
    connection.check(code)?;
    // An error of SQLite here concerns the request, such as a key that is not unique.
    let statement = connection.prepare(insert).input()?;
    loop {
        // SAFETY: the statement is prepared.
        let code = unsafe { (api.step)(statement.raw()) };
        // SAFETY: the statement does not run, and while it does not nothing else uses the feed.
        if code == DONE && (!one_by_one || unsafe { (*feed).batch.is_none() }) {
            break;
        }
        if code == DONE {
            // SAFETY: as above; the row is in, and the next run begins behind it.
            unsafe {
                (api.reset)(statement.raw());
                (*feed).is_past = true;
            }
            continue;
        }
        let error = client.error(code);
        // SAFETY: the statement is prepared, and while it does not run nothing else uses the feed.
        unsafe {
            (api.reset)(statement.raw());
            (*feed).after(code, error)?;
        }
    }
    drop(statement);
    // SAFETY: a null module takes the old one, and the connected table with it, away.
    let code = unsafe { (api.create_module)(client.raw(), name.as_ptr(), ptr::null(), ptr::null_mut()) };
    connection.check(code)
}

impl Feed<'_, '_> {
    /// Judges what ended the statement: a refused row is rejected, all else is the import's end.
    fn after(&mut self, code: c_int, error: SqliteError) -> Result<()> {
        if let Some(cause) = self.error.take() {
            return Err(cause);
        }
        if code & 0xff == INTERRUPT {
            return Err(crate::error::Interrupted.into());
        }
        match &self.batch {
            Some(batch) if code & 0xff == CONSTRAINT => {
                self.rows.refuse(batch, self.row, format!("is refused: {}", error.message))?;
                self.is_past = true;
                Ok(())
            }
            None if code & 0xff == CONSTRAINT => {
                // Only what is judged when all rows are in.
                let context = "a row violates a constraint; nothing was loaded";
                Err(BadInput(Error::from(error).context(context)).into())
            }
            _ => Err(Error::from(error).context("SQLite cannot take the rows; nothing was loaded")),
        }
    }

    fn advance(&mut self) -> c_int {
        if let Some(batch) = &self.batch {
            self.row += 1;
            self.base += batch.columns;
            if self.row < batch.rows() {
                return OK;
            }
        }
        if let Some(batch) = self.batch.take() {
            self.rows.recycle(batch);
        }
        (self.row, self.base) = (0, 0);
        match self.rows.batch() {
            Ok(batch) => {
                self.batch = batch;
                OK
            }
            Err(error) => {
                self.error = Some(error.context("while rows were inserted"));
                ERROR
            }
        }
    }
}

static MODULE: Module = Module {
    version: 0,
    // None: the only table has the module's name, and is in no schema.
    create: None,
    connect: Some(connect),
    best_index: Some(best_index),
    disconnect: Some(disconnect),
    destroy: None,
    open: Some(open),
    close: Some(close),
    filter: Some(filter),
    next: Some(next),
    eof: Some(eof),
    column: Some(column),
    rowid: Some(rowid),
    unused: [None; 12],
};

unsafe extern "C" fn connect(
    db: *mut Sqlite3,
    feed: *mut c_void,
    _: c_int,
    _: *const *const c_char,
    table: *mut *mut Vtab,
    _: *mut *mut c_char,
) -> c_int {
    let feed = feed.cast::<Feed>();
    // SAFETY: SQLite gives back what the module was made with, which lives longer than the table.
    unsafe {
        let code = ((*feed).api.declare_vtab)(db, (*feed).declaration.as_ptr());
        if code == OK {
            *table = Box::into_raw(Box::new(Table { base: Vtab::new(), feed })).cast();
        }
        code
    }
}

unsafe extern "C" fn best_index(_: *mut Vtab, _: *mut c_void) -> c_int {
    // There is one way, from the first row to the last.
    OK
}

unsafe extern "C" fn disconnect(table: *mut Vtab) -> c_int {
    // SAFETY: `connect` made it, and SQLite uses it no more.
    drop(unsafe { Box::from_raw(table.cast::<Table>()) });
    OK
}

unsafe extern "C" fn open(table: *mut Vtab, cursor: *mut *mut VtabCursor) -> c_int {
    // SAFETY: the table is one that `connect` made.
    unsafe {
        let feed = (*table.cast::<Table>()).feed;
        *cursor = Box::into_raw(Box::new(Cursor { base: VtabCursor { table }, feed })).cast();
    }
    OK
}

unsafe extern "C" fn close(cursor: *mut VtabCursor) -> c_int {
    // SAFETY: `open` made it, and SQLite uses it no more.
    drop(unsafe { Box::from_raw(cursor.cast::<Cursor>()) });
    OK
}

/// The feed of a cursor, to be used until the next call.
///
/// # Safety
/// The cursor is one that `open` made, while its statement runs.
#[inline]
unsafe fn feed<'a>(cursor: *mut VtabCursor) -> &'a mut Feed<'static, 'static> {
    // SAFETY: as the caller promises: one thread, and SQLite makes one call at a time.
    unsafe { &mut *(*cursor.cast::<Cursor>()).feed }
}

unsafe extern "C" fn filter(
    cursor: *mut VtabCursor,
    _: c_int,
    _: *const c_char,
    _: c_int,
    _: *mut *mut c_void,
) -> c_int {
    // SAFETY: SQLite calls it with an open cursor.
    let feed = unsafe { feed(cursor) };
    if feed.batch.is_none() || std::mem::take(&mut feed.is_past) { feed.advance() } else { OK }
}

unsafe extern "C" fn next(cursor: *mut VtabCursor) -> c_int {
    // SAFETY: SQLite calls it with an open cursor.
    unsafe { feed(cursor) }.advance()
}

unsafe extern "C" fn eof(cursor: *mut VtabCursor) -> c_int {
    // SAFETY: SQLite calls it with an open cursor.
    unsafe { feed(cursor) }.batch.is_none().into()
}

unsafe extern "C" fn column(cursor: *mut VtabCursor, context: *mut FunctionContext, column: c_int) -> c_int {
    // SAFETY: SQLite calls it with an open cursor that is at a row, and a column of the declaration. A
    // text stays where it is until the next row, by which time SQLite has written the record.
    unsafe {
        let feed = feed(cursor);
        let Some(batch) = &feed.batch else { return ERROR };
        match batch.cells[feed.base + column as usize] {
            BatchCell::Integer(number) => (feed.api.result_int64)(context, number),
            BatchCell::Text(start, length) => {
                let text = batch.text_of(start, length).as_ptr().cast();
                (feed.api.result_text)(context, text, length as c_int, STATIC);
            }
            BatchCell::Real(number) => (feed.api.result_double)(context, number),
            BatchCell::Null => (feed.api.result_null)(context),
        }
    }
    OK
}

unsafe extern "C" fn rowid(cursor: *mut VtabCursor, rowid: *mut i64) -> c_int {
    // SAFETY: SQLite calls it with an open cursor and a place for the number.
    unsafe { *rowid = feed(cursor).row as i64 };
    OK
}
