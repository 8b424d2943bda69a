//! The shared part of the runners of servers: everything except a client's protocol.
//!
//! [`Access`] is how one client library reaches a server, [`Client`] a connection to it. [`Scratch`] is the engine made
//! of them: it executes what the job lists to make and remove a database for the trial. `lines` makes lines of rows, `import` is what the ways of importing files have in
//! common. Calls are resolved at compile time.

mod client;
mod import;
mod lines;
mod scratch;

pub use client::Client;
pub use import::{Pieces, insert_records, insert_texts};
pub use lines::Lines;
pub use scratch::{Access, Scratch};
