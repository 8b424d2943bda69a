//! Finds and loads the library that a job names.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use dyno_protocol::Build;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use crate::api::Api;

/// The bundled library, compiled by `build.rs`.
const BUNDLED: &str = "libdyno_sqlite3.so";
/// What the system's library is called; the second name exists where headers are installed.
const SYSTEM: [&str; 2] = ["libsqlite3.so.0", "libsqlite3.so"];

/// Loads a build and resolves its functions.
pub fn load(build: &Build) -> Result<Api> {
    match build {
        Build::Bundled => open(&bundled()?),
        Build::System => system(),
        Build::Path(path) => open(&own(path)?),
    }
}

/// Beside the program, or where the build left it, for a test's program stands elsewhere.
fn bundled() -> Result<PathBuf> {
    let program = std::env::current_exe().context("cannot tell where this program is")?;
    let beside = program.with_file_name(BUNDLED);
    let built = Path::new(env!("OUT_DIR")).join(BUNDLED);
    let found = [&beside, &built].into_iter().find(|path| path.is_file());
    found.cloned().with_context(|| {
        format!(
            "the bundled SQLite, {}, is missing: cargo build --release -p dyno-runner-sqlite",
            beside.display()
        )
    })
}

fn system() -> Result<Api> {
    let mut complaint = String::new();
    for name in SYSTEM {
        // The loader's own search, so no path.
        match open(Path::new(name)) {
            Ok(api) => return Ok(api),
            Err(error) if complaint.is_empty() => complaint = format!("{error:#}"),
            Err(_) => {}
        }
    }
    bail!("this system has no SQLite library that can be used: {complaint}")
}

/// A file of the user's own, or the library in an installation folder.
fn own(path: &Path) -> Result<PathBuf> {
    // Whole, because the loader would search for a name without a slash.
    let path = path.canonicalize().with_context(|| format!("cannot find {}", path.display()))?;
    if !path.is_dir() {
        return Ok(path);
    }
    let folders = [path.clone(), path.join("lib"), path.join(".libs")];
    let mut files = folders.iter().flat_map(|folder| SYSTEM.map(|name| folder.join(name)));
    files.find(|file| file.is_file()).with_context(|| {
        format!("neither {} nor its lib folder holds {}", path.display(), SYSTEM.join(" or "))
    })
}

fn open(file: &Path) -> Result<Api> {
    let context = || format!("cannot use {} as SQLite", file.display());
    // Every symbol is resolved now, so that none is looked up within a timed section.
    // SAFETY: loading a library runs its initialisers. It is the library that the user chose.
    let library = unsafe { Library::open(Some(file), RTLD_NOW | RTLD_LOCAL) };
    let library =
        library.context("it is no shared library that this machine can load").with_context(context)?;
    Api::resolve(library).with_context(context)
}

#[cfg(test)]
mod tests {
    use std::ffi::c_void;
    use std::fs;

    use dyno_runner::file_of;

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
        // SAFETY: the C library is loaded already.
        let library = unsafe { Library::open(Some("libc.so.6"), RTLD_NOW) }.unwrap();
        let error = Api::resolve(library).err().unwrap();
        assert!(error.to_string().starts_with("it has no function sqlite3_initialize"), "{error:#}");
    }
}
