//! Loads a file into a database as fast as is safe.
//!
//! A [`Request`] says what is wanted, and a [`Plan`] decides everything before anything is changed. The rows then go
//! one of two ways. For a new SQLite database all threads parse pieces of the [`Source`] and write the pages of its
//! rows; for other targets a parser on a separate thread fills batches, which the [`Target`] takes. Either all rows are
//! loaded or none; numbers are never rounded, text is never cut.

mod batch;
mod building;
mod chunks;
mod contents;
mod convert;
mod digits;
mod encoding;
mod error;
mod explain;
mod field_order;
mod fill;
mod forms;
mod guess;
mod gzip;
mod infer;
mod input;
mod json;
mod kind;
mod names;
mod owned_mutex;
#[cfg(feature = "parquet")]
mod parquet;
mod parse;
mod pipeline;
mod plan;
mod records;
mod rejects;
mod request;
mod rewrite;
mod safety;
mod server;
mod shape;
mod source;
mod split;
mod sqlite;
mod stream;
mod syntax;
mod table;
mod target;
mod value;

pub use error::{BadInput, Interrupted, Locked};
pub use explain::why;
pub use names::{escaped, with_ending};
pub use pipeline::{ImportObserver, Rows, Waits};
pub use plan::{Course, Merged, Plan, Report};
pub use rejects::OnError;
pub use request::{IfExists, OnConflict, Request};
pub use safety::{Reached, Safety};
pub use server::{MySql, Postgres};
pub use shape::Choose;
pub use source::{Source, encoding};
pub use sqlite::Sqlite;
pub use table::{Column, Table, Types};
pub use target::{Existing, PageTarget, Target};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
const README: () = ();
