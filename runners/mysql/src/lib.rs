//! The client library of MariaDB and MySQL, loaded at run time, and a connection by it: what the runner
//! and `dyno import` share.
//!
//! `library` finds and loads the client library, `api` is its table of functions, `connection` executes
//! statements, `options` reads those of the URL, `scratch` connects, and makes and removes a trial's own
//! database, `infile` sends rows.

pub mod api;
pub mod connection;
mod infile;
pub mod library;
pub mod options;
pub mod scratch;
