//! An open database: its column families, its options, and what its errors mean.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::{ptr, slice};

use anyhow::{Context, Result};
use dyno_protocol::InForce;

use crate::api::{Api, Batch, Db, Family, Iter, Options, ReadOptions, WriteOptions};
use crate::complaint::complaint;
use crate::settings::Settings;

/// A database. It must be closed with [`Database::close`]; a trial that failed ends its process.
pub struct Database {
    /// The library.
    pub api: Api,
    /// Open.
    pub db: *mut Db,
    /// The options of all reads: the library's own.
    pub read: *mut ReadOptions,
    options: *mut Options,
    durable: *mut WriteOptions,
    families: Mutex<BTreeMap<String, *mut Family>>,
}

// SAFETY: a database and its options may be used by any thread and by several.
unsafe impl Send for Database {}
// SAFETY: as above.
unsafe impl Sync for Database {}

/// The property that holds the size of the cache of blocks.
const CAPACITY: &CStr = c"rocksdb.block-cache-capacity";

/// The file that every database has.
const CURRENT: &str = "CURRENT";

impl Database {
    /// Makes a database in a folder, or opens the one that is there with all its column families.
    pub fn open(api: Api, settings: &Settings, folder: &Path) -> Result<Database> {
        let path =
            CString::new(folder.as_os_str().as_bytes()).context("the folder's name holds a NUL byte")?;
        let options = settings.options(&api)?;
        let (db, families) = open_all(&api, options, &path, folder.join(CURRENT).exists())
            .with_context(|| format!("cannot open a database in {}", folder.display()))?;
        Ok(Database {
            db,
            // SAFETY: it takes nothing.
            read: unsafe { (api.readoptions_create)() },
            options,
            durable: settings.write_options(&api),
            families: Mutex::new(families),
            api,
        })
    }

    /// The options of writes that commit.
    pub fn durable(&self) -> *mut WriteOptions {
        self.durable
    }

    /// Writes what a batch holds, whole or not at all.
    ///
    /// # Safety
    /// The batch is there.
    #[inline]
    pub unsafe fn write(&self, batch: *mut Batch) -> Result<()> {
        let mut error = ptr::null_mut();
        // SAFETY: database and options are there, and the batch as the caller promises.
        unsafe { (self.api.write)(self.db, self.durable, batch, &mut error) };
        self.check(error)
    }

    /// The column family of a store, made where it is missing.
    pub fn store(&self, name: &str) -> Result<*mut Family> {
        // No thread panics while it holds the lock.
        let mut families = self.families.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(family) = families.get(name) {
            return Ok(*family);
        }
        let text = CString::new(name).context("the store's name holds a NUL byte")?;
        let mut error = ptr::null_mut();
        // SAFETY: the database is open and what is pointed to outlives the call.
        let family =
            unsafe { (self.api.create_column_family)(self.db, self.options, text.as_ptr(), &mut error) };
        self.check(error).with_context(|| format!("cannot make the column family {name}"))?;
        families.insert(name.to_owned(), family);
        Ok(family)
    }

    /// Writes out what is in memory, waits for it, and then merges each family as far as it can be: when all is in
    /// tables, which are synced as they are made, nothing of the log is needed.
    pub fn settle(&self, families: &[*mut Family]) -> Result<()> {
        let api = &self.api;
        let mut error = ptr::null_mut();
        // SAFETY: database and families are open; without bounds a merge is of everything. The options wait by default.
        unsafe {
            let options = (api.flushoptions_create)();
            for family in families {
                (api.flush_cf)(self.db, options, *family, &mut error);
                if !error.is_null() {
                    break;
                }
            }
            (api.flushoptions_destroy)(options);
            self.check(error)?;
            for family in families {
                (api.compact_range_cf)(self.db, *family, ptr::null(), 0, ptr::null(), 0);
            }
        }
        Ok(())
    }

    /// The settings in force, as RocksDB says them, by its files in a folder.
    ///
    /// # Errors
    /// There is no such file.
    pub fn in_force(&self, settings: &Settings, folder: &Path) -> Result<Vec<InForce>> {
        // SAFETY: the options of writes are there as long as this is.
        unsafe { settings.in_force(&self.api, self.durable, self.cache_bytes(), folder) }
    }

    /// The size of the cache of blocks, if the database has one.
    fn cache_bytes(&self) -> Option<u64> {
        let mut bytes = 0;
        // SAFETY: the database is open and `bytes` outlives the call.
        let code = unsafe { (self.api.property_int)(self.db, CAPACITY.as_ptr(), &mut bytes) };
        (code == 0).then_some(bytes)
    }

    /// The key at which an iterator stands.
    ///
    /// # Safety
    /// It is valid and is not moved while the key is in use.
    #[inline]
    pub unsafe fn key<'a>(&self, iterator: *mut Iter) -> &'a [u8] {
        let mut length = 0;
        // SAFETY: as the caller promises.
        unsafe { slice::from_raw_parts((self.api.iter_key)(iterator, &mut length), length) }
    }

    /// The value at which an iterator stands.
    ///
    /// # Safety
    /// It is valid and is not moved while the value is in use.
    #[inline]
    pub unsafe fn value<'a>(&self, iterator: *mut Iter) -> &'a [u8] {
        let mut length = 0;
        // SAFETY: as the caller promises.
        unsafe { slice::from_raw_parts((self.api.iter_value)(iterator, &mut length), length) }
    }

    /// Closes the database.
    pub fn close(self) {
        let api = &self.api;
        // SAFETY: nothing of these is used after this.
        unsafe {
            for family in self.families.lock().unwrap_or_else(PoisonError::into_inner).values() {
                (api.column_family_handle_destroy)(*family);
            }
            (api.close)(self.db);
            (api.writeoptions_destroy)(self.durable);
            (api.readoptions_destroy)(self.read);
            (api.options_destroy)(self.options);
        }
    }

    /// Turns what a call has set into an error.
    #[inline]
    pub fn check(&self, error: *mut c_char) -> Result<()> {
        complaint(&self.api, error)
    }
}

/// Opens a database with all column families that it has. RocksDB refuses to open it without one of them.
fn open_all(
    api: &Api,
    options: *mut Options,
    path: &CStr,
    is_there: bool,
) -> Result<(*mut Db, BTreeMap<String, *mut Family>)> {
    let mut error = ptr::null_mut();
    if !is_there {
        // SAFETY: options and path outlive the call.
        let db = unsafe { (api.open)(options, path.as_ptr(), &mut error) };
        complaint(api, error)?;
        return Ok((db, BTreeMap::new()));
    }
    let mut count = 0;
    // SAFETY: as above; the list is read before it is given back, once.
    let names: Vec<CString> = unsafe {
        let list = (api.list_column_families)(options, path.as_ptr(), &mut count, &mut error);
        complaint(api, error)?;
        let names =
            slice::from_raw_parts(list, count).iter().map(|&name| CStr::from_ptr(name).to_owned()).collect();
        (api.list_column_families_destroy)(list, count);
        names
    };
    let pointers: Vec<*const c_char> = names.iter().map(|name| name.as_ptr()).collect();
    let all_options: Vec<*const Options> = vec![options.cast_const(); count];
    let mut families = vec![ptr::null_mut(); count];
    // SAFETY: as above, and the three arrays have `count` members.
    let db = unsafe {
        let (pointers, all_options) = (pointers.as_ptr(), all_options.as_ptr());
        let count = count as c_int;
        (api.open_column_families)(
            options,
            path.as_ptr(),
            count,
            pointers,
            all_options,
            families.as_mut_ptr(),
            &mut error,
        )
    };
    complaint(api, error)?;
    let names = names.into_iter().map(|name| name.to_string_lossy().into_owned());
    Ok((db, names.zip(families).collect()))
}
