//! Loads a file into a database as fast as is safe.
//!
//! The way of the data: a [`Source`] is unpacked and decoded, `parse` splits its `records` on a separate thread into
//! batches of typed cells, and a [`Target`] takes the batches from the `pipeline`. A [`Plan`] decides everything before
//! anything is changed. Either all rows are loaded or none; numbers are never rounded, text is never cut.

mod batch;
mod chunks;
mod convert;
mod cut;
mod digits;
mod encoding;
mod error;
mod explain;
mod fields;
mod fill;
mod guess;
mod gzip;
mod infer;
mod input;
mod json;
mod lines;
mod marks;
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
mod sqlite;
mod stream;
mod table;
mod target;
mod value;

pub use error::{BadInput, Interrupted, Locked};
pub use explain::why;
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
pub use target::{Existing, Target};
