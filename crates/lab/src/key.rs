//! The key of a run's encrypted databases: from `DYNO_KEY`, from a file, or made for the run.
//!
//! It goes to runners in the job and to private servers in memory that has no name, and nowhere else: it is
//! no part of a contender, and no message contains it.

use std::env;
use std::ffi::CStr;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::OnceLock;

use anyhow::{Context, Result, bail};
use dyno_engine::{Contender, Key, RAW_DIGITS};
use dyno_files::open_found;
use nix::libc;
use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// The variable that may hold a key.
pub const VARIABLE: &str = dyno_launch::environment::KEY;

/// The part of a key file that is read, in bytes: a key is its first line.
const LONGEST: u64 = 1 << 16;

/// The contents of the environment, without which dyno goes on.
static FROM_ENVIRONMENT: OnceLock<Option<String>> = OnceLock::new();

/// Takes the key out of the environment, so that no program that dyno starts inherits it, and out of what the
/// kernel shows of it in `/proc`.
///
/// # Safety
/// No other thread may run yet.
pub unsafe fn take_from_environment() {
    let found = env::var_os(VARIABLE).map(|key| key.to_string_lossy().into_owned());
    // SAFETY: as the caller promises. The entries are strings that end in NUL, and the list ends in null.
    unsafe {
        let mut entry = libc::environ;
        while !entry.is_null() && !(*entry).is_null() {
            let text = CStr::from_ptr(*entry).to_bytes();
            if text.strip_prefix(VARIABLE.as_bytes()).is_some_and(|rest| rest.starts_with(b"=")) {
                let value = VARIABLE.len() + 1;
                (*entry).add(value).write_bytes(b'*', text.len() - value);
            }
            entry = entry.add(1);
        }
        env::remove_var(VARIABLE);
    }
    // It is called once; a second call would find nothing.
    let _ = FROM_ENVIRONMENT.set(found);
}

/// The source of a key that was made for the run.
const MADE: &str = "the run";

/// True if a key was made for the run and is gone with it.
pub fn is_made(key: &Key) -> bool {
    key.origin() == MADE
}

/// The key of a file, else of the environment, else one made now: 256 bits as hexadecimal digits,
/// which serve as a passphrase and as a raw key.
///
/// # Errors
/// The file cannot be read, is not its owner's alone, or holds no key; or the variable is empty.
pub fn obtain(file: Option<&Path>) -> Result<Key> {
    let (text, origin) = match (file, FROM_ENVIRONMENT.get().cloned().flatten()) {
        (Some(file), _) => (read(file)?, file.display().to_string()),
        (None, Some(text)) => (text, VARIABLE.to_owned()),
        (None, None) => (made()?, MADE.to_owned()),
    };
    Key::new(text, origin)
}

/// Returns true if the environment holds a key, so that a later dyno can have the same.
pub fn is_given() -> bool {
    FROM_ENVIRONMENT.get().is_some_and(Option::is_some)
}

/// Limits core dumps of this process and of all that it starts to nothing: their memory holds a key or a password.
pub fn limit_core_dumps() {
    let limits = getrlimit(Resource::RLIMIT_CORE);
    // A limit can always be lowered; where the kernel has none, there is nothing to lower.
    let _ = limits.and_then(|(_, hard)| setrlimit(Resource::RLIMIT_CORE, 0, hard));
}

/// Gives a run's key to those contenders that encrypt. Where none does and no file is named, dyno looks for
/// no key.
///
/// # Errors
/// There is no key, or it does not fit a contender's cipher.
pub fn give(contenders: &mut [Contender], file: Option<&Path>) -> Result<()> {
    if contenders.iter().any(|contender| contender.encrypts() || contender.url.is_some()) {
        limit_core_dumps();
    }
    if file.is_none() && !contenders.iter().any(Contender::encrypts) {
        return Ok(());
    }
    let key = obtain(file)?;
    contenders.iter_mut().try_for_each(|contender| contender.take_key(&key))
}

/// A file's first line. Others must not be able to read it.
fn read(file: &Path) -> Result<String> {
    let named = || format!("the key file {}", file.display());
    let opened = open_found(file).with_context(|| format!("cannot open {}", named()))?;
    // Asked of the open file: by its name it could be another one by now.
    if opened.metadata()?.permissions().mode() & 0o077 != 0 {
        let file = file.display();
        bail!("{} may be read or written by others; `chmod 600 {file}` keeps them out", named());
    }
    let mut bytes = Vec::new();
    opened.take(LONGEST).read_to_end(&mut bytes).with_context(|| format!("cannot read {}", named()))?;
    let text = String::from_utf8(bytes).ok().with_context(|| format!("{} is not text", named()))?;
    Ok(text.lines().next().unwrap_or_default().trim().to_owned())
}

fn made() -> Result<String> {
    let mut bytes = [0; RAW_DIGITS / 2];
    getrandom::fill(&mut bytes).context("cannot make a key")?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn of_file(text: &str, mode: u32) -> Result<Key> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key");
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        obtain(Some(&file))
    }

    #[test]
    fn a_key_file_is_its_owners_alone() {
        let key = of_file("correct horse battery\n", 0o600).unwrap();
        assert_eq!(key.secret().reveal(), "correct horse battery");
        for mode in [0o644, 0o640, 0o602] {
            let said = of_file("correct horse battery", mode).unwrap_err().to_string();
            assert!(said.contains("chmod 600") && !said.contains("horse"), "{said}");
        }
        assert!(of_file("\n", 0o600).unwrap_err().to_string().contains("is empty"));
        assert!(obtain(Some(Path::new("/no/such/file"))).unwrap_err().to_string().contains("/no/such"));
        let folder = format!("{:#}", obtain(Some(Path::new("/"))).unwrap_err());
        assert!(folder.contains("the key file /: it is not a regular file"), "{folder}");
    }

    #[test]
    fn a_key_must_fit_the_cipher() {
        let short = of_file("hunter2", 0o600).unwrap();
        for raw in [true, false] {
            let said = short.check(raw).unwrap_err().to_string();
            assert!(said.contains("cipher") && !said.contains("hunter2"), "{said}");
        }
        assert!(of_file("correct horse", 0o600).unwrap().check(false).is_ok());
        assert!(of_file(&"g".repeat(64), 0o600).unwrap().check(true).is_err());
        let made = Key::new(made().unwrap(), String::new()).unwrap();
        assert!(made.check(true).is_ok() && made.another().check(true).is_ok());
        assert_ne!(made.another().secret(), made.secret());
        assert!(!format!("{made:?}").contains(made.secret().reveal()));
    }
}
