//! libpq, loaded at run time, and a connection by it: what the runner and `dyno import` share.
//!
//! `library` finds and loads libpq, `api` is its table of functions, `connection` executes statements,
//! `scratch` connects, and makes and removes a trial's own database, `copy` sends rows.

pub mod api;
pub mod connection;
mod copy;
pub mod library;
pub mod scratch;
