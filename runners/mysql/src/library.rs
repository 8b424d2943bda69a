//! Finds and loads the client library.

use std::ffi::{CStr, c_void};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use dyno_protocol::Build;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use crate::api::{Api, Family};

/// What the libraries are called, the preferred one first: libmariadb reaches both engines, so that they
/// are compared through one client. The others are those of MySQL 9 and 8.4, 8.1 to 8.3, and 8.0.
const NAMES: [&str; 5] = [
    "libmariadb.so.3",
    "libmysqlclient.so.24",
    "libmysqlclient.so.23",
    "libmysqlclient.so.22",
    "libmysqlclient.so.21",
];

/// Loads the system's client library: the same for every server, so that versions of the server are
/// compared through one client. Where the system has none, that of the job's installation folder serves.
pub fn load(build: &Build) -> Result<Api> {
    let mut complaint = String::new();
    // The names alone are for the loader's own search.
    for file in NAMES.into_iter().map(PathBuf::from).chain(beside(build)) {
        match open(&file) {
            Ok(api) => return Ok(api),
            Err(error) if complaint.is_empty() => complaint = format!("{error:#}"),
            Err(_) => {}
        }
    }
    bail!("{complaint}; install it (Debian: apt-get install libmariadb3)")
}

/// The libraries in an installation folder.
fn beside(build: &Build) -> Vec<PathBuf> {
    let Build::Path(folder) = build else { return Vec::new() };
    let files = NAMES.map(|name| folder.join("lib").join(name));
    files.into_iter().filter(|file| file.is_file()).collect()
}

fn open(file: &Path) -> Result<Api> {
    let context = || format!("cannot use {} as the client library of MariaDB or MySQL", file.display());
    // Every symbol is resolved now, so that none is looked up within a timed section.
    // SAFETY: loading a library runs its initialisers. It is MariaDB's or MySQL's client library.
    let library = unsafe { Library::open(Some(file), RTLD_NOW | RTLD_LOCAL) }.with_context(context)?;
    Api::resolve(library).with_context(context)
}

/// The library's name and the version it says it has: that of the server it was released with.
pub fn version(api: &Api) -> String {
    let name = match api.family {
        Family::MariaDb => "libmariadb",
        Family::MySql => "libmysqlclient",
    };
    // SAFETY: it takes nothing and returns a constant string.
    let version = unsafe { CStr::from_ptr((api.get_client_info)()) };
    format!("{name} {}", version.to_string_lossy())
}

/// The file that the library was loaded from.
pub fn file(api: &Api) -> String {
    dyno_runner::file_of(api.get_client_info as *const c_void).unwrap_or_else(|| "unknown".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_tells_its_version_and_file() {
        let api = load(&Build::System).unwrap();
        assert!(version(&api).contains('.'));
        assert!(file(&api).contains("lib"));
    }

    #[test]
    fn another_library_lacks_a_named_function() {
        let error = open(Path::new("libc.so.6")).err().unwrap();
        assert!(format!("{error:#}").contains("it has no function mysql_get_client_info"), "{error:#}");
    }
}
