//! libpq, loaded at run time, and a connection by it: what the runner and `dyno import` share.
//!
//! `library` says what libpq is, `api` is its table of functions, `connection` is the hot loop, `copy` sends
//! rows and `prepared` inserts them; `load` puts the rows of a trial into tables by these, `import` the records of
//! a file, and `read` reads tables back. `database` connects, and makes and removes the trial's own database,
//! `settings` sets parameters and reads them back, `units` knows that 6GB are 6144MB, `values` what libpq's texts
//! are.

pub mod api;
pub mod connection;
pub mod copy;
pub mod database;
mod import;
pub mod library;
pub mod load;
mod prepared;
mod read;
pub mod settings;
mod units;
mod values;
