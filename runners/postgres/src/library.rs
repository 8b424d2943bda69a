//! Finds and loads libpq.

use std::ffi::c_void;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use dyno_protocol::Build;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use crate::api::Api;

/// What the library is called.
const NAME: &str = "libpq.so.5";

/// Loads the system's libpq: the same for every server, so that versions of the server are compared
/// through one client. Where the system has none, that of the job's installation folder serves.
pub fn load(build: &Build) -> Result<Api> {
    // The loader's own search, so no path.
    let missing = match open(Path::new(NAME)) {
        Ok(api) => return Ok(api),
        Err(error) => error,
    };
    match beside(build) {
        Some(file) => open(&file),
        None => bail!("{missing:#}; install it (Debian: apt-get install libpq5)"),
    }
}

/// The library in an installation folder.
fn beside(build: &Build) -> Option<PathBuf> {
    let Build::Path(folder) = build else { return None };
    Some(folder.join("lib").join(NAME)).filter(|file| file.is_file())
}

fn open(file: &Path) -> Result<Api> {
    let context = || format!("cannot use {} as PostgreSQL's client library", file.display());
    // Every symbol is resolved now, so that none is looked up within a timed section.
    // SAFETY: loading a library runs its initialisers. It is PostgreSQL's client library.
    let library = unsafe { Library::open(Some(file), RTLD_NOW | RTLD_LOCAL) }.with_context(context)?;
    Api::resolve(library).with_context(context)
}

/// The version that libpq says it has, as `15.18`.
pub fn version(api: &Api) -> String {
    // SAFETY: it takes nothing and returns a number.
    let version = unsafe { (api.lib_version)() };
    let (major, rest) = (version / 10_000, version % 10_000);
    if major >= 10 { format!("{major}.{rest}") } else { format!("{major}.{}.{}", rest / 100, rest % 100) }
}

/// The file that libpq was loaded from.
pub fn file(api: &Api) -> String {
    dyno_runner::file_of(api.lib_version as *const c_void).unwrap_or_else(|| "unknown".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_tells_its_version_and_file() {
        let api = load(&Build::System).unwrap();
        assert!(version(&api).contains('.'));
        assert!(file(&api).contains("libpq.so"));
    }

    #[test]
    fn another_library_lacks_a_named_function() {
        let error = open(Path::new("libc.so.6")).err().unwrap();
        assert!(format!("{error:#}").contains("it has no function PQlibVersion"), "{error:#}");
    }
}
