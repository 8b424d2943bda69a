//! Libraries in C that are loaded at run time, so that any version can be measured and no library is needed to build
//! dyno.
//!
//! [`LibraryName`] finds and loads a library, and [`functions!`] declares the table of its functions. [`file_of`] returns
//! the file that is really in use.

mod file;
mod name;
mod table;

pub use file::{file_of, file_title};
pub use libloading::os::unix::Library;
pub use name::LibraryName;
pub use table::Table;
