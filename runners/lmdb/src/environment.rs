//! An open environment, and what LMDB's errors mean.

use std::ffi::{CStr, CString, c_int, c_uint, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::{ptr, slice};

use anyhow::{Context, Error, Result, anyhow, ensure};
use dyno_protocol::{InForce, KeyKind, Store};

use crate::api::{self, Api, Dbi, Env, EnvInfo, Txn, Val};
use crate::settings::{Settings, read_back};

/// The most stores that an environment may have.
const STORES: Dbi = 128;
/// The most threads that may read at a time: LMDB's own number, unless there are more.
const READERS: c_uint = 126;
/// The file's permissions.
const MODE: c_uint = 0o600;

/// An environment. It must be closed with [`Environment::close`]; a trial that failed ends its process.
pub struct Environment {
    /// The library.
    pub api: Api,
    /// Open.
    env: *mut Env,
}

// SAFETY: an environment may be used by any thread and by several. Its transactions may not, and do not leave theirs.
unsafe impl Send for Environment {}
// SAFETY: as above.
unsafe impl Sync for Environment {}

impl Environment {
    /// Makes an environment in a folder, for this many threads.
    pub fn open(api: Api, folder: &Path, settings: &Settings, threads: u32) -> Result<Environment> {
        let path =
            CString::new(folder.as_os_str().as_bytes()).context("the folder's name holds a NUL byte")?;
        let mut env = ptr::null_mut();
        // SAFETY: `env` outlives the call.
        let code = unsafe { (api.env_create)(&mut env) };
        let this = Environment { api, env };
        this.check(code)?;
        let context = || format!("cannot open an environment in {}", folder.display());
        // SAFETY: the environment was made and is not open yet, as these calls want it.
        unsafe {
            this.check((this.api.env_set_mapsize)(env, settings.map_size)).context("map_size")?;
            this.check((this.api.env_set_maxdbs)(env, STORES))?;
            this.check((this.api.env_set_maxreaders)(env, threads.max(READERS)))?;
            let code = (this.api.env_open)(env, path.as_ptr(), settings.flags, MODE);
            this.check(code).with_context(context)?;
        }
        Ok(this)
    }

    /// The settings as the environment says them.
    pub fn in_force(&self) -> Result<Vec<InForce>> {
        let mut flags = 0;
        // SAFETY: the environment is open and `flags` outlives the call.
        self.check(unsafe { (self.api.env_get_flags)(self.env, &mut flags) })?;
        Ok(read_back(flags, self.info()?.map_size))
    }

    fn info(&self) -> Result<EnvInfo> {
        let mut info = EnvInfo::default();
        // SAFETY: the environment is open and `info` outlives the call.
        self.check(unsafe { (self.api.env_info)(self.env, &mut info) })?;
        Ok(info)
    }

    /// Opens a store, making it where it is missing.
    pub fn store(&self, store: &Store) -> Result<Dbi> {
        let name = CString::new(store.name.as_str()).context("the store's name holds a NUL byte")?;
        let kind = if store.key == KeyKind::Integer { api::INTEGERKEY } else { 0 };
        let transaction = self.begin(0)?;
        let mut dbi = 0;
        // SAFETY: the transaction is open and `dbi` outlives the call.
        let code = unsafe { (self.api.dbi_open)(transaction, name.as_ptr(), api::CREATE | kind, &mut dbi) };
        self.check(code).with_context(|| format!("cannot open the store {}", store.name))?;
        // SAFETY: the transaction is open and not used after this.
        self.check(unsafe { (self.api.txn_commit)(transaction) })?;
        Ok(dbi)
    }

    /// Begins a transaction, with the flags of one for reading or none. Of those for writing there is one at a time:
    /// the next waits for its end.
    #[inline]
    pub fn begin(&self, flags: c_uint) -> Result<*mut Txn> {
        let mut transaction = ptr::null_mut();
        // SAFETY: the environment is open.
        self.check(unsafe { (self.api.txn_begin)(self.env, ptr::null_mut(), flags, &mut transaction) })?;
        Ok(transaction)
    }

    /// Waits until everything is on the device, also where commits do not. Nothing else is ever put off.
    pub fn sync(&self) -> Result<()> {
        // SAFETY: the environment is open.
        self.check(unsafe { (self.api.env_sync)(self.env, 1) })
    }

    /// The longest key, in bytes.
    pub fn longest_key(&self) -> usize {
        // SAFETY: the environment is open.
        let length = unsafe { (self.api.env_get_maxkeysize)(self.env) };
        usize::try_from(length).unwrap_or(0)
    }

    /// Closes the environment.
    pub fn close(self) {
        // SAFETY: no transaction is open and the environment is not used after this.
        unsafe { (self.api.env_close)(self.env) };
    }

    /// Turns a result code into an error.
    #[inline]
    pub fn check(&self, code: c_int) -> Result<()> {
        if code == 0 { Ok(()) } else { Err(self.error(code)) }
    }

    /// Translates a code to LMDB's message, and adds the remedy.
    #[cold]
    pub fn error(&self, code: c_int) -> Error {
        // SAFETY: it returns a constant string or one of strerror's.
        let text = unsafe { CStr::from_ptr((self.api.strerror)(code)) }.to_string_lossy();
        let advice = match code {
            api::MAP_FULL => ": ask for a larger map, as map_size=BYTES",
            api::VERSION_MISMATCH | api::INVALID => {
                ": another version or another program wrote it; a trial begins in an empty folder"
            }
            _ => "",
        };
        anyhow!("{text} (LMDB error {code}){advice}")
    }
}

impl Val {
    /// Nothing, to be filled.
    pub const EMPTY: Val = Val { size: 0, data: ptr::null_mut() };

    /// These bytes, which LMDB reads and does not change.
    #[inline]
    pub fn of(bytes: &[u8]) -> Val {
        Val { size: bytes.len(), data: bytes.as_ptr() as *mut c_void }
    }

    /// The bytes.
    ///
    /// # Safety
    /// They are those of a pair in a map, whose transaction is open and changes nothing meanwhile.
    #[inline]
    pub unsafe fn bytes<'a>(&self) -> &'a [u8] {
        if self.size == 0 {
            return &[];
        }
        // SAFETY: as the caller promises.
        unsafe { slice::from_raw_parts(self.data.cast(), self.size) }
    }
}

/// A key as LMDB keeps it: a number of the machine's own in a store of integers, else its bytes.
#[derive(Debug, Clone, Copy)]
pub enum Keys {
    /// Numbers.
    Integer,
    /// Bytes.
    Blob,
}

impl Keys {
    /// A key for LMDB. `number` holds it while the result is in use.
    #[inline]
    pub fn encode(self, key: &[u8], number: &mut u64) -> Result<Val> {
        match self {
            Keys::Blob => Ok(Val::of(key)),
            Keys::Integer => {
                ensure!(key.len() == 8, "an integer key has 8 bytes and not {}", key.len());
                *number = u64::from_be_bytes(key.try_into()?);
                Ok(Val { size: 8, data: ptr::from_mut(number).cast() })
            }
        }
    }

    /// A key as the protocol has it: of an integer its 8 bytes, the most significant first.
    #[inline]
    pub fn decode<'a>(self, key: &'a [u8], number: &'a mut [u8; 8]) -> &'a [u8] {
        match (self, <[u8; 8]>::try_from(key)) {
            (Keys::Integer, Ok(native)) => {
                *number = u64::from_ne_bytes(native).to_be_bytes();
                number
            }
            _ => key,
        }
    }
}
