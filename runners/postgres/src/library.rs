//! libpq: what it is called, and what it says of itself.

use std::ffi::c_void;

use dyno_runner::library::{ClientLibrary, file_of};

use crate::api::Api;

/// PostgreSQL's client library.
pub const LIBPQ: ClientLibrary = ClientLibrary { of: "PostgreSQL", files: &["libpq.so.5"] };

/// The version that libpq says it has, as `15.18`.
pub fn version(api: &Api) -> String {
    // SAFETY: it takes nothing and returns a number.
    let version = unsafe { (api.lib_version)() };
    let (major, rest) = (version / 10_000, version % 10_000);
    if major >= 10 { format!("{major}.{rest}") } else { format!("{major}.{}.{}", rest / 100, rest % 100) }
}

/// The file that libpq was loaded from.
pub fn file(api: &Api) -> String {
    file_of(api.lib_version as *const c_void).unwrap_or_else(|| "unknown".to_owned())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use dyno_protocol::Build;

    use super::*;

    #[test]
    fn the_library_tells_its_version_and_file() {
        let api = LIBPQ.load(&Build::System, Api::resolve).unwrap();
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
