//! The client library of MariaDB and MySQL, loaded at run time, and a connection by it: what the runner
//! and `dyno import` share.
//!
//! `library` says what the client library is, `api` is its table of functions, `connection` is the hot loop,
//! `statement` is a prepared one, `infile` is the file that LOAD DATA reads; `load` puts a trial's rows into tables
//! by these, `import` the records of a file, and `read` reads tables back. `options` reads those of the URL,
//! `database` connects, and makes and removes the trial's own database, `encryption` waits for a server that
//! encrypts, `settings` sets system variables and reads them back.

pub mod api;
pub mod connection;
pub mod database;
pub mod encryption;
mod import;
pub mod infile;
pub mod library;
pub mod load;
mod options;
mod read;
mod settings;
mod statement;
