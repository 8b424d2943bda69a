//! The runner for RocksDB: loads the library that the job names and calls its C API.
//!
//! A store is a column family. What commits together is one `WriteBatch`. Without a number of operations to a
//! commit, or with one, each operation is a write of its own: a batch of everything would hold all of it in
//! memory, and RocksDB needs none to write. Such writes do not wait for the device one by one where all of a
//! test commit together; the log is then synced once, at the end and within the clock. Lookups pin values and
//! copy nothing. Nothing is compacted but by RocksDB's own choice.
//! `database` is what is open, `settings` its options, `api` the table of functions.

mod api;
mod database;
mod settings;

use std::collections::BTreeMap;
use std::ffi::{c_char, c_void};
use std::process::ExitCode;
use std::ptr;

use anyhow::Result;
use dyno_library::{LibraryName, file_title};
use dyno_protocol::{Hello, Job, PROTOCOL, Store};
use dyno_runner::{Delete, Driver, Failure, Found, KeyValue, Put, Rows, Slice, Watch, in_transactions};

use api::{Api, Batch, Family, WriteOptions};
use database::Database;
use settings::Settings;

const LIBRARY: LibraryName = LibraryName { of: "RocksDB", stems: &["librocksdb.so"] };

/// A database and the column family of the store which the test at work is about.
struct RocksDb {
    database: Database,
    family: *mut Family,
}

impl Driver for RocksDb {
    fn open(job: &Job) -> Result<(Self, Hello)> {
        dyno_runner::expect(job, "rocksdb", &["c"])?;
        let settings = Settings::parse(&job.settings, &job.read_back)?;
        let api = LIBRARY.load(&job.build, Api::resolve)?;
        let library = file_title(api.open as *const c_void);
        let database = Database::open(api, &settings, &job.directory)?;
        let version = settings::version(&job.directory)?;
        let hello = Hello {
            protocol: PROTOCOL,
            runner: concat!("rocksdb ", env!("CARGO_PKG_VERSION")).to_owned(),
            engine_version: version.clone(),
            // The driver is the C API, which is the library itself.
            driver_version: version,
            build: BTreeMap::from([("library".to_owned(), vec![library])]),
            settings: settings.in_force(&database, &job.directory)?,
        };
        Ok((RocksDb { database, family: ptr::null_mut() }, hello))
    }

    fn close(self) -> Result<()> {
        self.database.close();
        Ok(())
    }
}

impl Rows for RocksDb {}

impl KeyValue for RocksDb {
    fn open_store(&mut self, store: &Store) -> Result<()> {
        self.family = self.database.store(&store.name)?;
        Ok(())
    }

    fn put<W: Watch>(&mut self, put: &Put, watch: &mut W) -> Result<u64, Failure> {
        let family = self.family;
        let pair = |index| (put.keys.get(index), put.values.get(index));
        self.write(
            put.keys.len(),
            put.per_commit,
            watch,
            |api, batch, index| {
                let (key, value) = pair(index);
                // SAFETY: the batch copies both.
                unsafe {
                    let (value, length) = (value.as_ptr(), value.len());
                    (api.writebatch_put_cf)(batch, family, key.as_ptr(), key.len(), value, length);
                }
            },
            |database, options, index, error| {
                let (key, value) = pair(index);
                // SAFETY: the database is open and copies both.
                unsafe {
                    let (value, length) = (value.as_ptr(), value.len());
                    let Database { api, db, .. } = database;
                    (api.put_cf)(*db, options, family, key.as_ptr(), key.len(), value, length, error);
                }
            },
        )
    }

    fn get<W: Watch>(&mut self, keys: Slice, watch: &mut W) -> Result<Found, Failure> {
        let Database { api, db, read, .. } = &self.database;
        let mut found = Found::default();
        for (index, key) in (0..).zip(keys.iter()) {
            let mut error = ptr::null_mut();
            // SAFETY: the database is open; the value is given back once and not used after that.
            watch.operation(|| unsafe {
                let (key, length) = (key.as_ptr(), key.len());
                let value = (api.get_pinned_cf)(*db, *read, self.family, key, length, &mut error);
                if !value.is_null() {
                    let mut length = 0;
                    (api.pinnableslice_value)(value, &mut length);
                    found.add(length);
                    (api.pinnableslice_destroy)(value);
                }
            });
            self.database.check(error).map_err(|error| Failure::at(index, error))?;
        }
        Ok(found)
    }

    fn scan_pairs(&mut self, mut visit: impl FnMut(&[u8], &[u8])) -> Result<(), Failure> {
        let (database, api) = (&self.database, &self.database.api);
        // SAFETY: the iterator is valid where it is read, and is not moved meanwhile.
        let scanned = database.iterate(self.family, |iterator| unsafe {
            (api.iter_seek_to_first)(iterator);
            while (api.iter_valid)(iterator) != 0 {
                visit(database.key(iterator), database.value(iterator));
                (api.iter_next)(iterator);
            }
        });
        Ok(scanned?)
    }

    fn range<W: Watch>(&mut self, keys: Slice, length: u64, watch: &mut W) -> Result<Found, Failure> {
        let (database, api) = (&self.database, &self.database.api);
        let found = database.iterate(self.family, |iterator| {
            let mut found = Found::default();
            for key in keys.iter() {
                // SAFETY: the iterator is valid where it is read, and is not moved meanwhile.
                watch.operation(|| unsafe {
                    let mut left = length;
                    (api.iter_seek)(iterator, key.as_ptr(), key.len());
                    while left > 0 && (api.iter_valid)(iterator) != 0 {
                        found.add(database.value(iterator).len());
                        left -= 1;
                        if left > 0 {
                            (api.iter_next)(iterator);
                        }
                    }
                });
            }
            found
        });
        Ok(found?)
    }

    fn delete<W: Watch>(&mut self, delete: &Delete, watch: &mut W) -> Result<u64, Failure> {
        let family = self.family;
        let keys = delete.keys;
        self.write(
            keys.len(),
            delete.per_commit,
            watch,
            |api, batch, index| {
                let key = keys.get(index);
                // SAFETY: the batch copies the key.
                unsafe { (api.writebatch_delete_cf)(batch, family, key.as_ptr(), key.len()) };
            },
            |database, options, index, error| {
                let key = keys.get(index);
                // SAFETY: the database is open and copies the key.
                unsafe {
                    let Database { api, db, .. } = database;
                    (api.delete_cf)(*db, options, family, key.as_ptr(), key.len(), error);
                }
            },
        )
    }

    fn value(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let Database { api, db, read, .. } = &self.database;
        let mut error = ptr::null_mut();
        // SAFETY: the database is open; the value is copied before it is given back.
        unsafe {
            let value = (api.get_pinned_cf)(*db, *read, self.family, key.as_ptr(), key.len(), &mut error);
            self.database.check(error)?;
            if value.is_null() {
                return Ok(None);
            }
            let mut length = 0;
            let start = (api.pinnableslice_value)(value, &mut length);
            let bytes = std::slice::from_raw_parts(start, length).to_vec();
            (api.pinnableslice_destroy)(value);
            Ok(Some(bytes))
        }
    }
}

impl RocksDb {
    /// Writes so many to a commit: `add` puts one into a batch, `single` writes one.
    #[inline]
    fn write<W: Watch>(
        &mut self,
        count: u64,
        per_commit: Option<u64>,
        watch: &mut W,
        add: impl Fn(&Api, *mut Batch, u64),
        single: impl Fn(&Database, *mut WriteOptions, u64, *mut *mut c_char),
    ) -> Result<u64, Failure> {
        let database = &mut self.database;
        let options = match per_commit {
            None => database.lazy(),
            Some(1) => database.durable(),
            Some(_) => {
                return in_transactions(database, count, per_commit, watch, |database, batch, index| {
                    add(&database.api, *batch, index);
                    Ok(())
                });
            }
        };
        for index in 0..count {
            let mut error = ptr::null_mut();
            watch.operation(|| single(database, options, index, &mut error));
            database.check(error).map_err(|error| Failure::at(index, error))?;
        }
        if per_commit.is_none() {
            database.settle()?;
        }
        Ok(count)
    }
}

fn main() -> ExitCode {
    dyno_runner::run::<RocksDb>()
}
