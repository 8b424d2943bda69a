//! The functions of LMDB's C API that the runner calls, resolved once into a table.
//!
//! See <http://www.lmdb.tech/doc/group__mdb.html>; the names lack `mdb_`.

use std::ffi::{c_char, c_int, c_uint, c_void};

/// An environment: one file, opaque.
#[repr(C)]
pub struct Env {
    _opaque: [u8; 0],
}

/// A transaction, opaque.
#[repr(C)]
pub struct Txn {
    _opaque: [u8; 0],
}

/// A cursor, opaque.
#[repr(C)]
pub struct Cursor {
    _opaque: [u8; 0],
}

/// A named database within an environment.
pub type Dbi = c_uint;

/// A key or a value.
#[repr(C)]
pub struct Val {
    /// Its length in bytes.
    pub size: usize,
    /// Its place.
    pub data: *mut c_void,
}

/// The result of `env_info`.
#[repr(C)]
#[derive(Default)]
pub struct EnvInfo {
    _map_address: usize,
    /// The size of the map, in bytes.
    pub map_size: usize,
    _last_page: usize,
    _last_transaction: usize,
    _max_readers: c_uint,
    _readers: c_uint,
}

/// Flag of an environment: no sync after a commit.
pub const NOSYNC: c_uint = 0x1_0000;
/// Flag of an environment: no sync of the page that names the newest transaction.
pub const NOMETASYNC: c_uint = 0x4_0000;
/// Flag of an environment: pages are changed in the map.
pub const WRITEMAP: c_uint = 0x8_0000;
/// Flag of an environment: syncs of the map are asked for and not waited for.
pub const MAPASYNC: c_uint = 0x10_0000;
/// Flag of an environment: the kernel reads no pages ahead.
pub const NORDAHEAD: c_uint = 0x80_0000;
/// Flag of an environment: pages are not zeroed before they are filled.
pub const NOMEMINIT: c_uint = 0x100_0000;
/// Flag of a transaction: for reading.
pub const RDONLY: c_uint = 0x2_0000;
/// Flag of a database: made where it is missing.
pub const CREATE: c_uint = 0x4_0000;
/// Flag of a database: keys are numbers of the machine's own.
pub const INTEGERKEY: c_uint = 0x8;

/// The move of a cursor to the first pair.
pub const FIRST: c_int = 0;
/// The move of a cursor to the next pair.
pub const NEXT: c_int = 8;
/// The move of a cursor to the first key that is not less.
pub const SET_RANGE: c_int = 17;

/// Result: there is no such key.
pub const NOTFOUND: c_int = -30798;
/// Result: the file is of another version of LMDB's format.
pub const VERSION_MISMATCH: c_int = -30794;
/// Result: the file is not one of LMDB's.
pub const INVALID: c_int = -30793;
/// Result: the map has no room.
pub const MAP_FULL: c_int = -30792;
/// Result: a key of a length that cannot be.
pub const BAD_VALSIZE: c_int = -30781;

dyno_library::functions! {
    /// The table of functions.
    Api of "LMDB, or one too old", "mdb_" {
        version: fn(*mut c_int, *mut c_int, *mut c_int) -> *const c_char;
        strerror: fn(c_int) -> *const c_char;
        env_create: fn(*mut *mut Env) -> c_int;
        env_set_mapsize: fn(*mut Env, usize) -> c_int;
        env_set_maxdbs: fn(*mut Env, Dbi) -> c_int;
        env_set_maxreaders: fn(*mut Env, c_uint) -> c_int;
        env_open: fn(*mut Env, *const c_char, c_uint, c_uint) -> c_int;
        env_get_flags: fn(*mut Env, *mut c_uint) -> c_int;
        env_get_maxkeysize: fn(*mut Env) -> c_int;
        env_sync: fn(*mut Env, c_int) -> c_int;
        env_info: fn(*mut Env, *mut EnvInfo) -> c_int;
        env_close: fn(*mut Env);
        txn_begin: fn(*mut Env, *mut Txn, c_uint, *mut *mut Txn) -> c_int;
        txn_commit: fn(*mut Txn) -> c_int;
        txn_abort: fn(*mut Txn);
        txn_reset: fn(*mut Txn);
        txn_renew: fn(*mut Txn) -> c_int;
        dbi_open: fn(*mut Txn, *const c_char, c_uint, *mut Dbi) -> c_int;
        get: fn(*mut Txn, Dbi, *mut Val, *mut Val) -> c_int;
        put: fn(*mut Txn, Dbi, *mut Val, *mut Val, c_uint) -> c_int;
        del: fn(*mut Txn, Dbi, *mut Val, *mut Val) -> c_int;
        cursor_open: fn(*mut Txn, Dbi, *mut *mut Cursor) -> c_int;
        cursor_close: fn(*mut Cursor);
        cursor_renew: fn(*mut Txn, *mut Cursor) -> c_int;
        cursor_get: fn(*mut Cursor, *mut Val, *mut Val, c_int) -> c_int;
    }
}
