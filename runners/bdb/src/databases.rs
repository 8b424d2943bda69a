//! The open handles: an environment or none, and a database for each store.

mod in_force;

use std::collections::BTreeMap;
use std::ffi::{CString, c_int};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Error, Result, bail, ensure};
use dyno_protocol::Secret;

use crate::api::{self, Api, Cursor, Db, Env, Txn};
use crate::error::{explain, hear};
use crate::settings::Settings;

const GIB: u64 = 1 << 30;
/// The permissions of files.
const MODE: c_int = 0o600;
/// The beginning of the names of an environment's log files.
const LOG: &str = "log.";

/// The databases of a trial. They must be closed with [`Databases::close`]; a trial that failed ends its
/// process.
pub struct Databases {
    /// The library.
    pub api: Api,
    /// The environment, open; null where there is none.
    env: *mut Env,
    /// The stores that are open, by session and name.
    stores: Mutex<BTreeMap<(u32, String), *mut Db>>,
    settings: Settings,
    /// The password of whatever is encrypted.
    password: Option<CString>,
    kind: c_int,
    folder: PathBuf,
    /// True if threads share the environment.
    pub is_shared: bool,
}

// SAFETY: handles that are opened without DB_THREAD may move to another thread, and must not be used by two at a time.
// Each session has separate databases, which the engine closes after it has ended; the environment, which several
// share, is opened with DB_THREAD where there are several.
unsafe impl Send for Databases {}
// SAFETY: as above.
unsafe impl Sync for Databases {}

impl Databases {
    /// Opens the environment, where one is asked for, in a folder, for one thread or for several. `kind` is that of the
    /// databases. A process that `joins` another must not recover an environment that is in use.
    pub fn open(
        api: Api,
        settings: Settings,
        key: Option<&Secret>,
        kind: c_int,
        folder: &Path,
        is_shared: bool,
        joins: bool,
    ) -> Result<Databases> {
        let password = password(settings.encrypted, key)?;
        let (folder, env, stores) = (folder.to_owned(), ptr::null_mut(), Mutex::default());
        let mut this = Databases { api, env, stores, settings, password, kind, folder, is_shared };
        if this.settings.environment {
            this.open_environment(joins)
                .with_context(|| format!("cannot open an environment in {}", this.folder.display()))?;
        }
        Ok(this)
    }

    fn open_environment(&mut self, joins: bool) -> Result<()> {
        let home = path(&self.folder)?;
        let library = api::file(&self.api)?;
        // SAFETY: the handle is made by a library of the right release, the settings come before `open`, and
        // what is pointed to outlives the calls.
        unsafe {
            let mut env = ptr::null_mut();
            self.check((self.api.env_create)(&mut env, 0))?;
            self.env = env;
            Env::check(env, &library)?;
            Env::set_errcall(env, hear);
            let settings = &self.settings;
            if let Some(bytes) = settings.cache {
                self.check(Env::set_cachesize(env, (bytes / GIB) as u32, (bytes % GIB) as u32, 1))?;
            }
            if let Some(bytes) = settings.log_buffer {
                self.check(Env::set_lg_bsize(env, bytes))?;
            }
            self.check(Env::set_lk_max_locks(env, settings.locks))?;
            self.check(Env::set_lk_max_objects(env, settings.locks))?;
            self.check(Env::set_flags(env, api::TXN_NOSYNC, settings.nosync.into()))?;
            if settings.write_nosync {
                self.check(Env::set_flags(env, api::TXN_WRITE_NOSYNC, 1))?;
            }
            if let Some(password) = &self.password {
                self.check(Env::set_encrypt(env, password.as_ptr(), api::ENCRYPT_AES))?;
            }
            if self.is_shared {
                self.check(Env::set_lk_detect(env, api::LOCK_DEFAULT))?;
            }
            let shared = if self.is_shared { api::THREAD } else { 0 };
            let private = if settings.private { api::PRIVATE } else { 0 };
            // One in memory is made anew with each process and must learn from the log what there is; one in files may
            // have been left by a process that was killed.
            let recover = if !joins && (settings.private || self.has_log()?) { api::RECOVER } else { 0 };
            let parts =
                shared | private | recover | api::INIT_LOCK | api::INIT_LOG | api::INIT_MPOOL | api::INIT_TXN;
            self.check(Env::open(env, home.as_ptr(), api::CREATE | parts, MODE))?;
            let mut transaction = ptr::null_mut();
            self.check(Env::txn_begin(env, ptr::null_mut(), &mut transaction, 0))?;
            Txn::check(transaction, &library)?;
            self.check(Txn::abort(transaction))
        }
    }

    /// True if there were transactions before.
    fn has_log(&self) -> Result<bool> {
        let entries = fs::read_dir(&self.folder).context("cannot read the environment's folder")?;
        Ok(entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with(LOG)))
    }

    /// The database of a session's store, opened if it was not. It is made where it is missing.
    pub fn store(&self, session: u32, name: &str) -> Result<*mut Db> {
        // No thread panics while it holds the lock.
        let mut stores = self.stores.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (session, name.to_owned());
        if let Some(db) = stores.get(&key) {
            return Ok(*db);
        }
        let db = self.handle()?;
        let file = format!("{name}.db");
        // With an environment, names are relative to its folder.
        let place = if self.env.is_null() { self.folder.join(&file) } else { PathBuf::from(&file) };
        let place = path(&place)?;
        let place = if self.settings.temporary { ptr::null() } else { place.as_ptr() };
        let commit = if self.env.is_null() { 0 } else { api::AUTO_COMMIT };
        // SAFETY: the handle is fresh and what is pointed to outlives the call.
        let code = unsafe {
            Db::open(db, ptr::null_mut(), place, ptr::null(), self.kind, api::CREATE | commit, MODE)
        };
        self.check(code).with_context(|| format!("cannot open {}", self.folder.join(&file).display()))?;
        let mut cursor = ptr::null_mut();
        // SAFETY: the database is open; the cursor is closed once and not used after that.
        unsafe {
            self.check(Db::cursor(db, ptr::null_mut(), &mut cursor, 0))?;
            Cursor::check(cursor, &api::file(&self.api)?)?;
            self.check(Cursor::close(cursor))?;
        }
        stores.insert(key, db);
        Ok(db)
    }

    /// A handle of a database that is not open yet, with its settings.
    fn handle(&self) -> Result<*mut Db> {
        let mut db = ptr::null_mut();
        let folder = path(&self.folder)?;
        // SAFETY: the handle is made by a library of the right release, and what is pointed to outlives the
        // calls.
        unsafe {
            self.check((self.api.create)(&mut db, self.env, 0))?;
            Db::check(db, &api::file(&self.api)?)?;
            if let Some(bytes) = self.settings.page {
                self.check(Db::set_pagesize(db, bytes)).context("page_size")?;
            }
            match &self.password {
                Some(password) if self.env.is_null() => {
                    self.check(Db::set_encrypt(db, password.as_ptr(), api::ENCRYPT_AES))?;
                }
                Some(_) => self.check(Db::set_flags(db, api::ENCRYPT))?,
                None => {}
            }
            if self.env.is_null() {
                Db::set_errcall(db, hear);
                // The part of a temporary database that its cache cannot hold belongs on the file system that is
                // measured.
                self.check(Env::set_tmp_dir(Db::get_env(db), folder.as_ptr()))?;
                if let Some(bytes) = self.settings.cache {
                    let set = Db::set_cachesize(db, (bytes / GIB) as u32, (bytes % GIB) as u32, 1);
                    self.check(set).context("cache_size")?;
                }
            }
        }
        Ok(db)
    }

    /// Closes the databases of a session.
    pub fn end(&self, session: u32) -> Result<()> {
        let mut stores = self.stores.lock().unwrap_or_else(PoisonError::into_inner);
        let own: Vec<(u32, String)> = stores.keys().filter(|(of, _)| *of == session).cloned().collect();
        own.iter().filter_map(|key| stores.remove(key)).try_for_each(|db| {
            // SAFETY: the database is open and not used after this.
            self.check(unsafe { Db::close(db, 0) })
        })
    }

    /// Closes all databases and the environment.
    pub fn close(self) -> Result<()> {
        for db in self.stores.lock().unwrap_or_else(PoisonError::into_inner).values() {
            // SAFETY: the database is open and not used after this.
            self.check(unsafe { Db::close(*db, 0) })?;
        }
        if self.env.is_null() {
            return Ok(());
        }
        // SAFETY: the environment is open and not used after this.
        self.check(unsafe { Env::close(self.env, 0) })
    }

    /// Writes what is in caches to the databases and waits for the device. A checkpoint also notes that in the log,
    /// which it syncs first; it is made even if the log says that nothing has happened since the last.
    pub fn settle(&self) -> Result<()> {
        if !self.env.is_null() {
            // SAFETY: the environment is open.
            return self.check(unsafe { Env::txn_checkpoint(self.env, 0, 0, api::FORCE) });
        }
        for db in self.stores.lock().unwrap_or_else(PoisonError::into_inner).values() {
            // SAFETY: the database is open.
            self.check(unsafe { Db::sync(*db, 0) })?;
        }
        Ok(())
    }

    /// Returns true if there is an environment, and with it transactions.
    pub fn has_transactions(&self) -> bool {
        !self.env.is_null()
    }

    /// Begins a transaction; null where there is no environment.
    #[inline]
    pub fn begin(&self) -> Result<*mut Txn> {
        let mut transaction = ptr::null_mut();
        if !self.env.is_null() {
            // SAFETY: the environment is open.
            self.check(unsafe { Env::txn_begin(self.env, ptr::null_mut(), &mut transaction, 0) })?;
        }
        Ok(transaction)
    }

    /// Turns a result code into an error.
    #[inline]
    pub fn check(&self, code: c_int) -> Result<()> {
        if code == 0 { Ok(()) } else { Err(self.error(code)) }
    }

    /// The meaning of a code, in the library's words, with advice.
    #[cold]
    pub fn error(&self, code: c_int) -> Error {
        explain(&self.api, code)
    }
}

/// The password, where encryption is asked for.
fn password(encrypted: bool, key: Option<&Secret>) -> Result<Option<CString>> {
    match (encrypted, key) {
        (false, None) => Ok(None),
        (true, Some(key)) => {
            let password = CString::new(key.reveal()).context("the job's key holds a NUL byte")?;
            ensure!(!password.is_empty(), "the job's key is empty");
            Ok(Some(password))
        }
        (true, None) => bail!("the setting 'key' asks for encryption, and the job brings no key"),
        (false, Some(_)) => bail!("the job brings a key, and no setting 'key' says what it is"),
    }
}

fn path(path: &Path) -> Result<CString> {
    CString::new(path.as_os_str().as_bytes()).context("the path holds a NUL byte")
}
