//! SQLite by its C API: any build of it, whose library `dyno-sqlite` finds and loads.

mod connection;
mod execute;
mod interrupt;
mod statement;
#[cfg(test)]
mod tests;

pub use connection::{Connection, SqliteError};
pub use dyno_sqlite::{Api, BUNDLED_FLAGS, api, load};
pub use interrupt::Interrupter;
pub use statement::{Parameter, Rows, Statement, quoted};

/// True if a library was compiled for connections in several threads.
pub fn is_threadsafe(api: &Api) -> bool {
    // SAFETY: it takes nothing and returns a number.
    unsafe { (api.threadsafe)() != 0 }
}
