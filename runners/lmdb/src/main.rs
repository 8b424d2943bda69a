//! The runner for LMDB: loads the library that the job names and calls its C API.
//!
//! LMDB has neither reads nor writes outside of transactions. A test that only reads does so in one, begun and
//! ended within the clock. Pages that a transaction has changed stay in memory until it commits, so where all
//! operations of a test are to make one, each 16,384 do. A store is a named database; one of integers keeps them as such (`MDB_INTEGERKEY`).
//! `environment` is what is open, `settings` its flags, `api` the table of functions.

mod api;
mod environment;
mod settings;

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::process::ExitCode;

use anyhow::{Error, Result, anyhow};
use dyno_library::{LibraryName, file_title};
use dyno_protocol::{Hello, Job, KeyKind, PROTOCOL, Store};
use dyno_runner::{
    Delete, Driver, Failure, Found, KeyValue, LARGEST, Put, Rows, Slice, Watch, in_transactions,
};

use api::{Api, Dbi, Val};
use environment::{Environment, Keys};
use settings::Settings;

const LIBRARY: LibraryName = LibraryName { of: "LMDB", stems: &["liblmdb.so"] };

/// An environment and the store that the test at work is about.
struct Lmdb {
    environment: Environment,
    dbi: Dbi,
    keys: Keys,
}

impl Driver for Lmdb {
    fn open(job: &Job) -> Result<(Self, Hello)> {
        dyno_runner::expect(job, "lmdb", &["c"])?;
        let settings = Settings::parse(&job.settings)?;
        let api = LIBRARY.load(&job.build, Api::resolve)?;
        let version = version(&api);
        let library = file_title(api.version as *const c_void);
        let environment = Environment::open(api, &job.directory, &settings)?;
        let hello = Hello {
            protocol: PROTOCOL,
            runner: concat!("lmdb ", env!("CARGO_PKG_VERSION")).to_owned(),
            engine_version: version.clone(),
            // The driver is the C API, which is the library itself.
            driver_version: version,
            build: BTreeMap::from([("library".to_owned(), vec![library])]),
            settings: environment.in_force()?,
        };
        Ok((Lmdb { environment, dbi: 0, keys: Keys::Blob }, hello))
    }

    fn close(self) -> Result<()> {
        self.environment.close();
        Ok(())
    }
}

impl Rows for Lmdb {}

impl KeyValue for Lmdb {
    fn open_store(&mut self, store: &Store) -> Result<()> {
        self.dbi = self.environment.store(store)?;
        self.keys = match store.key {
            KeyKind::Integer => Keys::Integer,
            KeyKind::Blob => Keys::Blob,
        };
        Ok(())
    }

    fn put<W: Watch>(&mut self, put: &Put, watch: &mut W) -> Result<u64, Failure> {
        let (dbi, keys) = (self.dbi, self.keys);
        let (count, each) = (put.keys.len(), put.per_commit.or(Some(LARGEST)));
        in_transactions(&mut self.environment, count, each, watch, |env, transaction, index| {
            let bytes = put.keys.get(index);
            let mut number = 0;
            let mut key = keys.encode(bytes, &mut number)?;
            let mut value = Val::of(put.values.get(index));
            // SAFETY: the transaction is open; LMDB copies both.
            match unsafe { (env.api.put)(*transaction, dbi, &mut key, &mut value, 0) } {
                0 => Ok(()),
                code => Err(unfit(env, code, bytes)),
            }
        })
    }

    fn get<W: Watch>(&mut self, keys: Slice, watch: &mut W) -> Result<Found, Failure> {
        let (env, dbi, kind) = (&self.environment, self.dbi, self.keys);
        let mut failed = 0;
        let found = env.read(|transaction| {
            let mut found = Found::default();
            for (index, bytes) in (0..).zip(keys.iter()) {
                let code = watch.operation(|| {
                    let mut number = 0;
                    let mut key = kind.encode(bytes, &mut number)?;
                    let mut value = Val::EMPTY;
                    // SAFETY: the transaction is open.
                    let code = unsafe { (env.api.get)(transaction, dbi, &mut key, &mut value) };
                    if code == 0 {
                        found.add(value.size);
                    }
                    Ok::<_, Error>(code)
                })?;
                if code != 0 && code != api::NOTFOUND {
                    failed = index;
                    return Err(unfit(env, code, bytes));
                }
            }
            Ok(found)
        });
        found.map_err(|error| Failure::at(failed, error))
    }

    fn scan_pairs(&mut self, mut visit: impl FnMut(&[u8], &[u8])) -> Result<(), Failure> {
        let (env, dbi, keys) = (&self.environment, self.dbi, self.keys);
        let scanned = env.read(|transaction| {
            let visit_all = |cursor| {
                let (mut key, mut value) = (Val::EMPTY, Val::EMPTY);
                let mut number = [0; 8];
                // SAFETY: the cursor is open and stands on a pair until its next step.
                unsafe {
                    let mut there = env.step(cursor, &mut key, &mut value, api::FIRST)?;
                    while there {
                        visit(keys.decode(key.bytes(), &mut number), value.bytes());
                        there = env.step(cursor, &mut key, &mut value, api::NEXT)?;
                    }
                }
                Ok(())
            };
            // SAFETY: the transaction is open.
            unsafe { env.cursor(transaction, dbi, visit_all) }
        });
        Ok(scanned?)
    }

    fn range<W: Watch>(&mut self, keys: Slice, length: u64, watch: &mut W) -> Result<Found, Failure> {
        let (env, dbi, kind) = (&self.environment, self.dbi, self.keys);
        let found = env.read(|transaction| {
            let look_up = |cursor| {
                let mut found = Found::default();
                for bytes in keys.iter() {
                    watch.operation(|| {
                        let mut number = 0;
                        let (mut key, mut value) = (kind.encode(bytes, &mut number)?, Val::EMPTY);
                        let mut left = length;
                        // SAFETY: the cursor is open, and the key is the one to look for.
                        unsafe {
                            let mut there =
                                left > 0 && env.step(cursor, &mut key, &mut value, api::SET_RANGE)?;
                            while there {
                                found.add(value.size);
                                left -= 1;
                                there = left > 0 && env.step(cursor, &mut key, &mut value, api::NEXT)?;
                            }
                        }
                        Ok::<_, Error>(())
                    })?;
                }
                Ok(found)
            };
            // SAFETY: the transaction is open.
            unsafe { env.cursor(transaction, dbi, look_up) }
        });
        Ok(found?)
    }

    fn delete<W: Watch>(&mut self, delete: &Delete, watch: &mut W) -> Result<u64, Failure> {
        let (dbi, keys) = (self.dbi, self.keys);
        let (count, each) = (delete.keys.len(), delete.per_commit.or(Some(LARGEST)));
        in_transactions(&mut self.environment, count, each, watch, |env, transaction, index| {
            let bytes = delete.keys.get(index);
            let mut number = 0;
            let mut key = keys.encode(bytes, &mut number)?;
            // SAFETY: the transaction is open; without duplicates no value is needed.
            match unsafe { (env.api.del)(*transaction, dbi, &mut key, std::ptr::null_mut()) } {
                0 => Ok(()),
                code => Err(unfit(env, code, bytes)),
            }
        })
    }

    fn value(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let (env, dbi) = (&self.environment, self.dbi);
        let mut number = 0;
        let mut key = self.keys.encode(key, &mut number)?;
        env.read(|transaction| {
            let mut value = Val::EMPTY;
            // SAFETY: the transaction is open, and the value is copied before it ends.
            unsafe {
                match (env.api.get)(transaction, dbi, &mut key, &mut value) {
                    0 => Ok(Some(value.bytes().to_vec())),
                    api::NOTFOUND => Ok(None),
                    code => Err(env.error(code)),
                }
            }
        })
    }
}

/// The error of one key.
#[cold]
fn unfit(environment: &Environment, code: i32, key: &[u8]) -> Error {
    if code == api::BAD_VALSIZE {
        let longest = environment.longest_key();
        return anyhow!(
            "the key has {} bytes, and LMDB, as this library was compiled, takes keys of 1 to {longest}: use \
             shorter ones or another engine (LMDB error {code})",
            key.len()
        );
    }
    environment.error(code)
}

/// The version, as `0.9.24`.
fn version(api: &Api) -> String {
    let [mut major, mut minor, mut patch] = [0; 3];
    // SAFETY: the numbers outlive the call.
    unsafe { (api.version)(&mut major, &mut minor, &mut patch) };
    format!("{major}.{minor}.{patch}")
}

fn main() -> ExitCode {
    dyno_runner::run::<Lmdb>()
}
