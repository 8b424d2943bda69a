//! Finds and loads an engine's library at run time, so that any version of it can be measured and none
//! has to be there when the runner is built.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use dyno_protocol::Build;
use libloading::os::unix::{RTLD_LOCAL, RTLD_NOW};

use crate::library::Library;
use crate::needs;

/// Where libraries of the system may be that the loader does not find under their short name, which
/// comes with the package for development only. `*` is the folder of an architecture.
const FOLDERS: [&str; 5] = ["/usr/local/lib", "/usr/lib", "/usr/lib64", "/lib", "/usr/lib/*"];

/// What an engine's library is called.
#[derive(Debug, Clone, Copy)]
pub struct LibraryName {
    /// The engine, for messages.
    pub engine: &'static str,
    /// How the file's name begins, as `liblmdb.so`. Versions may follow.
    pub stem: &'static str,
}

/// Loads the library that a job's build names: the system's newest, a file, or the one in an
/// installation folder.
///
/// # Errors
/// There is none: it says what to install. Or it cannot be loaded.
pub fn load_library(build: &Build, name: &LibraryName) -> Result<Library> {
    match build {
        Build::Path(path) => open(&own(path, name)?, name),
        Build::Bundled | Build::System => system(name),
    }
}

fn system(name: &LibraryName) -> Result<Library> {
    // The loader's own search first, which obeys the system's configuration.
    let found =
        [PathBuf::from(name.stem)].into_iter().chain(folders().flat_map(|folder| within(&folder, name)));
    let mut complaint = String::new();
    for file in found {
        match open(&file, name) {
            Ok(library) => return Ok(library),
            // What is said of a file that is there tells more than that there is no short name.
            Err(error) => complaint = format!("{error:#}"),
        }
    }
    bail!("{complaint}{}", needs::advice(name.stem))
}

/// A file of the user's own, or the library in an installation folder.
fn own(path: &Path, name: &LibraryName) -> Result<PathBuf> {
    // Whole, because the loader would search for a name without a slash.
    let path = path.canonicalize().with_context(|| format!("cannot find {}", path.display()))?;
    if !path.is_dir() {
        return Ok(path);
    }
    let folders = [path.clone(), path.join("lib"), path.join(".libs")];
    let found = folders.iter().flat_map(|folder| within(folder, name)).next();
    found.with_context(|| format!("neither {} nor its lib folder holds {}", path.display(), name.stem))
}

fn open(file: &Path, name: &LibraryName) -> Result<Library> {
    // Every symbol is resolved now, so that none is looked up within a timed section.
    // SAFETY: loading a library runs its initialisers. It is the library that the user chose.
    let library = unsafe { Library::open(Some(file), RTLD_NOW | RTLD_LOCAL) };
    library.with_context(|| format!("cannot load {} as {}", file.display(), name.engine))
}

/// The folders of the system's libraries, with those of architectures.
fn folders() -> impl Iterator<Item = PathBuf> {
    FOLDERS.iter().flat_map(|folder| match folder.strip_suffix("/*") {
        Some(parent) => entries(Path::new(parent)).filter(|path| path.is_dir()).collect(),
        None => vec![PathBuf::from(folder)],
    })
}

/// The library's files in a folder, the newest version first.
fn within(folder: &Path, name: &LibraryName) -> Vec<PathBuf> {
    let version = |path: &PathBuf| version(path.file_name()?.to_str()?, name.stem);
    let mut found: Vec<_> =
        entries(folder).filter_map(|path| version(&path).map(|version| (version, path))).collect();
    found.sort_by(|a, b| b.cmp(a));
    found.into_iter().map(|(_, path)| path).collect()
}

/// The numbers behind a name as `librocksdb.so.7.8.3`; none for another name.
fn version(file: &str, stem: &str) -> Option<Vec<u32>> {
    let rest = file.strip_prefix(stem)?;
    if rest.is_empty() {
        return Some(Vec::new());
    }
    rest.strip_prefix('.')?.split('.').map(|number| number.parse().ok()).collect()
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// Declares a table of functions whose names begin alike, resolved once by `resolve`, as
/// [`functions!`](crate::functions) does of those that do not. The list is the whole of what the library
/// must offer: `NAME, "PREFIX": function: fn(types) -> type; …`. Calling an entry is as unsafe
/// as calling the C function.
#[macro_export]
macro_rules! prefixed_functions {
    ($(#[$about:meta])* $table:ident, $prefix:literal:
     $($name:ident: fn($($argument:ty),*) $(-> $result:ty)?;)*) => {
        $(#[$about])*
        pub struct $table {
            $(
                #[doc = concat!("`", $prefix, stringify!($name), "`")]
                pub $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,
            )*
            /// Keeps the functions in memory.
            _library: $crate::library::Library,
        }

        impl $table {
            /// Looks every function up; the error names the one that is missing.
            pub fn resolve(library: $crate::library::Library) -> ::anyhow::Result<$table> {
                // SAFETY: these are the signatures of the library's header. A library that has functions
                // of these names with others is another library.
                let table = unsafe { $crate::library::Table::new(library, "the right one, or too old") };
                Ok($table {
                    $($name: table.look_up(concat!($prefix, stringify!($name)))?,)*
                    _library: table.into_library(),
                })
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A version of LMDB that never was.
    const NOTHING: LibraryName = LibraryName { engine: "Nothing", stem: "liblmdb.so.0.nothing" };

    #[test]
    fn versions_are_compared_as_numbers() {
        let folder = tempfile::tempdir().unwrap();
        for file in ["libx.so.7.8.3", "libx.so.10.2", "libx.so.9.11", "libx.sox", "libx.so.1.a", "liby.so.11"]
        {
            fs::write(folder.path().join(file), "").unwrap();
        }
        let name = LibraryName { stem: "libx.so", ..NOTHING };
        let found = within(folder.path(), &name);
        let names: Vec<_> = found.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["libx.so.10.2", "libx.so.9.11", "libx.so.7.8.3"]);
    }

    #[test]
    fn what_is_missing_is_named_with_what_to_do() {
        let said = format!("{:#}", load_library(&Build::System, &NOTHING).unwrap_err());
        assert!(said.contains("liblmdb.so.0.nothing as Nothing"), "{said}");
        assert!(
            said.ends_with("install it (Debian: sudo apt-get install --no-install-recommends liblmdb0)"),
            "{said}"
        );
        let folder = tempfile::tempdir().unwrap();
        let load =
            |path: &Path| format!("{:#}", load_library(&Build::Path(path.into()), &NOTHING).unwrap_err());
        assert!(load(folder.path()).ends_with("lib folder holds liblmdb.so.0.nothing"));
        assert!(load(&folder.path().join("none")).starts_with("cannot find"));
        let text = folder.path().join("liblmdb.so.0.nothing.1");
        fs::write(&text, "no library").unwrap();
        assert!(load(folder.path()).contains("liblmdb.so.0.nothing.1 as Nothing"));
    }

    #[test]
    fn a_function_that_is_missing_is_named() {
        prefixed_functions!(Table, "dyno_": nothing: fn(i32) -> i32;);
        let library = open(Path::new("libc.so.6"), &NOTHING).unwrap();
        let error = match Table::resolve(library) {
            Ok(table) => panic!("{:p}", table.nothing),
            Err(error) => error.to_string(),
        };
        assert!(error.contains("no function dyno_nothing"), "{error}");
        prefixed_functions!(C, "": abs: fn(std::ffi::c_int) -> std::ffi::c_int;);
        let found = C::resolve(open(Path::new("libc.so.6"), &NOTHING).unwrap()).unwrap();
        // SAFETY: it takes and returns a number.
        assert_eq!(unsafe { (found.abs)(-7) }, 7);
    }
}
