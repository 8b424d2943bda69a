//! Clients of databases by their own libraries in C, which are loaded at run time: what runners and `dyno import`
//! share.
//!
//! [`sqlite`], [`postgres`] (libpq) and [`mysql`] (libmariadb and libmysqlclient) have a connection, prepared statements
//! and what else their database has. They know neither jobs nor clocks. Values that are fetched go to a
//! [`Sink`](dyno_protocol::Sink) of the caller's, for whose type the hot loops are compiled.

use std::os::fd::BorrowedFd;

use nix::poll::PollFlags;

pub mod mysql;
mod number;
pub mod postgres;
mod sql;
pub mod sqlite;
mod text;

pub use sql::Sql;

/// Waits until a connection's socket is ready for one of these events, and lets other work be done meanwhile.
pub type WaitForSocket = fn(BorrowedFd<'_>, PollFlags);

/// Takes the cells of one row.
pub type Visit<'a> = dyn FnMut(&[&[u8]]) -> anyhow::Result<()> + 'a;
