//! The functions of libpq that are called, resolved once into a table.
//!
//! See <https://www.postgresql.org/docs/current/libpq.html>; the names lack `PQ` and the types are its own.

use std::ffi::{c_char, c_int, c_uint, c_void};

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

/// Callback for the server's notices.
pub type NoticeReceiver = unsafe extern "C" fn(*mut c_void, *const PgResult);

/// State of a connection: it can be used.
pub const CONNECTION_OK: c_int = 0;

/// State of a result: the statement was empty.
pub const EMPTY_QUERY: c_int = 0;
/// State of a result: done, without rows.
pub const COMMAND_OK: c_int = 1;
/// State of a result: done, with zero or more rows.
pub const TUPLES_OK: c_int = 2;
/// State of a result: the server waits for the data of a COPY.
pub const COPY_IN: c_int = 4;
/// State of a result: the statement failed.
pub const FATAL_ERROR: c_int = 7;
/// State of a result: one row of several, in single-row mode.
pub const SINGLE_TUPLE: c_int = 9;
/// State of a result: the pipeline up to here is done.
pub const PIPELINE_SYNC: c_int = 10;

/// Field of an error: its five-letter code.
pub const DIAG_SQLSTATE: c_int = b'C' as c_int;
/// Field of an error: the message itself.
pub const DIAG_PRIMARY: c_int = b'M' as c_int;
/// Field of an error: more on what happened.
pub const DIAG_DETAIL: c_int = b'D' as c_int;
/// Field of an error: what to do about it.
pub const DIAG_HINT: c_int = b'H' as c_int;
/// Field of an error: where it happened, as the line of a COPY.
pub const DIAG_CONTEXT: c_int = b'W' as c_int;

dyno_library::functions! {
    /// The functions of libpq.
    Api of "libpq, or one too old (that of PostgreSQL 9.5 will do)", "" {
        lib_version = "PQlibVersion": fn() -> c_int;
        connectdb_params = "PQconnectdbParams": fn(*const *const c_char, *const *const c_char, c_int) -> *mut Conn;
        finish = "PQfinish": fn(*mut Conn);
        status = "PQstatus": fn(*const Conn) -> c_int;
        error_message = "PQerrorMessage": fn(*const Conn) -> *const c_char;
        server_version = "PQserverVersion": fn(*const Conn) -> c_int;
        ssl_in_use = "PQsslInUse": fn(*mut Conn) -> c_int;
        set_notice_receiver = "PQsetNoticeReceiver":
            fn(*mut Conn, NoticeReceiver, *mut c_void) -> Option<NoticeReceiver>;
        send_query = "PQsendQuery": fn(*mut Conn, *const c_char) -> c_int;
        get_result = "PQgetResult": fn(*mut Conn) -> *mut PgResult;
        set_nonblocking = "PQsetnonblocking": fn(*mut Conn, c_int) -> c_int;
        flush = "PQflush": fn(*mut Conn) -> c_int;
        is_busy = "PQisBusy": fn(*mut Conn) -> c_int;
        consume_input = "PQconsumeInput": fn(*mut Conn) -> c_int;
        socket = "PQsocket": fn(*const Conn) -> c_int;
        escape_string = "PQescapeStringConn":
            fn(*mut Conn, *mut c_char, *const c_char, usize, *mut c_int) -> usize;
        set_single_row_mode = "PQsetSingleRowMode": fn(*mut Conn) -> c_int;
        prepare = "PQprepare":
            fn(*mut Conn, *const c_char, *const c_char, c_int, *const c_uint) -> *mut PgResult;
        exec_prepared = "PQexecPrepared":
            fn(*mut Conn, *const c_char, c_int, *const *const c_char, *const c_int, *const c_int, c_int) -> *mut PgResult;
        send_query_prepared = "PQsendQueryPrepared":
            fn(*mut Conn, *const c_char, c_int, *const *const c_char, *const c_int, *const c_int, c_int) -> c_int;
        put_copy_data = "PQputCopyData": fn(*mut Conn, *const c_char, c_int) -> c_int;
        put_copy_end = "PQputCopyEnd": fn(*mut Conn, *const c_char) -> c_int;
        result_status = "PQresultStatus": fn(*const PgResult) -> c_int;
        result_error_field = "PQresultErrorField": fn(*const PgResult, c_int) -> *const c_char;
        clear = "PQclear": fn(*mut PgResult);
        cmd_tuples = "PQcmdTuples": fn(*mut PgResult) -> *const c_char;
        ntuples = "PQntuples": fn(*const PgResult) -> c_int;
        nfields = "PQnfields": fn(*const PgResult) -> c_int;
        ftype = "PQftype": fn(*const PgResult, c_int) -> c_uint;
        getvalue = "PQgetvalue": fn(*const PgResult, c_int, c_int) -> *const c_char;
        getlength = "PQgetlength": fn(*const PgResult, c_int, c_int) -> c_int;
        getisnull = "PQgetisnull": fn(*const PgResult, c_int, c_int) -> c_int;
    }
    optional {
        enter_pipeline_mode = "PQenterPipelineMode": fn(*mut Conn) -> c_int;
        exit_pipeline_mode = "PQexitPipelineMode": fn(*mut Conn) -> c_int;
        pipeline_sync = "PQpipelineSync": fn(*mut Conn) -> c_int;
    }
}
