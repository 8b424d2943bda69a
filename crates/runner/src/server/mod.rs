//! The shared part of the runners of servers: everything except a client's protocol.
//!
//! [`Access`] is how one client library reaches a server, [`Client`] a connection to it. [`Scratch`] is the engine made
//! of them: a separate database for the trial that is removed whatever happens, and the greeting. `settings` applies
//! and reads back what was asked for, `lines` makes lines of rows, `import` is what the ways of importing files have in
//! common. Calls are resolved at compile time.

mod client;
mod import;
mod lines;
mod scratch;
mod settings;

pub use client::Client;
pub use import::{Pieces, insert_records, insert_texts};
pub use lines::Lines;
pub use scratch::{Access, Scratch};
pub use settings::{Asked, Parameters, check_names, if_reported, in_force};
