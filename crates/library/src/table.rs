//! The table of a library's functions, resolved once.

use std::mem;

use anyhow::{Context, Result};

use crate::Library;

/// Declares a table of a library's functions and how to fill it. The list is the whole of what a library
/// must offer, but for those that are optional.
///
/// Each line is `name: fn(arguments) -> result;`, for the function that is called as the name with the prefix before it,
/// or `name = "symbol": fn(arguments) -> result;` where that is called otherwise.
///
/// ```
/// dyno_library::functions! {
///     /// A part of the C library.
///     Numbers of "the C library", "" {
///         abs: fn(std::ffi::c_int) -> std::ffi::c_int;
///     }
///     optional {
///         to_ascii = "toascii": fn(std::ffi::c_int) -> std::ffi::c_int;
///     }
/// }
/// ```
#[macro_export]
macro_rules! functions {
    (
        $(#[$about:meta])*
        $api:ident of $library:literal, $prefix:literal {
            $($name:ident $(= $symbol:literal)?: fn($($argument:ty),* $(,)?) $(-> $result:ty)?;)*
        }
        $(optional {
            $($maybe:ident $(= $other:literal)?: fn($($given:ty),* $(,)?) $(-> $gives:ty)?;)*
        })?
    ) => {
        $(#[$about])*
        ///
        /// Calling an entry is as unsafe as calling the C function.
        pub struct $api {
            $(
                #[doc = concat!("`", $crate::symbol!($prefix, $name $(, $symbol)?), "`")]
                pub $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,
            )*
            $($(
                #[doc = concat!("`", $crate::symbol!($prefix, $maybe $(, $other)?), "`, which not every version has.")]
                pub $maybe: Option<unsafe extern "C" fn($($given),*) $(-> $gives)?>,
            )*)?
        }

        impl $api {
            /// Looks every function up; the error names the one that is missing.
            #[allow(clippy::macro_metavars_in_unsafe, reason = "what is given is names and texts")]
            pub fn resolve(library: $crate::Library) -> ::anyhow::Result<$api> {
                let should_be: &str = $library;
                // SAFETY: these are the signatures of the library's header. A library that has functions of
                // these names with others is another one.
                let table = unsafe { $crate::Table::new(library, should_be) };
                let api = $api {
                    $($name: table.look_up($crate::symbol!($prefix, $name $(, $symbol)?))?,)*
                    $($($maybe: table.look_up($crate::symbol!($prefix, $maybe $(, $other)?)).ok(),)*)?
                };
                table.keep_loaded();
                Ok(api)
            }
        }
    };
}

/// The name of a function of [`functions!`] in the library.
#[doc(hidden)]
#[macro_export]
macro_rules! symbol {
    ($prefix:literal, $name:ident) => {
        concat!($prefix, stringify!($name))
    };
    ($prefix:literal, $name:ident, $symbol:literal) => {
        $symbol
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
    /// There is no function of that name, so that the library is not what it should be.
    pub fn look_up<T: Copy>(&self, name: &str) -> Result<T> {
        // SAFETY: as the caller of `new` promised.
        let found = unsafe { self.library.get::<T>(name) };
        let found = found.map(|symbol| *symbol);
        found.with_context(|| format!("it has no function {name}: it is not {}", self.should_be))
    }

    /// Keeps the library loaded until the process ends: its functions stay callable, and dyno, which reads from the kernel
    /// what a runner has mapped, finds the library also after the database was closed.
    pub fn keep_loaded(self) {
        mem::forget(self.library);
    }
}
