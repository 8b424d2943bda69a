//! The functions of MySQL's C API that are called, resolved once into a table.
//!
//! See <https://mariadb.com/kb/en/mariadb-connector-c/>; the names lack `mysql_` and the types are its own.
//! libmariadb and libmysqlclient have the same functions and differ in the numbers of some options.

use std::ffi::{c_char, c_int, c_uint, c_ulong, c_void};
use std::ptr;

/// A connection, opaque.
#[repr(C)]
pub struct Mysql {
    _opaque: [u8; 0],
}

/// A result, opaque.
#[repr(C)]
pub struct Res {
    _opaque: [u8; 0],
}

/// A prepared statement, opaque.
#[repr(C)]
pub struct Stmt {
    _opaque: [u8; 0],
}

/// The address of a parameter's or a result's value. Both libraries publish this layout, because programs fill it in.
#[repr(C)]
pub struct Bind {
    /// The value's length; with [`ATTR_ARRAY_SIZE`] the first of an array with one length for each row.
    pub length: *const c_ulong,
    is_null: *mut c_char,
    /// The value; with [`ATTR_ARRAY_SIZE`] the first of an array with one pointer for each row.
    pub buffer: *const c_void,
    error: *mut c_char,
    internal: [*mut c_void; 4],
    buffer_length: c_ulong,
    more_internal: [c_ulong; 2],
    numbers: [c_uint; 2],
    /// The type, as in `enum_field_types`.
    pub kind: c_uint,
    flags: [c_char; 4],
    extension: *mut c_void,
}

impl Bind {
    /// A value of a type.
    pub fn new(kind: c_uint, buffer: *const c_void, length: *const c_ulong) -> Bind {
        Bind {
            length,
            is_null: ptr::null_mut(),
            buffer,
            error: ptr::null_mut(),
            internal: [ptr::null_mut(); 4],
            buffer_length: 0,
            more_internal: [0; 2],
            numbers: [0; 2],
            kind,
            flags: [0; 4],
            extension: ptr::null_mut(),
        }
    }

    /// A buffer of `room` bytes for one value of a result.
    pub fn result(
        kind: c_uint,
        buffer: *mut c_void,
        room: c_ulong,
        length: *mut c_ulong,
        is_null: *mut c_char,
    ) -> Bind {
        Bind { is_null, buffer_length: room, ..Bind::new(kind, buffer, length) }
    }
}

/// Opens the file that LOAD DATA LOCAL asks for. A result other than 0 reports that there is no such file.
pub type InfileInit = unsafe extern "C" fn(*mut *mut c_void, *const c_char, *mut c_void) -> c_int;
/// Reads into a buffer of the given size and returns the number of bytes, 0 at the end.
pub type InfileRead = unsafe extern "C" fn(*mut c_void, *mut c_char, c_uint) -> c_int;
/// Closes the file.
pub type InfileEnd = unsafe extern "C" fn(*mut c_void);
/// Writes the error message into a buffer of the given size and returns the error's number.
pub type InfileError = unsafe extern "C" fn(*mut c_void, *mut c_char, c_uint) -> c_int;

/// A column of a result. Both libraries lay it out so, as programs read it directly.
#[repr(C)]
pub struct Field {
    names: [*const c_char; 7],
    lengths: [c_ulong; 2],
    name_lengths: [c_uint; 7],
    /// Attributes of the column, as bits; see `UNSIGNED` in `column`.
    pub flags: c_uint,
    decimals: c_uint,
    /// The number of the collation; 63 for bytes.
    pub charset: c_uint,
    /// The type.
    pub kind: c_uint,
    extension: *mut c_void,
}

/// Flag of a connection: an UPDATE counts the rows that it found, also those that it left as they were.
pub const CLIENT_FOUND_ROWS: c_ulong = 2;

/// Option: seconds to wait for a connection, an `unsigned int`.
pub const OPT_CONNECT_TIMEOUT: c_int = 0;
/// Option: the connection's character set, a string.
pub const SET_CHARSET_NAME: c_int = 7;
/// Option: whether LOAD DATA LOCAL is allowed, an `unsigned int`.
pub const OPT_LOCAL_INFILE: c_int = 8;
/// Option: how to connect, an `unsigned int`.
pub const OPT_PROTOCOL: c_int = 9;
/// Option of libmariadb only: calls need not block, and have a stack of this many bytes, a `size_t`.
pub const OPT_NONBLOCK: c_int = 6000;
/// Transport: TCP, also to `localhost`.
pub const PROTOCOL_TCP: c_uint = 1;
/// Transport: a socket in the file system.
pub const PROTOCOL_SOCKET: c_uint = 2;

/// Attribute of a statement, of libmariadb only: how many rows one execution inserts, an `unsigned int`.
pub const ATTR_ARRAY_SIZE: c_int = 201;
/// Type: a whole number of 32 bits.
pub const LONG: c_uint = 3;
/// Type: a number of floating point of 64 bits.
pub const DOUBLE: c_uint = 5;
/// Type: NULL.
pub const NULL: c_uint = 6;
/// Type: a whole number of 64 bits.
pub const LONGLONG: c_uint = 8;
/// Type: bytes.
pub const BLOB: c_uint = 252;
/// Type: text.
pub const STRING: c_uint = 254;
/// Result of a fetch: at least one value was longer than its buffer.
pub const TRUNCATED: c_int = 101;
/// Result of a fetch: there are no more rows.
pub const NO_DATA: c_int = 100;

/// The two client libraries, which number some options differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// libmariadb.
    MariaDb,
    /// libmysqlclient of MySQL 8.0 and later.
    MySql,
}

dyno_library::functions! {
    /// The functions of the client library.
    Api of "a client library of MariaDB or MySQL", "mysql_" {
        get_client_info: fn() -> *const c_char;
        init: fn(*mut Mysql) -> *mut Mysql;
        options: fn(*mut Mysql, c_int, *const c_void) -> c_int;
        real_connect: fn(
            *mut Mysql, *const c_char, *const c_char, *const c_char, *const c_char, c_uint, *const c_char, c_ulong
        ) -> *mut Mysql;
        close: fn(*mut Mysql);
        errno: fn(*mut Mysql) -> c_uint;
        error: fn(*mut Mysql) -> *const c_char;
        sqlstate: fn(*mut Mysql) -> *const c_char;
        get_ssl_cipher: fn(*mut Mysql) -> *const c_char;
        real_escape_string: fn(*mut Mysql, *mut c_char, *const c_char, c_ulong) -> c_ulong;
        real_query: fn(*mut Mysql, *const c_char, c_ulong) -> c_int;
        store_result: fn(*mut Mysql) -> *mut Res;
        use_result: fn(*mut Mysql) -> *mut Res;
        more_results: fn(*mut Mysql) -> c_char;
        next_result: fn(*mut Mysql) -> c_int;
        field_count: fn(*mut Mysql) -> c_uint;
        affected_rows: fn(*mut Mysql) -> u64;
        warning_count: fn(*mut Mysql) -> c_uint;
        num_fields: fn(*mut Res) -> c_uint;
        fetch_fields: fn(*mut Res) -> *const Field;
        fetch_row: fn(*mut Res) -> *const *const c_char;
        fetch_lengths: fn(*mut Res) -> *const c_ulong;
        free_result: fn(*mut Res);
        set_local_infile_handler: fn(*mut Mysql, InfileInit, InfileRead, InfileEnd, InfileError, *mut c_void);
        stmt_init: fn(*mut Mysql) -> *mut Stmt;
        stmt_prepare: fn(*mut Stmt, *const c_char, c_ulong) -> c_int;
        stmt_param_count: fn(*mut Stmt) -> c_ulong;
        stmt_attr_set: fn(*mut Stmt, c_int, *const c_void) -> c_char;
        stmt_bind_param: fn(*mut Stmt, *mut Bind) -> c_char;
        stmt_execute: fn(*mut Stmt) -> c_int;
        stmt_field_count: fn(*mut Stmt) -> c_uint;
        stmt_bind_result: fn(*mut Stmt, *mut Bind) -> c_char;
        stmt_fetch: fn(*mut Stmt) -> c_int;
        stmt_fetch_column: fn(*mut Stmt, *mut Bind, c_uint, c_ulong) -> c_int;
        stmt_result_metadata: fn(*mut Stmt) -> *mut Res;
        stmt_store_result: fn(*mut Stmt) -> c_int;
        stmt_free_result: fn(*mut Stmt) -> c_char;
        stmt_errno: fn(*mut Stmt) -> c_uint;
        stmt_error: fn(*mut Stmt) -> *const c_char;
        stmt_sqlstate: fn(*mut Stmt) -> *const c_char;
        stmt_close: fn(*mut Stmt) -> c_char;
    }
    optional {
        // Only libmariadb has it.
        get_infov = "mariadb_get_infov": fn();
        real_query_start = "mysql_real_query_start": fn(*mut c_int, *mut Mysql, *const c_char, c_ulong) -> c_int;
        real_query_cont = "mysql_real_query_cont": fn(*mut c_int, *mut Mysql, c_int) -> c_int;
        store_result_start = "mysql_store_result_start": fn(*mut *mut Res, *mut Mysql) -> c_int;
        store_result_cont = "mysql_store_result_cont": fn(*mut *mut Res, *mut Mysql, c_int) -> c_int;
        next_result_start = "mysql_next_result_start": fn(*mut c_int, *mut Mysql) -> c_int;
        next_result_cont = "mysql_next_result_cont": fn(*mut c_int, *mut Mysql, c_int) -> c_int;
        stmt_execute_start = "mysql_stmt_execute_start": fn(*mut c_int, *mut Stmt) -> c_int;
        stmt_execute_cont = "mysql_stmt_execute_cont": fn(*mut c_int, *mut Stmt, c_int) -> c_int;
        stmt_store_result_start = "mysql_stmt_store_result_start": fn(*mut c_int, *mut Stmt) -> c_int;
        stmt_store_result_cont = "mysql_stmt_store_result_cont": fn(*mut c_int, *mut Stmt, c_int) -> c_int;
        real_connect_start = "mysql_real_connect_start": fn(
            *mut *mut Mysql, *mut Mysql, *const c_char, *const c_char, *const c_char, *const c_char, c_uint,
            *const c_char, c_ulong
        ) -> c_int;
        real_connect_cont = "mysql_real_connect_cont": fn(*mut *mut Mysql, *mut Mysql, c_int) -> c_int;
        get_socket = "mysql_get_socket": fn(*mut Mysql) -> c_int;
        get_timeout_value_ms = "mysql_get_timeout_value_ms": fn(*mut Mysql) -> c_uint;
    }
}

impl Api {
    /// The family of the loaded library.
    pub fn family(&self) -> Family {
        if self.get_infov.is_some() { Family::MariaDb } else { Family::MySql }
    }
}
