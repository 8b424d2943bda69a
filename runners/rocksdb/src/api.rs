//! The functions of RocksDB's C API that the runner calls, resolved once into a table.
//!
//! See <https://github.com/facebook/rocksdb/blob/main/include/rocksdb/c.h>; the names lack `rocksdb_`. An
//! `error` that a call sets is a string of the library's own memory.

use std::ffi::{c_char, c_int, c_uchar, c_void};

/// Declares types of which only pointers are known.
macro_rules! opaque {
    ($($(#[$about:meta])* $name:ident)*) => {
        $($(#[$about])* #[repr(C)] pub struct $name { _opaque: [u8; 0] })*
    };
}

opaque! {
    /// A database.
    Db
    /// Options of a database and of its column families.
    Options
    /// Options of a write.
    WriteOptions
    /// Options of a read.
    ReadOptions
    /// A state of the database that reads may go back to.
    Snapshot
    /// Options of writing memory out.
    FlushOptions
    /// A column family.
    Family
    /// Writes that are done together.
    Batch
    /// A value within the library's own memory.
    Pinned
    /// An iterator.
    Iter
}

dyno_library::functions! {
    /// The table of functions.
    // Two of the names are not in the case that Rust prefers.
    #[allow(non_snake_case)]
    Api of "RocksDB, or one too old", "rocksdb_" {
        free: fn(*mut c_void);
        options_create: fn() -> *mut Options;
        options_destroy: fn(*mut Options);
        options_set_create_if_missing: fn(*mut Options, c_uchar);
        get_options_from_string: fn(*const Options, *const c_char, *mut Options, *mut *mut c_char);
        writeoptions_create: fn() -> *mut WriteOptions;
        writeoptions_destroy: fn(*mut WriteOptions);
        writeoptions_set_sync: fn(*mut WriteOptions, c_uchar);
        writeoptions_get_sync: fn(*mut WriteOptions) -> c_uchar;
        writeoptions_disable_WAL: fn(*mut WriteOptions, c_int);
        writeoptions_get_disable_WAL: fn(*mut WriteOptions) -> c_uchar;
        readoptions_create: fn() -> *mut ReadOptions;
        readoptions_destroy: fn(*mut ReadOptions);
        readoptions_set_snapshot: fn(*mut ReadOptions, *const Snapshot);
        create_snapshot: fn(*mut Db) -> *const Snapshot;
        release_snapshot: fn(*mut Db, *const Snapshot);
        flushoptions_create: fn() -> *mut FlushOptions;
        flushoptions_destroy: fn(*mut FlushOptions);
        flush_cf: fn(*mut Db, *const FlushOptions, *mut Family, *mut *mut c_char);
        compact_range_cf: fn(*mut Db, *mut Family, *const c_char, usize, *const c_char, usize);
        open: fn(*const Options, *const c_char, *mut *mut c_char) -> *mut Db;
        list_column_families: fn(*const Options, *const c_char, *mut usize, *mut *mut c_char) -> *mut *mut c_char;
        list_column_families_destroy: fn(*mut *mut c_char, usize);
        open_column_families: fn(*const Options, *const c_char, c_int, *const *const c_char, *const *const Options, *mut *mut Family, *mut *mut c_char) -> *mut Db;
        close: fn(*mut Db);
        create_column_family: fn(*mut Db, *const Options, *const c_char, *mut *mut c_char) -> *mut Family;
        column_family_handle_destroy: fn(*mut Family);
        property_int: fn(*mut Db, *const c_char, *mut u64) -> c_int;
        put_cf: fn(*mut Db, *const WriteOptions, *mut Family, *const u8, usize, *const u8, usize, *mut *mut c_char);
        delete_cf: fn(*mut Db, *const WriteOptions, *mut Family, *const u8, usize, *mut *mut c_char);
        writebatch_create: fn() -> *mut Batch;
        writebatch_destroy: fn(*mut Batch);
        writebatch_clear: fn(*mut Batch);
        writebatch_put_cf: fn(*mut Batch, *mut Family, *const u8, usize, *const u8, usize);
        writebatch_delete_cf: fn(*mut Batch, *mut Family, *const u8, usize);
        write: fn(*mut Db, *const WriteOptions, *mut Batch, *mut *mut c_char);
        get_pinned_cf: fn(*mut Db, *const ReadOptions, *mut Family, *const u8, usize, *mut *mut c_char) -> *mut Pinned;
        pinnableslice_value: fn(*const Pinned, *mut usize) -> *const u8;
        pinnableslice_destroy: fn(*mut Pinned);
        create_iterator_cf: fn(*mut Db, *const ReadOptions, *mut Family) -> *mut Iter;
        iter_destroy: fn(*mut Iter);
        iter_seek_to_first: fn(*mut Iter);
        iter_seek: fn(*mut Iter, *const u8, usize);
        iter_next: fn(*mut Iter);
        iter_valid: fn(*const Iter) -> c_uchar;
        iter_key: fn(*const Iter, *mut usize) -> *const u8;
        iter_value: fn(*const Iter, *mut usize) -> *const u8;
        iter_get_error: fn(*const Iter, *mut *mut c_char);
    }
}
