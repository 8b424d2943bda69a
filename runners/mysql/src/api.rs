//! The functions of MySQL's C API that the runner calls, resolved once into a table.
//!
//! See <https://mariadb.com/kb/en/mariadb-connector-c/>; the names lack `mysql_` and the types are its own.
//! libmariadb and libmysqlclient have the same functions and differ in the numbers of some options.

use std::ffi::{c_char, c_int, c_uint, c_ulong, c_void};

use anyhow::{Context, Result};
use libloading::os::unix::Library;

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

/// A column of a result. Both libraries lay it out so, as programs read it directly.
#[repr(C)]
pub struct Field {
    names: [*const c_char; 7],
    lengths: [c_ulong; 2],
    name_lengths: [c_uint; 7],
    flags: c_uint,
    decimals: c_uint,
    /// The number of the collation; 63 for bytes.
    pub charset: c_uint,
    /// The type.
    pub kind: c_uint,
    extension: *mut c_void,
}

/// Begins to read a file that the server asks for by its name.
pub type InfileInit = unsafe extern "C" fn(*mut *mut c_void, *const c_char, *mut c_void) -> c_int;
/// Reads from it: how many bytes, 0 at the end, less after an error.
pub type InfileRead = unsafe extern "C" fn(*mut c_void, *mut c_char, c_uint) -> c_int;
/// Ends reading.
pub type InfileEnd = unsafe extern "C" fn(*mut c_void);
/// Tells what went wrong.
pub type InfileError = unsafe extern "C" fn(*mut c_void, *mut c_char, c_uint) -> c_int;

/// Flag of a connection: an UPDATE counts the rows that it found, also those that it left as they were.
pub const CLIENT_FOUND_ROWS: c_ulong = 2;

/// Option: seconds to wait for a connection, an `unsigned int`.
pub const OPT_CONNECT_TIMEOUT: c_int = 0;
/// Option: whether the server may ask for a file, an `unsigned int`.
pub const OPT_LOCAL_INFILE: c_int = 8;
/// Option: the connection's character set, a string.
pub const SET_CHARSET_NAME: c_int = 7;
/// Option: how to connect, an `unsigned int`.
pub const OPT_PROTOCOL: c_int = 9;
/// How to connect: over TCP, also to `localhost`.
pub const PROTOCOL_TCP: c_uint = 1;
/// How to connect: through a socket in the file system.
pub const PROTOCOL_SOCKET: c_uint = 2;

/// Which of the two client libraries it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// libmariadb.
    MariaDb,
    /// libmysqlclient of MySQL 8.0 and later.
    MySql,
}

/// Declares the table and how to fill it. The list is the whole of what a library must offer.
macro_rules! table {
    ($($name:ident: fn($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The table. Calling an entry is as unsafe as calling the C function.
        pub struct Api {
            $(
                #[doc = concat!("`mysql_", stringify!($name), "`")]
                pub $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,
            )*
            /// Which library it is.
            pub family: Family,
            /// Keeps the functions in memory.
            _library: Library,
        }

        impl Api {
            /// Looks every function up; the error names the one that is missing.
            pub fn resolve(library: Library) -> Result<Api> {
                // SAFETY: these are the signatures of the library's header. A library that has functions
                // of these names with others is no client library of MySQL.
                unsafe {
                    let family = match library.get::<*const c_void>("mariadb_get_infov") {
                        Ok(_) => Family::MariaDb,
                        Err(_) => Family::MySql,
                    };
                    Ok(Api {
                        $($name: symbol(&library, concat!("mysql_", stringify!($name)))?,)*
                        family,
                        _library: library,
                    })
                }
            }
        }
    };
}

table! {
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
    set_local_infile_handler: fn(*mut Mysql, InfileInit, InfileRead, InfileEnd, InfileError, *mut c_void);
    real_query: fn(*mut Mysql, *const c_char, c_ulong) -> c_int;
    store_result: fn(*mut Mysql) -> *mut Res;
    more_results: fn(*mut Mysql) -> c_char;
    next_result: fn(*mut Mysql) -> c_int;
    field_count: fn(*mut Mysql) -> c_uint;
    affected_rows: fn(*mut Mysql) -> u64;
    num_fields: fn(*mut Res) -> c_uint;
    fetch_fields: fn(*mut Res) -> *const Field;
    fetch_row: fn(*mut Res) -> *const *const c_char;
    fetch_lengths: fn(*mut Res) -> *const c_ulong;
    free_result: fn(*mut Res);
}

/// One function of a library.
///
/// # Safety
/// `T` is the function's type.
unsafe fn symbol<T: Copy>(library: &Library, name: &str) -> Result<T> {
    // SAFETY: as the caller promises.
    let found = unsafe { library.get::<T>(name) };
    found
        .map(|symbol| *symbol)
        .with_context(|| format!("it has no function {name}: it is no client library of MariaDB or MySQL"))
}
