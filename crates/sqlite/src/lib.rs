//! SQLite, whichever: finds a build's library, loads it and resolves its functions once.
//!
//! Nothing links SQLite, so that the bundled one, the system's and a file of the user's own are
//! reached by one code path. `library` finds and loads, `api` is the table of functions.

pub mod api;
mod library;

pub use api::Api;
pub use library::load;

/// The compiler's flags of the bundled SQLite, separated by blanks.
pub const BUNDLED_FLAGS: &str = env!("DYNO_SQLITE_FLAGS");
