//! Finds and loads a library.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use dyno_protocol::Build;
use libloading::os::unix::{RTLD_LOCAL, RTLD_NOW};

use dyno_needs as needs;

use crate::Library;

/// Folders for libraries of the system that the loader does not find under their short name, because only the development
/// package installs that name. `*` is the folder of an architecture.
const FOLDERS: [&str; 5] = ["/usr/local/lib", "/usr/lib", "/usr/lib64", "/lib", "/usr/lib/*"];

/// A library: what it is, and what its files are called.
#[derive(Debug, Clone, Copy)]
pub struct LibraryName {
    /// The library's description in messages: `LMDB`, `the client library of PostgreSQL`.
    pub of: &'static str,
    /// Beginnings of its files' names, as `liblmdb.so`, the preferred one first. Versions may follow.
    pub stems: &'static [&'static str],
}

impl LibraryName {
    /// Loads the library that a build names, which is the engine itself: the system's, a file, or the one in an
    /// installation folder.
    ///
    /// # Errors
    /// The library is missing, which the message answers with what to install; or it cannot be used.
    pub fn load<T>(&self, build: &Build, resolve: fn(Library) -> Result<T>) -> Result<T> {
        match build {
            Build::Path(path) => self.open(&self.own(path)?, resolve),
            Build::Bundled | Build::System => self.first(self.of_system(), resolve),
        }
    }

    /// Loads the system's library, which is a client of the engine: the same for every server, so that versions of the
    /// server are compared through one client. Without it, loads the one in the build's installation folder.
    ///
    /// # Errors
    /// As [`LibraryName::load`].
    pub fn load_client<T>(&self, build: &Build, resolve: fn(Library) -> Result<T>) -> Result<T> {
        let beside = match build {
            Build::Path(folder) => self.installed(folder),
            Build::Bundled | Build::System => Vec::new(),
        };
        self.first(self.of_system().chain(beside), resolve)
    }

    /// Loads one file.
    pub fn open<T>(&self, file: &Path, resolve: fn(Library) -> Result<T>) -> Result<T> {
        let context = || format!("cannot use {} as {}", file.display(), self.of);
        // Every symbol is resolved now, so that no look-up happens within a timed section.
        // SAFETY: loading a library runs its initialisers. It is the library that the user chose.
        let library = unsafe { Library::open(Some(file), RTLD_NOW | RTLD_LOCAL) };
        let library = library.context("it is no shared library that this machine can load");
        library.and_then(resolve).with_context(context)
    }

    /// The first of these files that can be used.
    fn first<T>(&self, files: impl Iterator<Item = PathBuf>, resolve: fn(Library) -> Result<T>) -> Result<T> {
        let mut complaint = String::new();
        for file in files {
            match self.open(&file, resolve) {
                Ok(api) => return Ok(api),
                // An error about a file that exists says more than one about a missing short name.
                Err(error) if complaint.is_empty() || file.is_absolute() => complaint = format!("{error:#}"),
                Err(_) => {}
            }
        }
        bail!("{complaint}{}", self.stems.first().map(|stem| needs::advice(stem)).unwrap_or_default())
    }

    /// The system's: by the loader's own search first, which obeys the system's configuration.
    fn of_system(&self) -> impl Iterator<Item = PathBuf> {
        self.stems.iter().map(PathBuf::from).chain(folders().flat_map(|folder| self.within(&folder)))
    }

    /// A file of the user's own, or the library in an installation folder.
    fn own(&self, path: &Path) -> Result<PathBuf> {
        // Whole, because the loader would search for a name without a slash.
        let path = path.canonicalize().with_context(|| format!("cannot find {}", path.display()))?;
        if !path.is_dir() {
            return Ok(path);
        }
        self.installed(&path).into_iter().next().with_context(|| {
            format!("neither {} nor its lib folder holds {}", path.display(), self.stems.join(" or "))
        })
    }

    /// Those in an installation folder.
    fn installed(&self, folder: &Path) -> Vec<PathBuf> {
        let folders = [folder.to_owned(), folder.join("lib"), folder.join(".libs")];
        folders.iter().flat_map(|folder| self.within(folder)).collect()
    }

    /// Those in a folder: of each name the newest version first.
    fn within(&self, folder: &Path) -> Vec<PathBuf> {
        let of = |stem: &&str| {
            let version = |path: &PathBuf| version(path.file_name()?.to_str()?, stem);
            let mut found: Vec<_> =
                entries(folder).filter_map(|path| version(&path).map(|version| (version, path))).collect();
            found.sort_by(|a, b| b.cmp(a));
            found.into_iter().map(|(_, path)| path)
        };
        self.stems.iter().flat_map(of).collect()
    }
}

/// The folders of the system's libraries, with those of architectures.
fn folders() -> impl Iterator<Item = PathBuf> {
    FOLDERS.iter().flat_map(|folder| match folder.strip_suffix("/*") {
        Some(parent) => entries(Path::new(parent)).filter(|path| path.is_dir()).collect(),
        None => vec![PathBuf::from(folder)],
    })
}

/// The numbers behind a name as `librocksdb.so.7.8.3`; `None` for another name.
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

#[cfg(test)]
mod tests {
    use std::ffi::c_void;

    use super::*;
    use crate::file_of;

    crate::functions! {
        /// A part of the C library.
        Libc of "the C library of this test", "" {
            length = "strlen": fn(*const std::ffi::c_char) -> usize;
            abs: fn(std::ffi::c_int) -> std::ffi::c_int;
        }
        optional {
            missing = "no_such_function": fn();
        }
    }

    crate::functions! {
        /// A library that never was.
        Other of "a library that never was", "dyno_" {
            missing: fn();
        }
    }

    /// A version of LMDB that never was.
    const NOTHING: LibraryName = LibraryName { of: "Nothing", stems: &["liblmdb.so.0.nothing"] };
    /// The first is a version of libpq that never was.
    const LIBC: LibraryName =
        LibraryName { of: "the client library of unknown", stems: &["libpq.so.5.nothing", "libc.so.6"] };

    #[test]
    fn versions_are_compared_as_numbers() {
        let folder = tempfile::tempdir().unwrap();
        for file in ["libx.so.7.8.3", "libx.so.10.2", "libx.so.9.11", "libx.sox", "libx.so.1.a", "liby.so.11"]
        {
            fs::write(folder.path().join(file), "").unwrap();
        }
        let name = LibraryName { stems: &["libx.so"], ..NOTHING };
        let found = name.within(folder.path());
        let names: Vec<_> = found.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["libx.so.10.2", "libx.so.9.11", "libx.so.7.8.3"]);
    }

    #[test]
    fn the_first_file_that_serves_is_loaded() {
        let libc = LIBC.load_client(&Build::System, Libc::resolve).unwrap();
        // SAFETY: the text ends in NUL, and the other takes and returns a number.
        assert_eq!(unsafe { ((libc.length)(c"four".as_ptr()), (libc.abs)(-7)) }, (4, 7));
        assert!(libc.missing.is_none());
        assert!(file_of(libc.length as *const c_void).unwrap().contains("libc"));
    }

    #[test]
    fn a_function_that_is_missing_is_named() {
        let loaded = LIBC.open(Path::new("libc.so.6"), Other::resolve).map(|other| other.missing);
        let error = format!("{:#}", loaded.unwrap_err());
        assert!(error.contains("no function dyno_missing: it is not a library that never was"), "{error}");
    }

    #[test]
    fn what_is_missing_is_named_with_what_to_do() {
        let load = |name: &LibraryName, build: &Build| match name.load(build, Libc::resolve) {
            Ok(_) => panic!("{name:?} was loaded"),
            Err(error) => format!("{error:#}"),
        };
        let said = load(&NOTHING, &Build::System);
        assert!(said.contains("liblmdb.so.0.nothing as Nothing"), "{said}");
        assert!(
            said.ends_with("install it (Debian: sudo apt-get install --no-install-recommends liblmdb0)"),
            "{said}"
        );
        let folder = tempfile::tempdir().unwrap();
        let own = |path: &Path| load(&NOTHING, &Build::Path(path.into()));
        assert!(own(folder.path()).ends_with("lib folder holds liblmdb.so.0.nothing"));
        assert!(own(&folder.path().join("none")).starts_with("cannot find"));
        let text = folder.path().join("liblmdb.so.0.nothing.1");
        fs::write(&text, "no library").unwrap();
        assert!(own(folder.path()).contains("liblmdb.so.0.nothing.1 as Nothing: it is no shared library"));
        // A client may be missing from an installation folder, which is no more than what is said of the system.
        let unknown = LibraryName { stems: &["libpq.so.5.nothing"], ..LIBC };
        let loaded = unknown.load_client(&Build::Path(folder.path().into()), Libc::resolve);
        let said = loaded.map(|_| ()).unwrap_err().to_string();
        assert!(said.contains("libpq.so.5.nothing as the client library of unknown"), "{said}");
        assert!(said.ends_with("--no-install-recommends libpq5)"), "{said}");
    }
}
