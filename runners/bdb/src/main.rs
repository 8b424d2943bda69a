//! The runner for Berkeley DB: loads libdb 5.3 and calls its C API.
//!
//! A store is a database in a file of its own. Without an environment each has a cache of its own, nothing is
//! logged, and there are no transactions: every operation is done at once. With one, a transaction holds a lock
//! for each page that it has changed, so where all operations of a test are to make one, each 16,384 do. Lookups and cursors are outside of
//! transactions. `api` is the library's interface, `databases` what is open, `settings` how.

mod api;
mod databases;
mod settings;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::ptr;

use anyhow::{Error, Result, bail};
use dyno_library::LibraryName;
use dyno_protocol::{Hello, Job, PROTOCOL, Store};
use dyno_runner::{
    Delete, Driver, Failure, Found, KeyValue, LARGEST, Put, Rows, Slice, Watch, file_bytes, in_transactions,
};

use api::{Api, Cursor, Db, Dbt};
use databases::Databases;
use settings::Settings;

const LIBRARY: LibraryName = LibraryName { of: "Berkeley DB", stems: &["libdb-5.3.so"] };
/// How the names of files begin that an environment shares between processes, which hold no data.
const REGION: &str = "__db.";

/// The databases, and that of the store which the test at work is about.
struct BerkeleyDb {
    databases: Databases,
    db: *mut Db,
    folder: PathBuf,
}

impl Driver for BerkeleyDb {
    fn open(job: &Job) -> Result<(Self, Hello)> {
        dyno_runner::expect(job, "bdb", &["c"])?;
        let kind = match job.variant.as_deref() {
            None | Some("btree") => api::BTREE,
            Some("hash") => api::HASH,
            Some(other) => bail!("bdb/c has no variant '{other}'; it has btree, hash"),
        };
        let settings = Settings::parse(&job.settings)?;
        let api = LIBRARY.load(&job.build, Api::resolve)?;
        let (version, library) = (api::version(&api)?, api::file(&api)?);
        let databases = Databases::open(api, settings, job.key.as_ref(), kind, &job.directory)?;
        let hello = Hello {
            protocol: PROTOCOL,
            runner: concat!("bdb ", env!("CARGO_PKG_VERSION")).to_owned(),
            engine_version: version.clone(),
            // The driver is the C API, which is the library itself.
            driver_version: version,
            build: BTreeMap::from([("library".to_owned(), vec![library])]),
            settings: databases.in_force()?,
        };
        Ok((BerkeleyDb { databases, db: ptr::null_mut(), folder: job.directory.clone() }, hello))
    }

    /// Databases and logs, holes left out, without the memory that an environment maps to files.
    fn database_bytes(&mut self) -> Result<Option<u64>> {
        let mut sum = 0;
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            if !entry.file_name().to_string_lossy().starts_with(REGION) {
                sum += file_bytes(&entry.metadata()?);
            }
        }
        Ok(Some(sum))
    }

    fn close(self) -> Result<()> {
        self.databases.close()
    }
}

impl Rows for BerkeleyDb {}

impl KeyValue for BerkeleyDb {
    fn open_store(&mut self, store: &Store) -> Result<()> {
        self.db = self.databases.store(&store.name)?;
        Ok(())
    }

    fn put<W: Watch>(&mut self, put: &Put, watch: &mut W) -> Result<u64, Failure> {
        let db = self.db;
        let (count, each) = (put.keys.len(), put.per_commit.or(Some(LARGEST)));
        in_transactions(&mut self.databases, count, each, watch, |databases, txn, index| {
            let mut key = Dbt::of(put.keys.get(index));
            let mut value = Dbt::of(put.values.get(index));
            // SAFETY: database and transaction are open; the library copies both.
            databases.check(unsafe { Db::put(db, *txn, &mut key, &mut value, 0) })
        })
    }

    fn get<W: Watch>(&mut self, keys: Slice, watch: &mut W) -> Result<Found, Failure> {
        let mut found = Found::default();
        for (index, bytes) in (0..).zip(keys.iter()) {
            let code = watch.operation(|| {
                let (mut key, mut value) = (Dbt::of(bytes), Dbt::EMPTY);
                // SAFETY: the database is open; the value is the library's own memory until its next call.
                let code = unsafe { Db::get(self.db, ptr::null_mut(), &mut key, &mut value, 0) };
                if code == 0 {
                    found.add(value.size as usize);
                }
                code
            });
            if code != 0 && code != api::NOTFOUND {
                return Err(Failure::at(index, self.databases.error(code)));
            }
        }
        Ok(found)
    }

    fn scan_pairs(&mut self, mut visit: impl FnMut(&[u8], &[u8])) -> Result<(), Failure> {
        let scanned = self.cursor(|databases, cursor| {
            let (mut key, mut value) = (Dbt::EMPTY, Dbt::EMPTY);
            // SAFETY: the cursor is open; the library has just filled both and is not called meanwhile.
            unsafe {
                while step(databases, cursor, &mut key, &mut value, api::NEXT)? {
                    visit(key.bytes(), value.bytes());
                }
            }
            Ok(())
        });
        Ok(scanned?)
    }

    fn range<W: Watch>(&mut self, keys: Slice, length: u64, watch: &mut W) -> Result<Found, Failure> {
        let found = self.cursor(|databases, cursor| {
            let mut found = Found::default();
            for bytes in keys.iter() {
                watch.operation(|| {
                    let (mut key, mut value) = (Dbt::of(bytes), Dbt::EMPTY);
                    let mut left = length;
                    // SAFETY: the cursor is open, and the key is the one to look for.
                    unsafe {
                        let mut there =
                            left > 0 && step(databases, cursor, &mut key, &mut value, api::SET_RANGE)?;
                        while there {
                            found.add(value.size as usize);
                            left -= 1;
                            there = left > 0 && step(databases, cursor, &mut key, &mut value, api::NEXT)?;
                        }
                    }
                    Ok::<_, Error>(())
                })?;
            }
            Ok(found)
        });
        Ok(found?)
    }

    fn delete<W: Watch>(&mut self, delete: &Delete, watch: &mut W) -> Result<u64, Failure> {
        let db = self.db;
        let (count, each) = (delete.keys.len(), delete.per_commit.or(Some(LARGEST)));
        in_transactions(&mut self.databases, count, each, watch, |databases, txn, index| {
            let mut key = Dbt::of(delete.keys.get(index));
            // SAFETY: database and transaction are open.
            databases.check(unsafe { Db::del(db, *txn, &mut key, 0) })
        })
    }

    fn value(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let (mut key, mut value) = (Dbt::of(key), Dbt::EMPTY);
        // SAFETY: the database is open, and the value is copied before the library's next call.
        unsafe {
            match Db::get(self.db, ptr::null_mut(), &mut key, &mut value, 0) {
                0 => Ok(Some(value.bytes().to_vec())),
                api::NOTFOUND => Ok(None),
                code => Err(self.databases.error(code)),
            }
        }
    }
}

impl BerkeleyDb {
    /// Does something with a cursor of the store.
    #[inline]
    fn cursor<T>(&self, work: impl FnOnce(&Databases, *mut Cursor) -> Result<T>) -> Result<T> {
        let mut cursor = ptr::null_mut();
        // SAFETY: the database is open; the cursor is closed once and not used after that.
        unsafe {
            self.databases.check(Db::cursor(self.db, ptr::null_mut(), &mut cursor, 0))?;
            let result = work(&self.databases, cursor);
            self.databases.check(Cursor::close(cursor))?;
            result
        }
    }
}

/// Moves a cursor. Whether there is a pair, which `key` and `value` then are.
///
/// # Safety
/// The cursor is open, and `key` holds a key where `to` wants one.
#[inline]
unsafe fn step(
    databases: &Databases,
    cursor: *mut Cursor,
    key: &mut Dbt,
    value: &mut Dbt,
    to: u32,
) -> Result<bool> {
    // SAFETY: as the caller promises.
    match unsafe { Cursor::get(cursor, key, value, to) } {
        0 => Ok(true),
        api::NOTFOUND => Ok(false),
        code => Err(databases.error(code)),
    }
}

fn main() -> ExitCode {
    dyno_runner::run::<BerkeleyDb>()
}
