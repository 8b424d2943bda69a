//! Finds and loads the library that a job names.

use std::path::PathBuf;

use anyhow::{Context, Result};
use dyno_files::BuildFolder;
use dyno_library::LibraryName;
use dyno_protocol::Build;

use crate::api::Api;

/// The bundled library, compiled by `build.rs`.
const BUNDLED: &str = "libdyno_sqlite3.so";
/// The folder in which `build.rs` leaves it.
#[used]
#[unsafe(link_section = ".dyno.folders")]
static OUTPUT: BuildFolder = BuildFolder::new(env!("OUT_DIR"));
/// The others; the second name exists where headers are installed.
const SQLITE: LibraryName = LibraryName { of: "SQLite", stems: &["libsqlite3.so.0", "libsqlite3.so"] };

/// Loads a build and resolves its functions.
pub fn load(build: &Build) -> Result<Api> {
    match build {
        Build::Bundled => SQLITE.open(&bundled()?, Api::resolve),
        Build::System | Build::Path(_) => SQLITE.load(build, Api::resolve),
    }
}

/// The library next to the program, or the one in the build's output, because test programs lie in another folder.
fn bundled() -> Result<PathBuf> {
    let program = std::env::current_exe().context("cannot find where this program is")?;
    let folders = program.parent().into_iter().chain(OUTPUT.path());
    let found = folders.map(|folder| folder.join(BUNDLED)).find(|path| path.is_file());
    found.with_context(|| {
        format!(
            "the bundled SQLite, {}, is missing: cargo build --release -p dyno-runner-sqlite",
            program.with_file_name(BUNDLED).display()
        )
    })
}

#[cfg(test)]
mod tests {
    use std::ffi::c_void;
    use std::fs;
    use std::path::Path;

    use dyno_library::file_of;

    use super::*;

    fn complaint(path: &Path) -> String {
        match load(&Build::Path(path.to_owned())) {
            Ok(_) => panic!("{} was loaded", path.display()),
            Err(error) => format!("{error:#}"),
        }
    }

    #[test]
    fn the_bundled_library_is_there() {
        let api = load(&Build::Bundled).unwrap();
        let file = file_of(api.libversion as *const c_void).unwrap();
        assert!(file.ends_with(BUNDLED), "{file}");
    }

    #[test]
    fn what_is_not_sqlite_is_named_with_what_is_wrong() {
        let folder = tempfile::tempdir().unwrap();
        let text = folder.path().join("text.so");
        fs::write(&text, "no library").unwrap();
        let said = complaint(&text);
        assert!(said.contains("text.so as SQLite: it is no shared library"), "{said}");
        assert!(complaint(folder.path()).contains("holds libsqlite3.so.0 or libsqlite3.so"));
        assert!(complaint(&folder.path().join("none.so")).contains("cannot find"));
    }

    #[test]
    fn another_library_lacks_a_named_function() {
        let error = SQLITE.open(Path::new("libc.so.6"), Api::resolve).err().unwrap();
        let said = format!("{error:#}");
        assert!(said.contains("as SQLite: it has no function sqlite3_initialize"), "{said}");
    }
}
