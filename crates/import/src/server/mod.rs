//! Into a server: what PostgreSQL and MySQL have in common.

mod mysql;
mod postgres;
mod types;

pub use mysql::MySql;
pub use postgres::Postgres;

use std::hash::{BuildHasher, Hasher, RandomState};

use crate::batch::{Batch, Cell};

/// A name that no table has, for one that is not whole yet.
fn staged_name() -> String {
    let random = RandomState::new().build_hasher().finish();
    format!("dyno_import_{random:016x}")
}

/// Writes rows as both servers read them by default: fields between tabs, a line each, `\N` for NULL,
/// a backslash before what would end either.
fn write_lines(batch: &Batch, to: &mut Vec<u8>) {
    for row in 0..batch.rows() {
        for (column, cell) in batch.row(row).iter().enumerate() {
            if column > 0 {
                to.push(b'\t');
            }
            match *cell {
                Cell::Text(start, length) => escape(batch.text_of(start, length), to),
                Cell::Null => to.extend_from_slice(b"\\N"),
                other => to.extend_from_slice(&batch.print(other)),
            }
        }
        to.push(b'\n');
    }
}

fn escape(text: &[u8], to: &mut Vec<u8>) {
    let special = |byte: &u8| matches!(byte, b'\\' | b'\t' | b'\n' | b'\r');
    if !text.iter().any(special) {
        return to.extend_from_slice(text);
    }
    for byte in text {
        match byte {
            b'\t' => to.extend_from_slice(b"\\t"),
            b'\n' => to.extend_from_slice(b"\\n"),
            b'\r' => to.extend_from_slice(b"\\r"),
            b'\\' => to.extend_from_slice(b"\\\\"),
            byte => to.push(*byte),
        }
    }
}
