//! The functions of libpq that the runner calls, resolved once into a table.
//!
//! See <https://www.postgresql.org/docs/current/libpq.html>; the names lack `PQ` and the types are its own.

use std::ffi::{c_char, c_int, c_uint, c_void};

use anyhow::{Context, Result};
use libloading::os::unix::Library;

/// A connection, opaque.
#[repr(C)]
pub struct Conn {
    _opaque: [u8; 0],
}

/// A result, opaque.
#[repr(C)]
pub struct PgResult {
    _opaque: [u8; 0],
}

/// What hears the server's notices.
pub type NoticeReceiver = unsafe extern "C" fn(*mut c_void, *const PgResult);

/// State of a connection: it can be used.
pub const CONNECTION_OK: c_int = 0;

/// State of a result: the statement was empty.
pub const EMPTY_QUERY: c_int = 0;
/// State of a result: done, without rows.
pub const COMMAND_OK: c_int = 1;
/// State of a result: done, with rows, perhaps none.
pub const TUPLES_OK: c_int = 2;
/// State of a result: the statement failed.
pub const FATAL_ERROR: c_int = 7;

/// State of a result: the server waits for rows.
pub const COPY_IN: c_int = 4;

/// Field of an error: its five-letter code.
pub const DIAG_SQLSTATE: c_int = b'C' as c_int;
/// Field of an error: the message itself.
pub const DIAG_PRIMARY: c_int = b'M' as c_int;
/// Field of an error: more on what happened.
pub const DIAG_DETAIL: c_int = b'D' as c_int;
/// Field of an error: what to do about it.
pub const DIAG_HINT: c_int = b'H' as c_int;

/// Declares the table and how to fill it. The list is the whole of what a library must offer.
macro_rules! table {
    ($($name:ident = $symbol:literal: fn($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The table. Calling an entry is as unsafe as calling the C function.
        pub struct Api {
            $(
                #[doc = concat!("`", $symbol, "`")]
                pub $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,
            )*
            /// Keeps the functions in memory.
            _library: Library,
        }

        impl Api {
            /// Looks every function up; the error names the one that is missing.
            pub fn resolve(library: Library) -> Result<Api> {
                // SAFETY: these are the signatures of libpq's header. A library that has functions of
                // these names with others is not libpq.
                unsafe { Ok(Api { $($name: symbol(&library, $symbol)?,)* _library: library }) }
            }
        }
    };
}

table! {
    lib_version = "PQlibVersion": fn() -> c_int;
    connectdb_params = "PQconnectdbParams": fn(*const *const c_char, *const *const c_char, c_int) -> *mut Conn;
    finish = "PQfinish": fn(*mut Conn);
    status = "PQstatus": fn(*const Conn) -> c_int;
    error_message = "PQerrorMessage": fn(*const Conn) -> *const c_char;
    server_version = "PQserverVersion": fn(*const Conn) -> c_int;
    ssl_in_use = "PQsslInUse": fn(*mut Conn) -> c_int;
    set_notice_receiver = "PQsetNoticeReceiver":
        fn(*mut Conn, NoticeReceiver, *mut c_void) -> Option<NoticeReceiver>;
    exec = "PQexec": fn(*mut Conn, *const c_char) -> *mut PgResult;
    result_status = "PQresultStatus": fn(*const PgResult) -> c_int;
    result_error_field = "PQresultErrorField": fn(*const PgResult, c_int) -> *const c_char;
    put_copy_data = "PQputCopyData": fn(*mut Conn, *const c_char, c_int) -> c_int;
    put_copy_end = "PQputCopyEnd": fn(*mut Conn, *const c_char) -> c_int;
    get_result = "PQgetResult": fn(*mut Conn) -> *mut PgResult;
    clear = "PQclear": fn(*mut PgResult);
    cmd_tuples = "PQcmdTuples": fn(*mut PgResult) -> *const c_char;
    ntuples = "PQntuples": fn(*const PgResult) -> c_int;
    nfields = "PQnfields": fn(*const PgResult) -> c_int;
    ftype = "PQftype": fn(*const PgResult, c_int) -> c_uint;
    getvalue = "PQgetvalue": fn(*const PgResult, c_int, c_int) -> *const c_char;
    getlength = "PQgetlength": fn(*const PgResult, c_int, c_int) -> c_int;
    getisnull = "PQgetisnull": fn(*const PgResult, c_int, c_int) -> c_int;
}

/// One function of a library.
///
/// # Safety
/// `T` is the function's type.
unsafe fn symbol<T: Copy>(library: &Library, name: &str) -> Result<T> {
    // SAFETY: as the caller promises.
    let found = unsafe { library.get::<T>(name) };
    found.map(|symbol| *symbol).with_context(|| {
        format!("it has no function {name}: it is not libpq, or one too old (that of PostgreSQL 9.5 will do)")
    })
}
