//! Searches the files of contenders for what encryption must hide.
//!
//! In a separate, untimed pass, each contender gets a marker text among its data. While it works, every
//! file that it or its server opens is kept open, so that a journal or a temporary file which is gone by then
//! is looked through too. Then all of them are searched for the marker and for the key; the data are opened
//! without a key, with another one, and with the right one.
//!
//! A contender that does not encrypt must show the marker: where it does not, the search is broken and
//! proves nothing of the others. The record has what was found; `dyno_verdict` judges it.

mod embedded;
mod plant;
mod search;
mod server;
mod watch;

pub use embedded::Prover;
