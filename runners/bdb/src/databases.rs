//! What is open: an environment or none, and a database for each store.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_int};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Error, Result, bail, ensure};
use dyno_protocol::{InForce, Secret};
use dyno_runner::setting::{in_force, on_off};

use crate::api::{self, Api, Cursor, Db, Env, Txn};
use crate::settings::Settings;

const GIB: u64 = 1 << 30;
/// The permissions of files.
const MODE: c_int = 0o600;
/// How the names of an environment's log files begin.
const LOG: &str = "log.";
/// What the library says of an error beside its code.
static SAID: Mutex<String> = Mutex::new(String::new());

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
    /// Whether threads share the environment.
    pub is_shared: bool,
}

// SAFETY: handles that are opened without DB_THREAD may move to another thread, and must not be used by two at a time. Each
// session has databases of its own, which the engine closes after it has ended; the environment, which several share, is
// opened with DB_THREAD where there are several.
unsafe impl Send for Databases {}
// SAFETY: as above.
unsafe impl Sync for Databases {}

impl Databases {
    /// Opens the environment, where one is asked for, in a folder, for one thread or for several. `kind` is that of the
    /// databases. Whoever `joins` another process must not recover what that is at work on.
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
            // One in memory is made anew with each process and must learn from the log what there is; one in files may have been
            // left by a process that was killed.
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

    /// Whether there were transactions before.
    fn has_log(&self) -> Result<bool> {
        let entries = fs::read_dir(&self.folder).context("cannot read the environment's folder")?;
        Ok(entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with(LOG)))
    }

    /// The database of a session's store, opened if it was not. It is made where it is missing.
    pub fn store(&self, session: u32, name: &str) -> Result<*mut Db> {
        // Nobody panics who holds it.
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
                // What a temporary database cannot keep in its cache belongs on the file system that is measured.
                self.check(Env::set_tmp_dir(Db::get_env(db), folder.as_ptr()))?;
                if let Some(bytes) = self.settings.cache {
                    let set = Db::set_cachesize(db, (bytes / GIB) as u32, (bytes % GIB) as u32, 1);
                    self.check(set).context("cache_size")?;
                }
            }
        }
        Ok(db)
    }

    /// The settings as the library says them.
    pub fn in_force(&self) -> Result<Vec<InForce>> {
        let db = self.handle()?;
        let mut flags = 0;
        let [mut gigabytes, mut bytes, mut page, mut cipher] = [0; 4];
        let mut caches = 0;
        // SAFETY: the handle is fresh, is closed once and not used after that, and the numbers outlive the calls.
        unsafe {
            // Only an environment that is open tells its flags.
            if !self.env.is_null() {
                self.check(Env::get_open_flags(Db::get_env(db), &mut flags))?;
            }
            let code = match self.env.is_null() {
                true => Db::get_cachesize(db, &mut gigabytes, &mut bytes, &mut caches),
                false => Env::get_cachesize(self.env, &mut gigabytes, &mut bytes, &mut caches),
            };
            self.check(code)?;
            self.check(match self.env.is_null() {
                true => Db::get_encrypt_flags(db, &mut cipher),
                false => Env::get_encrypt_flags(self.env, &mut cipher),
            })?;
            self.check(Db::get_pagesize(db, &mut page))?;
            self.check(Db::close(db, 0))?;
        }
        let environment = if flags & api::INIT_TXN != 0 { "transactional" } else { "none" };
        let database = if self.settings.temporary { "temporary" } else { "file" };
        let cache = u64::from(gigabytes) * GIB + u64::from(bytes);
        let mut list = vec![
            in_force("environment", environment),
            in_force("database", database),
            in_force("cache_size", without_overhead(cache, self.settings.cache)),
            in_force("cache_with_overhead", cache),
        ];
        if self.settings.page.is_some() {
            list.push(in_force("page_size", page));
        }
        if self.password.is_some() {
            ensure!(cipher & api::ENCRYPT_AES != 0, "the library took a password and does not encrypt");
            list.extend([in_force("key", "passphrase"), in_force("cipher", "AES")]);
        }
        if !self.env.is_null() {
            list.push(on_off("private", flags & api::PRIVATE != 0));
            list.extend(self.environment_in_force()?);
        }
        Ok(list)
    }

    fn environment_in_force(&self) -> Result<[InForce; 4]> {
        let [mut flags, mut log_buffer, mut locks] = [0; 3];
        // SAFETY: the environment is open and the numbers outlive the calls.
        unsafe {
            self.check(Env::get_flags(self.env, &mut flags))?;
            self.check(Env::get_lg_bsize(self.env, &mut log_buffer))?;
            self.check(Env::get_lk_max_locks(self.env, &mut locks))?;
        }
        Ok([
            on_off("txn_nosync", flags & api::TXN_NOSYNC != 0),
            on_off("txn_write_nosync", flags & api::TXN_WRITE_NOSYNC != 0),
            in_force("lg_bsize", log_buffer),
            in_force("lk_max_locks", locks),
        ])
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

    /// Writes what is in caches to the databases and waits for the device. A checkpoint also notes that in the log, which
    /// it syncs first; it is made even if the log says that nothing has happened since the last.
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

    /// Whether the databases end with their process.
    pub fn is_temporary(&self) -> bool {
        self.settings.temporary
    }

    /// Whether there is an environment, and with it transactions.
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

    /// What a code means, in the library's words, and what to do.
    #[cold]
    pub fn error(&self, code: c_int) -> Error {
        // SAFETY: it returns a constant string or one of strerror's.
        let text = unsafe { CStr::from_ptr((self.api.strerror)(code)) }.to_string_lossy();
        let said = SAID.lock().map(|mut said| std::mem::take(&mut *said)).unwrap_or_default();
        let said = if said.is_empty() { said } else { format!(": {said}") };
        let advice = match code {
            api::OLD_VERSION | api::VERSION_MISMATCH => {
                "; another version wrote it: a trial begins in an empty folder"
            }
            _ if code == nix::Error::ENOMEM as c_int && said.to_lowercase().contains("lock") => {
                "; ask for more, as lk_max_locks=NUMBER"
            }
            _ => "",
        };
        Error::new(BdbError { code, text: format!("{text} (Berkeley DB error {code}){said}{advice}") })
    }
}

/// What the library refused.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub struct BdbError {
    code: c_int,
    text: String,
}

impl BdbError {
    /// Whether it was in the way of others that were in its way, and may succeed if it is tried again.
    pub fn may_pass(&self) -> bool {
        self.code == api::LOCK_DEADLOCK
    }
}

/// The library makes caches of less than 500 MB larger, by a quarter and a little, and tells that size. This is
/// the size asked for where the one in force is such an enlargement of it.
fn without_overhead(in_force: u64, asked: Option<u64>) -> u64 {
    let enlarged = |asked: &u64| (*asked..=asked + asked / 4 + (64 << 10)).contains(&in_force);
    asked.filter(enlarged).unwrap_or(in_force)
}

/// Keeps the library's messages: the first tells the cause, and the last only what came of it.
unsafe extern "C" fn hear(_: *const Env, _: *const c_char, text: *const c_char) {
    // SAFETY: the library hands over a string that ends in NUL.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
    if let Ok(mut said) = SAID.lock() {
        if !said.is_empty() {
            said.push_str("; ");
        }
        said.push_str(&text);
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
