//! The rows as a virtual table of SQLite, so that one `INSERT … SELECT` loads all of them: no statement
//! is bound, stepped and reset for each row, and a text is read where it lies in its batch.
//!
//! A row that violates a constraint ends the statement, which keeps the rows before it or has none (see
//! `Sqlite::insertion`). The feed stops at that row then, and goes on behind it when the statement runs again.

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr;

use anyhow::{Error, Result, anyhow, ensure};
use dyno_client::sqlite::api::{
    CONSTRAINT, DONE, ERROR, FunctionContext, INTERRUPT, Module, OK, STATIC, Sqlite3, Vtab, VtabCursor,
};
use dyno_client::sqlite::{Api, SqliteError};

use super::connection::Connection;
use crate::batch::{Batch, BatchCell};
use crate::error::{BadInput, Input};
use crate::pipeline::Rows;

/// The name of the virtual table's module.
const NAME: &str = "dyno_rows";
/// The virtual table in statements. No table or view of the database can be meant: they are not in this schema, and
/// in a connection of dyno nothing else is.
pub const TABLE: &str = "temp.dyno_rows";

/// The error where a trigger refuses a row that it leaves in the table.
const KEPT: &str = "a trigger refuses a row by RAISE(FAIL), which leaves the row in the table: dyno can neither load nor \
    reject it; nothing was loaded. RAISE(ABORT) would take the row back";
/// The error where there is no longer a transaction that the rows behind a refused one could belong to.
const ROLLED_BACK: &str = "a trigger rolled the transaction back, and the rows before with it, so nothing was loaded: \
    leave out the row that it refuses, or have it say RAISE(ABORT)";

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
    /// True once all rows have been read.
    has_ended: bool,
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

/// The way in which rows are fed.
#[derive(Debug, Clone, Copy)]
pub struct Feeding {
    /// The columns of a row.
    pub columns: usize,
    /// True if the statement takes one row each time.
    pub one_by_one: bool,
    /// True if the rows that came to the table are counted, since its triggers may leave some out.
    pub counts: bool,
}

/// Runs `insert`, which selects from the virtual table, until all rows are in. `rows` counts them as they are taken;
/// returned is the number that came to the table, if that is counted.
pub fn load(connection: &Connection, insert: &str, feeding: Feeding, rows: &mut Rows) -> Result<Option<u64>> {
    let Feeding { columns, one_by_one, counts } = feeding;
    let (client, api) = (connection.client(), connection.client().api());
    let names: Vec<String> = (0..columns).map(|column| format!("c{column}")).collect();
    let declaration = CString::new(format!("CREATE TABLE x({})", names.join(", ")))?;
    let (batch, error) = (None, None);
    let mut feed =
        Feed { api, rows, batch, row: 0, base: 0, is_past: false, has_ended: false, error, declaration };
    let feed: *mut Feed = &mut feed;
    let name = CString::new(NAME)?;
    // SAFETY: module and feed outlive the statement, which is finalized below, and no other statement
    // names the table. The lifetimes are those of this function's arguments.
    let code = unsafe { (api.create_module)(client.raw(), name.as_ptr(), &MODULE, feed.cast::<c_void>()) };
    connection.check(code)?;
    // An error of SQLite here concerns the request, such as a key that is not unique.
    let statement = connection.prepare(insert).input()?;
    let mut inserted = counts.then_some(0);
    loop {
        // SAFETY: the statement is prepared.
        let code = unsafe { (api.step)(statement.raw()) };
        let error = (code != DONE).then(|| client.error(code));
        if let Some(inserted) = &mut inserted {
            // SAFETY: the statement is prepared; until it is reset its changes do not count.
            unsafe { (api.reset)(statement.raw()) };
            let changes: Option<u64> =
                connection.value("SELECT changes()")?.and_then(|count| count.parse().ok());
            *inserted += changes.unwrap_or(0);
            if error.is_some() && changes > Some(0) {
                return Err(anyhow!(KEPT)).input();
            }
        }
        // SAFETY: the statement does not run, and while it does not nothing else uses the feed.
        if code == DONE && (!one_by_one || unsafe { (*feed).batch.is_none() }) {
            break;
        }
        let Some(error) = error else {
            // SAFETY: as above; the row is in, and the next run begins behind it.
            unsafe {
                (api.reset)(statement.raw());
                (*feed).is_past = true;
            }
            continue;
        };
        // SAFETY: the statement is prepared, and while it does not run nothing else uses the feed.
        unsafe {
            (api.reset)(statement.raw());
            (*feed).after(code, error)?;
        }
        if !is_in_transaction(connection) {
            return Err(anyhow!(ROLLED_BACK)).input();
        }
    }
    drop(statement);
    // SAFETY: the statement is gone, and nothing else uses the feed.
    ensure!(unsafe { (*feed).has_ended }, "SQLite did not read all rows, which is a fault of dyno");
    // SAFETY: a null module takes the old one, and the connected table with it, away.
    let code = unsafe { (api.create_module)(client.raw(), name.as_ptr(), ptr::null(), ptr::null_mut()) };
    connection.check(code)?;
    Ok(inserted)
}

/// True while the connection has a transaction.
fn is_in_transaction(connection: &Connection) -> bool {
    // Only outside of one can one begin.
    let began = connection.execute("BEGIN").is_ok();
    if began {
        let _ = connection.execute("ROLLBACK");
    }
    !began
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
                self.has_ended = batch.is_none();
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
