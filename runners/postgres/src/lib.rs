//! libpq, loaded at run time, and a connection by it: what the runner and `dyno import` share.
//!
//! `library` says what libpq is, `api` is its table of functions, `connection` is the hot loop, `copy` sends
//! rows and `load` puts those of a trial into tables, `database` connects, and makes and removes the trial's
//! own database, `settings` sets parameters and reads them back, `units` knows that 6GB are 6144MB, `values` what libpq's texts
//! are.

pub mod api;
pub mod connection;
pub mod copy;
pub mod database;
pub mod library;
pub mod load;
pub mod settings;
mod units;
mod values;
