//! Client libraries that are loaded at run time, and which file a driver's functions come from.

use std::ffi::c_void;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use dyno_protocol::Build;
pub use libloading::os::unix::Library;
use libloading::os::unix::{RTLD_LOCAL, RTLD_NOW};

use crate::needs;

/// A client library: what it is called and what to do where there is none.
#[derive(Debug, Clone, Copy)]
pub struct ClientLibrary {
    /// Whose it is, for messages.
    pub of: &'static str,
    /// What its files are called, the preferred one first.
    pub files: &'static [&'static str],
}

impl ClientLibrary {
    /// Loads the system's: the same for every server, so that versions of the server are compared
    /// through one client. Where the system has none, that of the job's installation folder serves.
    pub fn load<T>(&self, build: &Build, resolve: fn(Library) -> Result<T>) -> Result<T> {
        let mut complaint = String::new();
        // The names alone are for the loader's own search.
        for file in self.files.iter().map(PathBuf::from).chain(self.beside(build)) {
            match self.open(&file, resolve) {
                Ok(api) => return Ok(api),
                Err(error) if complaint.is_empty() => complaint = format!("{error:#}"),
                Err(_) => {}
            }
        }
        let preferred = self.files.first().copied().unwrap_or_default();
        bail!("{complaint}{}", needs::advice(preferred))
    }

    /// Those in an installation folder.
    fn beside(&self, build: &Build) -> Vec<PathBuf> {
        let Build::Path(folder) = build else { return Vec::new() };
        let files = self.files.iter().map(|name| folder.join("lib").join(name));
        files.filter(|file| file.is_file()).collect()
    }

    /// Loads one file.
    pub fn open<T>(&self, file: &Path, resolve: fn(Library) -> Result<T>) -> Result<T> {
        let context = || format!("cannot use {} as the client library of {}", file.display(), self.of);
        // Every symbol is resolved now, so that none is looked up within a timed section.
        // SAFETY: loading a library runs its initialisers. It is the client library by its name.
        let library = unsafe { Library::open(Some(file), RTLD_NOW | RTLD_LOCAL) }.with_context(context)?;
        resolve(library).with_context(context)
    }
}

/// Declares a table of a library's functions and how to fill it. The list is the whole of what a library
/// must offer, but for those that are optional.
///
/// Each line is `name = "symbol": fn(arguments) -> result;`.
#[macro_export]
macro_rules! functions {
    (
        $api:ident of $library:literal {
            $($name:ident = $symbol:literal: fn($($argument:ty),* $(,)?) $(-> $result:ty)?;)*
        }
        optional {
            $($maybe:ident = $other:literal: fn($($given:ty),* $(,)?) $(-> $gives:ty)?;)*
        }
    ) => {
        /// The table. Calling an entry is as unsafe as calling the C function.
        pub struct $api {
            $(
                #[doc = concat!("`", $symbol, "`")]
                pub $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,
            )*
            $(
                #[doc = concat!("`", $other, "`, which not every version has.")]
                pub $maybe: Option<unsafe extern "C" fn($($given),*) $(-> $gives)?>,
            )*
            /// Keeps the functions in memory.
            _library: $crate::library::Library,
        }

        impl $api {
            /// Looks every function up; the error names the one that is missing.
            #[allow(clippy::macro_metavars_in_unsafe, reason = "what is given is names and texts")]
            pub fn resolve(library: $crate::library::Library) -> anyhow::Result<$api> {
                let should_be: &str = $library;
                // SAFETY: these are the signatures of the library's header. A library that has functions of
                // these names with others is another one.
                let table = unsafe { $crate::library::Table::new(library, should_be) };
                Ok($api {
                    $($name: table.look_up($symbol)?,)*
                    $($maybe: table.look_up($other).ok(),)*
                    _library: table.into_library(),
                })
            }
        }
    };
}

/// A library whose functions are looked up, for [`functions!`](crate::functions).
#[derive(Debug)]
pub struct Table {
    library: Library,
    should_be: &'static str,
}

impl Table {
    /// Begins to look functions up.
    ///
    /// # Safety
    /// Whatever is looked up by a name is of the type that the library gives it.
    pub unsafe fn new(library: Library, should_be: &'static str) -> Table {
        Table { library, should_be }
    }

    /// A function.
    ///
    /// # Errors
    /// There is none of that name, so that the library is not what it should be.
    pub fn look_up<T: Copy>(&self, name: &str) -> Result<T> {
        // SAFETY: as the caller of `new` promised.
        let found = unsafe { self.library.get::<T>(name) };
        let found = found.map(|symbol| *symbol);
        found.with_context(|| format!("it has no function {name}: it is not {}", self.should_be))
    }

    /// The library, to be kept for as long as its functions are.
    pub fn into_library(self) -> Library {
        self.library
    }
}

/// The file that an address was mapped from, as the kernel names it: with the address of one of its
/// functions, the library that is really in use.
pub fn file_of(address: *const c_void) -> Option<String> {
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    file_at(&maps, address as u64)
}

/// Looks an address up in lines as `7f00-7f80 r-xp 00000000 08:01 1234   /path with spaces`.
fn file_at(maps: &str, address: u64) -> Option<String> {
    let within = |line: &&str| {
        let (from, to) = line.split(' ').next()?.split_once('-')?;
        let number = |text| u64::from_str_radix(text, 16).ok();
        Some((number(from)?..number(to)?).contains(&address))
    };
    let line = maps.lines().find(|line| within(line).unwrap_or(false))?;
    line.find('/').map(|start| line[start..].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::functions! {
        Libc of "the C library of this test" {
            length = "strlen": fn(*const std::ffi::c_char) -> usize;
        }
        optional {
            missing = "no_such_function": fn();
        }
    }

    crate::functions! {
        Other of "a library that never was" {
            missing = "no_such_function": fn();
        }
        optional {}
    }

    /// The first is a version of libpq that never was.
    const LIBC: ClientLibrary = ClientLibrary { of: "nobody", files: &["libpq.so.5.nothing", "libc.so.6"] };

    #[test]
    fn the_first_file_that_serves_is_loaded() {
        let libc = LIBC.load(&Build::System, Libc::resolve).unwrap();
        // SAFETY: the text ends in NUL.
        assert_eq!(unsafe { (libc.length)(c"four".as_ptr()) }, 4);
        assert!(libc.missing.is_none());
        assert!(file_of(libc.length as *const c_void).unwrap().contains("libc"));
    }

    #[test]
    fn what_is_missing_is_named_with_what_to_do() {
        let loaded = LIBC.load(&Build::System, Other::resolve).map(|other| other.missing);
        let error = loaded.unwrap_err().to_string();
        assert!(error.contains("libpq.so.5.nothing as the client library of nobody"), "{error}");
        let advice = "install it (Debian: sudo apt-get install --no-install-recommends libpq5)";
        assert!(error.ends_with(advice), "{error}");
        let error = format!("{:#}", LIBC.open(Path::new("libc.so.6"), Other::resolve).err().unwrap());
        assert!(
            error.contains("no function no_such_function: it is not a library that never was"),
            "{error}"
        );
    }

    #[test]
    fn an_address_leads_to_its_file() {
        let maps = "10-20 r--p 00000000 08:01 7    /a b/c.so\n20-30 rw-p 00000000 00:00 0 \n";
        assert_eq!(file_at(maps, 0x1f).as_deref(), Some("/a b/c.so"));
        assert_eq!(file_at(maps, 0x20), None);
        assert_eq!(file_at(maps, 0x30), None);
    }
}
