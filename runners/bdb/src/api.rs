//! Berkeley DB 5.3's C interface without its header: four functions that the library exports, and the
//! methods that its handles carry.
//!
//! A handle is a structure with a pointer to each of its methods. Where a method's pointer stands is part of
//! the interface of a release (5.3) on 64-bit Linux: the structure has no part that a build may leave out, so
//! the places below hold for every 5.3.x. They are checked thrice: the library must say that it is 5.3, every
//! pointer must lead into the library, and a test compares the places with the header where it is installed.
//!
//! See <https://docs.oracle.com/cd/E17276_01/html/api_reference/C/frame_main.html>.

use std::ffi::{c_char, c_int, c_void};
use std::ptr;

use anyhow::{Context, Result, ensure};
use dyno_library::file_of;

/// The release whose structures these are.
pub const RELEASE: (c_int, c_int) = (5, 3);

/// A key or a value. All zero is nothing, to be filled with memory of the library's own.
#[repr(C)]
pub struct Dbt {
    /// Its place.
    pub data: *mut c_void,
    /// Its length in bytes.
    pub size: u32,
    /// The length of the caller's memory at `data` in bytes, where there is any.
    memory: u32,
    _unused: [u32; 2],
    _app_data: *mut c_void,
    _flags: u32,
}

impl Dbt {
    /// Nothing, to be filled.
    pub const EMPTY: Dbt = Dbt {
        data: ptr::null_mut(),
        size: 0,
        memory: 0,
        _unused: [0; 2],
        _app_data: ptr::null_mut(),
        _flags: 0,
    };

    /// These bytes, which the library reads and does not change.
    #[inline]
    pub fn of(bytes: &[u8]) -> Dbt {
        // The inputs have cells of a width that fits.
        Dbt { data: bytes.as_ptr() as *mut c_void, size: bytes.len() as u32, ..Dbt::EMPTY }
    }

    /// Memory from `malloc`, or none, which the library makes larger where that is needed.
    pub fn growing(data: *mut c_void, size: u32) -> Dbt {
        Dbt { data, size, _flags: DBT_REALLOC, ..Dbt::EMPTY }
    }

    /// Memory of the caller's, `memory` bytes long, which the library fills and keeps as it is.
    pub fn filling(data: *mut c_void, memory: u32) -> Dbt {
        Dbt { data, memory, _flags: DBT_USERMEM, ..Dbt::EMPTY }
    }

    /// The bytes.
    ///
    /// # Safety
    /// The library has just filled it and is not called meanwhile.
    #[inline]
    pub unsafe fn bytes<'a>(&self) -> &'a [u8] {
        if self.size == 0 {
            return &[];
        }
        // SAFETY: as the caller promises.
        unsafe { std::slice::from_raw_parts(self.data.cast(), self.size as usize) }
    }
}

dyno_library::functions! {
    /// The functions that the library exports.
    Api of "Berkeley DB", "db_" {
        version: fn(*mut c_int, *mut c_int, *mut c_int) -> *const c_char;
        strerror: fn(c_int) -> *const c_char;
        create: fn(*mut *mut Db, *mut Env, u32) -> c_int;
        env_create: fn(*mut *mut Env, u32) -> c_int;
    }
}

/// Takes what an error message says: a handle, a prefix, the text.
pub type ErrorCall = unsafe extern "C" fn(*const Env, *const c_char, *const c_char);

/// Declares a handle and its methods with their places, in bytes from its beginning.
macro_rules! handle {
    ($(#[$about:meta])* $handle:ident:
     $($method:ident @ $place:literal: fn($($argument:ident: $type:ty),*) $(-> $result:ty)?;)*) => {
        $(#[$about])*
        #[repr(C)]
        pub struct $handle {
            _opaque: [u8; 0],
        }

        impl $handle {
            /// The methods that are called, and where their pointers stand.
            pub const METHODS: &[(&str, usize)] = &[$((stringify!($method), $place)),*];

            $(
                /// The method of this name.
                ///
                /// # Safety
                /// The handle is one that a library of the right release made, and as for the C method.
                #[inline]
                pub unsafe fn $method(this: *mut $handle $(, $argument: $type)*) $(-> $result)? {
                    type Method = unsafe extern "C" fn(*mut $handle $(, $type)*) $(-> $result)?;
                    // SAFETY: the place holds a pointer to a function of this type.
                    unsafe { this.byte_add($place).cast::<Method>().read()(this $(, $argument)*) }
                }
            )*

            /// Checks that every method leads into the library.
            ///
            /// # Safety
            /// The handle is one that the library made.
            pub unsafe fn check(this: *mut $handle, library: &str) -> Result<()> {
                for (name, place) in Self::METHODS {
                    // SAFETY: a handle of any release is larger than the last place.
                    let method = unsafe { this.byte_add(*place).cast::<*const c_void>().read() };
                    ensure!(
                        file_of(method).is_some_and(|file| file == library),
                        "{library} keeps the method {name} elsewhere than Berkeley DB 5.3 does: it was built otherwise"
                    );
                }
                Ok(())
            }
        }
    };
}

handle! {
    /// A database.
    Db:
    close @ 568: fn(flags: u32) -> c_int;
    cursor @ 584: fn(txn: *mut Txn, cursor: *mut *mut Cursor, flags: u32) -> c_int;
    del @ 592: fn(txn: *mut Txn, key: *mut Dbt, flags: u32) -> c_int;
    get @ 632: fn(txn: *mut Txn, key: *mut Dbt, value: *mut Dbt, flags: u32) -> c_int;
    get_cachesize @ 704: fn(gigabytes: *mut u32, bytes: *mut u32, caches: *mut c_int) -> c_int;
    get_encrypt_flags @ 736: fn(flags: *mut u32) -> c_int;
    get_env @ 744: fn() -> *mut Env;
    get_pagesize @ 896: fn(bytes: *mut u32) -> c_int;
    open @ 1008: fn(txn: *mut Txn, file: *const c_char, name: *const c_char, kind: c_int, flags: u32, mode: c_int) -> c_int;
    put @ 1024: fn(txn: *mut Txn, key: *mut Dbt, value: *mut Dbt, flags: u32) -> c_int;
    set_cachesize @ 1096: fn(gigabytes: u32, bytes: u32, caches: c_int) -> c_int;
    set_encrypt @ 1120: fn(password: *const c_char, flags: u32) -> c_int;
    set_errcall @ 1128: fn(call: ErrorCall);
    set_flags @ 1160: fn(flags: u32) -> c_int;
    set_pagesize @ 1248: fn(bytes: u32) -> c_int;
    sync @ 1352: fn(flags: u32) -> c_int;
}

handle! {
    /// An environment.
    Env:
    close @ 488: fn(flags: u32) -> c_int;
    get_cachesize @ 576: fn(gigabytes: *mut u32, bytes: *mut u32, caches: *mut c_int) -> c_int;
    get_encrypt_flags @ 624: fn(flags: *mut u32) -> c_int;
    get_flags @ 656: fn(flags: *mut u32) -> c_int;
    get_lk_max_locks @ 760: fn(locks: *mut u32) -> c_int;
    get_lg_bsize @ 696: fn(bytes: *mut u32) -> c_int;
    get_open_flags @ 888: fn(flags: *mut u32) -> c_int;
    open @ 1328: fn(home: *const c_char, flags: u32, mode: c_int) -> c_int;
    set_cachesize @ 1632: fn(gigabytes: u32, bytes: u32, caches: c_int) -> c_int;
    set_encrypt @ 1680: fn(password: *const c_char, flags: u32) -> c_int;
    set_errcall @ 1688: fn(call: ErrorCall);
    set_flags @ 1728: fn(flags: u32, on: c_int) -> c_int;
    set_lg_bsize @ 1752: fn(bytes: u32) -> c_int;
    set_lk_detect @ 1800: fn(policy: u32) -> c_int;
    set_lk_max_locks @ 1816: fn(locks: u32) -> c_int;
    set_lk_max_objects @ 1824: fn(objects: u32) -> c_int;
    set_tmp_dir @ 1992: fn(folder: *const c_char) -> c_int;
    txn_begin @ 2040: fn(parent: *mut Txn, txn: *mut *mut Txn, flags: u32) -> c_int;
    txn_checkpoint @ 2048: fn(kilobytes: u32, minutes: u32, flags: u32) -> c_int;
}

handle! {
    /// A cursor.
    Cursor:
    close @ 352: fn() -> c_int;
    get @ 392: fn(key: *mut Dbt, value: *mut Dbt, to: u32) -> c_int;
}

handle! {
    /// A transaction.
    Txn:
    abort @ 232: fn() -> c_int;
    commit @ 240: fn(flags: u32) -> c_int;
}

/// Kind of a database: a B-tree.
pub const BTREE: c_int = 1;
/// Kind of a database: a hash.
pub const HASH: c_int = 2;

/// Flag of `open`: made where it is missing.
pub const CREATE: u32 = 0x1;
/// Flag of an environment's `open`.
pub const INIT_LOCK: u32 = 0x100;
/// Flag of an environment's `open`.
pub const INIT_LOG: u32 = 0x200;
/// Flag of an environment's `open`.
pub const INIT_MPOOL: u32 = 0x400;
/// Flag of an environment's `open`.
pub const INIT_TXN: u32 = 0x2000;
/// Flag of a database's `open`: it takes part in transactions.
pub const AUTO_COMMIT: u32 = 0x100;
/// Flag of an environment's `open`: what its parts share lies in the process's own memory and not in files.
pub const PRIVATE: u32 = 0x1_0000;
/// Flag of an environment's `open`: recovery from the log runs before anything else.
pub const RECOVER: u32 = 0x2;
/// Flag of `txn_checkpoint`: also where nothing has changed since the last.
pub const FORCE: u32 = 0x1;
/// Flag of `set_encrypt`: by AES.
pub const ENCRYPT_AES: u32 = 0x1;
/// Flag of a database: encrypted as its environment is.
pub const ENCRYPT: u32 = 0x1;
/// Flag of an environment: a commit leaves the log in memory.
pub const TXN_NOSYNC: u32 = 0x1;
/// Flag of an environment: a commit writes the log and does not sync it.
pub const TXN_WRITE_NOSYNC: u32 = 0x20;

/// Flag of an environment's `open`: threads share its handle.
pub const THREAD: u32 = 0x20;
/// Flag of a value: it is filled into memory of the caller's, which grows.
pub const DBT_REALLOC: u32 = 0x80;
/// Flag of a value: it is filled into memory of the caller's, which has one size.
pub const DBT_USERMEM: u32 = 0x800;
/// Flag of a cursor's `get`: as many pairs as the caller's memory has room for, in one call.
pub const MULTIPLE_KEY: u32 = 0x4000;
/// Flag of `get`: what is read will be written, so it is locked for that.
pub const RMW: u32 = 0x2000;
/// The choice of which of those that wait for one another is refused: whichever the library likes.
pub const LOCK_DEFAULT: u32 = 1;

/// The move of a cursor to the next pair, at first to the first.
pub const NEXT: u32 = 16;
/// The move of a cursor to the first key that is not less.
pub const SET_RANGE: u32 = 27;

/// Result: the caller's memory has no room for one pair; the value's size says how much it needs.
pub const BUFFER_SMALL: c_int = -30999;
/// Result: the transaction was in the way of others that were in its way.
pub const LOCK_DEADLOCK: c_int = -30993;
/// Result: there is no such key.
pub const NOTFOUND: c_int = -30988;
/// Result: the file is of an older version of the format.
pub const OLD_VERSION: c_int = -30987;
/// Result: the environment is of another version.
pub const VERSION_MISMATCH: c_int = -30969;

/// The library's version, where it is one that this runner knows.
pub fn version(api: &Api) -> Result<String> {
    let [mut major, mut minor, mut patch] = [0; 3];
    // SAFETY: the numbers outlive the call.
    unsafe { (api.version)(&mut major, &mut minor, &mut patch) };
    let (known_major, known_minor) = RELEASE;
    ensure!(
        (major, minor) == RELEASE && cfg!(all(target_os = "linux", target_pointer_width = "64")),
        "this runner knows Berkeley DB {known_major}.{known_minor} on 64-bit Linux, and the library is \
         {major}.{minor}.{patch}"
    );
    Ok(format!("{major}.{minor}.{patch}"))
}

/// The library's file.
pub fn file(api: &Api) -> Result<String> {
    file_of(api.version as *const c_void).context("cannot find which file the library was loaded from")
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use super::*;

    #[test]
    fn the_places_are_those_of_the_header() {
        if !Path::new("/usr/include/db.h").is_file() {
            eprintln!("SKIPPED: there is no db.h to compare with (`make needs` installs it)");
            return;
        }
        let lines = |handle: &str, methods: &[(&str, usize)]| -> String {
            let line = |(name, place): &(&str, usize)| {
                format!("_Static_assert(offsetof({handle}, {name}) == {place}, \"{handle} {name}\");\n")
            };
            methods.iter().map(line).collect()
        };
        let constants = [
            ("DB_BTREE", BTREE.into()),
            ("DB_HASH", HASH.into()),
            ("DB_CREATE", CREATE.into()),
            ("DB_INIT_LOCK", INIT_LOCK.into()),
            ("DB_INIT_LOG", INIT_LOG.into()),
            ("DB_INIT_MPOOL", INIT_MPOOL.into()),
            ("DB_INIT_TXN", INIT_TXN.into()),
            ("DB_AUTO_COMMIT", AUTO_COMMIT.into()),
            ("DB_PRIVATE", PRIVATE.into()),
            ("DB_RECOVER", RECOVER.into()),
            ("DB_FORCE", FORCE.into()),
            ("DB_ENCRYPT_AES", ENCRYPT_AES.into()),
            ("DB_ENCRYPT", ENCRYPT.into()),
            ("DB_TXN_NOSYNC", TXN_NOSYNC.into()),
            ("DB_TXN_WRITE_NOSYNC", TXN_WRITE_NOSYNC.into()),
            ("DB_THREAD", THREAD.into()),
            ("DB_DBT_REALLOC", DBT_REALLOC.into()),
            ("DB_DBT_USERMEM", DBT_USERMEM.into()),
            ("DB_MULTIPLE_KEY", MULTIPLE_KEY.into()),
            ("DB_BUFFER_SMALL", BUFFER_SMALL.into()),
            ("DB_RMW", RMW.into()),
            ("DB_LOCK_DEFAULT", LOCK_DEFAULT.into()),
            ("DB_LOCK_DEADLOCK", LOCK_DEADLOCK.into()),
            ("DB_NEXT", NEXT.into()),
            ("DB_SET_RANGE", SET_RANGE.into()),
            ("DB_NOTFOUND", NOTFOUND.into()),
            ("DB_OLD_VERSION", OLD_VERSION.into()),
            ("DB_VERSION_MISMATCH", VERSION_MISMATCH.into()),
            ("sizeof(DBT)", size_of::<Dbt>() as i64),
            ("offsetof(DBT, size)", std::mem::offset_of!(Dbt, size) as i64),
            ("offsetof(DBT, ulen)", std::mem::offset_of!(Dbt, memory) as i64),
            ("offsetof(DBT, flags)", std::mem::offset_of!(Dbt, _flags) as i64),
            ("DB_VERSION_MAJOR * 10 + DB_VERSION_MINOR", i64::from(RELEASE.0 * 10 + RELEASE.1)),
        ];
        let constants = constants
            .iter()
            .map(|(name, value): &(&str, i64)| format!("_Static_assert({name} == {value}, \"{name}\");\n"));
        let text = "#include <stddef.h>\n#include <db.h>\n".to_owned()
            + &lines("DB", Db::METHODS)
            + &lines("DB_ENV", Env::METHODS)
            + &lines("DBC", Cursor::METHODS)
            + &lines("DB_TXN", Txn::METHODS)
            + &constants.collect::<String>();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("places.c");
        std::fs::write(&file, text).unwrap();
        let output = Command::new("cc").arg("-fsyntax-only").arg(&file).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
