//! SQLite by its C API: any build of it, whose library `dyno-sqlite` finds and loads.

mod connection;
mod interrupt;
mod statement;

pub use connection::{Connection, SqliteError};
pub use dyno_sqlite::{Api, BUNDLED_FLAGS, api, load};
pub use interrupt::Interrupter;
pub use statement::{Statement, quoted};
