//! libpq: what it is called, and what it says of itself.

use std::ffi::c_void;

use anyhow::Result;
use dyno_library::{LibraryName, file_title};
use dyno_protocol::Build;

use super::api::Api;

/// PostgreSQL's client library.
const LIBPQ: LibraryName = LibraryName { of: "the client library of PostgreSQL", stems: &["libpq.so.5"] };

/// Loads the system's libpq; without one, that of the server's build.
pub fn load(build: &Build) -> Result<Api> {
    LIBPQ.load_client(build, Api::resolve)
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
    file_title(api.lib_version as *const c_void)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_library_reports_its_version_and_file() {
        let api = load(&Build::System).unwrap();
        assert!(version(&api).contains('.'));
        assert!(file(&api).contains("libpq.so"));
    }

    #[test]
    fn another_library_is_not_libpq() {
        let error = LIBPQ.open(Path::new("libc.so.6"), Api::resolve).err().unwrap();
        assert!(
            format!("{error:#}").contains("it has no function PQlibVersion: it is not libpq"),
            "{error:#}"
        );
    }
}
