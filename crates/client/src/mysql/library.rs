//! The client library: its names and its version.

use std::ffi::{CStr, c_void};

use anyhow::Result;
use dyno_library::{LibraryName, file_title};
use dyno_protocol::Build;

use super::api::{Api, Family};

/// The client libraries. libmariadb reaches both engines, so that they are compared through one client.
/// The others are those of MySQL 9 and 8.4, 8.1 to 8.3, and 8.0.
const CLIENT: LibraryName = LibraryName {
    of: "the client library of MariaDB or MySQL",
    stems: &[
        "libmariadb.so.3",
        "libmysqlclient.so.24",
        "libmysqlclient.so.23",
        "libmysqlclient.so.22",
        "libmysqlclient.so.21",
    ],
};

/// Loads the system's library; without one, that of the server's build.
pub fn load(build: &Build) -> Result<Api> {
    CLIENT.load_client(build, Api::resolve)
}

/// The library's name, and the version that it reports: that of the server with which it was released.
pub fn version(api: &Api) -> String {
    let name = match api.family() {
        Family::MariaDb => "libmariadb",
        Family::MySql => "libmysqlclient",
    };
    // SAFETY: it takes nothing and returns a constant string.
    let version = unsafe { CStr::from_ptr((api.get_client_info)()) };
    format!("{name} {}", version.to_string_lossy())
}

/// The file that the library was loaded from.
pub fn file(api: &Api) -> String {
    file_title(api.get_client_info as *const c_void)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_library_reports_its_version_and_file() {
        let api = load(&Build::System).unwrap();
        assert!(version(&api).contains('.'));
        assert!(file(&api).contains("lib"));
    }

    #[test]
    fn another_library_is_no_client_library() {
        let error = format!("{:#}", CLIENT.open(Path::new("libc.so.6"), Api::resolve).err().unwrap());
        assert!(error.contains("no function mysql_get_client_info: it is not a client library"), "{error}");
    }
}
