//! Into a server: what PostgreSQL and MySQL have in common.

mod mysql;
mod postgres;
mod types;

pub use mysql::MySql;
pub use postgres::Postgres;

use memchr::{memchr, memchr3};

use crate::batch::{Batch, Cell};

/// A name that no table has, for one that is not whole yet.
fn staged_name() -> String {
    format!("dyno_import_{:016x}", fastrand::u64(..))
}

/// Writes rows as both servers read them by default: fields between tabs, a line each, `\N` for NULL,
/// a backslash before what would end either.
fn write_lines(batch: &Batch, to: &mut Vec<u8>) {
    // One quick look at all of the text spares a slow one at each field, since hardly any has such a byte.
    let text = &batch.text[..batch.used];
    let is_plain = memchr3(b'\\', b'\t', b'\n', text).is_none() && memchr(b'\r', text).is_none();
    for row in 0..batch.rows() {
        for (column, cell) in batch.row(row).iter().enumerate() {
            if column > 0 {
                to.push(b'\t');
            }
            match *cell {
                Cell::Text(start, length) if is_plain => to.extend_from_slice(batch.text_of(start, length)),
                Cell::Text(start, length) => escape(batch.text_of(start, length), to),
                Cell::Null => to.extend_from_slice(b"\\N"),
                other => to.extend_from_slice(&batch.print(other)),
            }
        }
        to.push(b'\n');
    }
}

fn escape(text: &[u8], to: &mut Vec<u8>) {
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
