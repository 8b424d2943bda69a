//! The functions of SQLite's C API that dyno's programs call, resolved once into a table.
//!
//! See <https://sqlite.org/c3ref/funclist.html>; the names lack `sqlite3_` and the types are its own.

use std::ffi::{c_char, c_double, c_int, c_uchar, c_void};

/// A connection, opaque.
#[repr(C)]
pub struct Sqlite3 {
    _opaque: [u8; 0],
}

/// A prepared statement, opaque.
#[repr(C)]
pub struct Stmt {
    _opaque: [u8; 0],
}

/// A context in which a virtual table gives a value, opaque.
#[repr(C)]
pub struct FunctionContext {
    _opaque: [u8; 0],
}

/// A function that a connection calls while it waits for a lock, with the argument that it was given and the number of calls so
/// far. It returns 0 to end the wait.
pub type BusyHandler = Option<unsafe extern "C" fn(*mut c_void, c_int) -> c_int>;

/// A virtual table; an implementation's own struct begins with it.
#[repr(C)]
pub struct Vtab {
    module: *const Module,
    references: c_int,
    error: *mut c_char,
}

impl Vtab {
    /// As SQLite wants to get one.
    pub const fn new() -> Vtab {
        Vtab { module: std::ptr::null(), references: 0, error: std::ptr::null_mut() }
    }
}

impl Default for Vtab {
    fn default() -> Vtab {
        Vtab::new()
    }
}

/// A cursor of a virtual table; an implementation's own struct begins with it.
#[repr(C)]
pub struct VtabCursor {
    /// Set by SQLite after `open`.
    pub table: *mut Vtab,
}

/// Makes or connects a virtual table: connection, auxiliary data, arguments and their count, the table,
/// the error.
pub type Connect = unsafe extern "C" fn(
    *mut Sqlite3,
    *mut c_void,
    c_int,
    *const *const c_char,
    *mut *mut Vtab,
    *mut *mut c_char,
) -> c_int;

/// The methods of a virtual table (<https://sqlite.org/vtab.html>), as far as a read-only one needs them.
#[repr(C)]
#[allow(missing_docs)]
pub struct Module {
    pub version: c_int,
    pub create: Option<Connect>,
    pub connect: Option<Connect>,
    pub best_index: Option<unsafe extern "C" fn(*mut Vtab, *mut c_void) -> c_int>,
    pub disconnect: Option<unsafe extern "C" fn(*mut Vtab) -> c_int>,
    pub destroy: Option<unsafe extern "C" fn(*mut Vtab) -> c_int>,
    pub open: Option<unsafe extern "C" fn(*mut Vtab, *mut *mut VtabCursor) -> c_int>,
    pub close: Option<unsafe extern "C" fn(*mut VtabCursor) -> c_int>,
    pub filter:
        Option<unsafe extern "C" fn(*mut VtabCursor, c_int, *const c_char, c_int, *mut *mut c_void) -> c_int>,
    pub next: Option<unsafe extern "C" fn(*mut VtabCursor) -> c_int>,
    pub eof: Option<unsafe extern "C" fn(*mut VtabCursor) -> c_int>,
    pub column: Option<unsafe extern "C" fn(*mut VtabCursor, *mut FunctionContext, c_int) -> c_int>,
    pub rowid: Option<unsafe extern "C" fn(*mut VtabCursor, *mut i64) -> c_int>,
    /// Writing, transactions, functions, renaming, savepoints, shadow names, integrity: not implemented.
    pub unused: [Option<unsafe extern "C" fn()>; 12],
}

/// Result code: success.
pub const OK: c_int = 0;
/// Result code: an error of no other kind.
pub const ERROR: c_int = 1;
/// Result code: another connection has the database locked.
pub const BUSY: c_int = 5;
/// A table is locked by another connection of this process that shares its cache.
pub const LOCKED: c_int = 6;
/// Result code: no memory.
pub const NOMEM: c_int = 7;
/// Result code: interrupted.
pub const INTERRUPT: c_int = 9;
/// Result code: the disk is full.
pub const FULL: c_int = 13;
/// Result code: a constraint is violated.
pub const CONSTRAINT: c_int = 19;
/// Extended code: a name was removed, but its folder could not be synced.
pub const IOERR_DIR_FSYNC: c_int = 1290;

/// Result code of a step: a row is there.
pub const ROW: c_int = 100;
/// Result code of a step: the statement has ended.
pub const DONE: c_int = 101;

/// Type of a column's value.
pub const INTEGER: c_int = 1;
/// Type of a column's value.
pub const FLOAT: c_int = 2;
/// Type of a column's value.
pub const TEXT: c_int = 3;
/// Type of a column's value.
pub const BLOB: c_int = 4;

/// Lifetime of a text for `bind_text` and its like: valid until the next binding or reset.
pub const STATIC: *const c_void = std::ptr::null();
/// It is copied.
pub const TRANSIENT: *const c_void = std::ptr::without_provenance(usize::MAX);

/// Flags of `open_v2`: for reading and writing, and created if missing.
pub const OPEN_READWRITE_CREATE: c_int = 0x2 | 0x4;
/// Flags of `open_v2` (of SQLite 3.31): for reading and writing what is there, by a path on which no link is. What is
/// attached may be named by a URI.
pub const OPEN_READWRITE_UNLINKED: c_int = 0x2 | 0x40 | 0x0100_0000;

dyno_library::functions! {
    /// The functions of SQLite.
    Api of "SQLite, or one too old (3.6.18 of 2009 will do)", "sqlite3_" {
        initialize: fn() -> c_int;
        threadsafe: fn() -> c_int;
        libversion: fn() -> *const c_char;
        sourceid: fn() -> *const c_char;
        open_v2: fn(*const c_char, *mut *mut Sqlite3, c_int, *const c_char) -> c_int;
        close: fn(*mut Sqlite3) -> c_int;
        extended_result_codes: fn(*mut Sqlite3, c_int) -> c_int;
        errmsg: fn(*mut Sqlite3) -> *const c_char;
        busy_timeout: fn(*mut Sqlite3, c_int) -> c_int;
        busy_handler: fn(*mut Sqlite3, BusyHandler, *mut c_void) -> c_int;
        interrupt: fn(*mut Sqlite3);
        total_changes: fn(*mut Sqlite3) -> c_int;
        exec: fn(*mut Sqlite3, *const c_char, *const c_void, *mut c_void, *mut *mut c_char) -> c_int;
        prepare_v2: fn(*mut Sqlite3, *const c_char, c_int, *mut *mut Stmt, *mut *const c_char) -> c_int;
        bind_parameter_count: fn(*mut Stmt) -> c_int;
        bind_int64: fn(*mut Stmt, c_int, i64) -> c_int;
        bind_double: fn(*mut Stmt, c_int, c_double) -> c_int;
        bind_text: fn(*mut Stmt, c_int, *const c_char, c_int, *const c_void) -> c_int;
        bind_blob: fn(*mut Stmt, c_int, *const c_void, c_int, *const c_void) -> c_int;
        bind_null: fn(*mut Stmt, c_int) -> c_int;
        clear_bindings: fn(*mut Stmt) -> c_int;
        step: fn(*mut Stmt) -> c_int;
        reset: fn(*mut Stmt) -> c_int;
        finalize: fn(*mut Stmt) -> c_int;
        column_count: fn(*mut Stmt) -> c_int;
        column_type: fn(*mut Stmt, c_int) -> c_int;
        column_int64: fn(*mut Stmt, c_int) -> i64;
        column_double: fn(*mut Stmt, c_int) -> c_double;
        column_text: fn(*mut Stmt, c_int) -> *const c_uchar;
        column_blob: fn(*mut Stmt, c_int) -> *const c_void;
        column_bytes: fn(*mut Stmt, c_int) -> c_int;
        create_module: fn(*mut Sqlite3, *const c_char, *const Module, *mut c_void) -> c_int;
        declare_vtab: fn(*mut Sqlite3, *const c_char) -> c_int;
        result_null: fn(*mut FunctionContext);
        result_int64: fn(*mut FunctionContext, i64);
        result_double: fn(*mut FunctionContext, c_double);
        result_text: fn(*mut FunctionContext, *const c_char, c_int, *const c_void);
    }
    optional {
        // Since 3.37: counts beyond 2³¹.
        total_changes64: fn(*mut Sqlite3) -> i64;
        // In libraries that encrypt: gives a connection its key.
        key: fn(*mut Sqlite3, *const c_void, c_int) -> c_int;
        // In SQLite3 Multiple Ciphers alone: its version.
        multiple_ciphers = "sqlite3mc_version": fn() -> *const c_char;
    }
}
