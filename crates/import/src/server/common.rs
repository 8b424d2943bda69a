//! The parts that PostgreSQL and MySQL have in common: names of tables that are not whole, and rows as lines of text.

use anyhow::{Result, ensure};
use memchr::{memchr, memchr3};

use crate::batch::{Batch, BatchCell};
use crate::table::Table;

/// The prefix of names of tables that are not whole yet.
pub(super) const STAGED: &str = "dyno_import_";

/// A name that no table has, for one that is not whole yet.
pub(super) fn staged_name() -> String {
    format!("{STAGED}{:016x}", fastrand::u64(..))
}

/// Refuses names that a server would otherwise cut or refuse only when the rows are there.
pub(super) fn check_names(
    table: &Table,
    longest: usize,
    length: impl Fn(&str) -> usize,
    unit: &str,
) -> Result<()> {
    let columns = table.columns.iter().map(|column| ("column", &column.name));
    for (what, name) in [("table", &table.name)].into_iter().chain(columns) {
        let length = length(name);
        ensure!(
            length <= longest,
            "the name of the {what} '{name}' has {length} {unit}, and the server takes {longest}: {}",
            if what == "table" { "--table names another" } else { "shorten it in the header" }
        );
    }
    Ok(())
}

/// The tables of killed imports that were removed, as a sentence.
pub(super) fn said_removed(tables: &[String]) -> Vec<String> {
    match tables {
        [] => Vec::new(),
        tables => vec![format!("Removed {}, left by an import that was killed.", tables.join(", "))],
    }
}

/// A table of a killed import that the server does not drop, as a sentence.
pub(super) fn said_kept(table: &str, error: &anyhow::Error) -> String {
    format!("Cannot remove {table}, left by an import that was killed: {error:#}.")
}

/// Writes the rows of a batch of cells as both servers read them by default: fields between tabs, a line each, `\N` for
/// NULL, a backslash before what would end either.
pub(super) fn write(batch: &Batch, to: &mut Vec<u8>) {
    to.clear();
    if !batch.is_written {
        write_lines(batch, to);
    }
}

/// The rows of a batch for which [`write`] has been called with this memory.
pub(super) fn written<'b>(batch: &'b Batch, memory: &'b [u8]) -> &'b [u8] {
    if batch.is_written { &batch.text[..batch.used] } else { memory }
}

pub(super) fn write_lines(batch: &Batch, to: &mut Vec<u8>) {
    // One quick look at all of the text spares a slow one at each field, since hardly any has such a byte.
    let text = &batch.text[..batch.used];
    let is_plain = memchr3(b'\\', b'\t', b'\n', text).is_none() && memchr(b'\r', text).is_none();
    for row in 0..batch.rows() {
        for (column, cell) in batch.row(row).iter().enumerate() {
            if column > 0 {
                to.push(b'\t');
            }
            match *cell {
                BatchCell::Text(start, length) if is_plain => {
                    to.extend_from_slice(batch.text_of(start, length))
                }
                BatchCell::Text(start, length) => {
                    escape(batch.text_of(start, length), |part| to.extend_from_slice(part));
                }
                BatchCell::Null => to.extend_from_slice(b"\\N"),
                other => to.extend_from_slice(&batch.print(other)),
            }
        }
        to.push(b'\n');
    }
}

/// Gives a text in parts, with a backslash before what would end a field or a row.
pub(super) fn escape(text: &[u8], mut put: impl FnMut(&[u8])) {
    let mut from = 0;
    for (place, byte) in text.iter().enumerate() {
        let escaped: &[u8] = match byte {
            b'\t' => b"\\t",
            b'\n' => b"\\n",
            b'\r' => b"\\r",
            b'\\' => b"\\\\",
            _ => continue,
        };
        put(&text[from..place]);
        put(escaped);
        from = place + 1;
    }
    put(&text[from..]);
}
