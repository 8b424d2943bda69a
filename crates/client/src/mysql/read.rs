//! Tables read back.

use std::ffi::c_ulong;
use std::slice;

use anyhow::{Result, bail, ensure};
use dyno_protocol::FieldKind;

use super::api::Res;
use super::connection::Connection;
use crate::Visit;

impl Connection {
    /// Hands every row of some columns to `visit`. A column whose values are not of its kind is an error.
    pub fn read(&self, table: &str, columns: &[(&str, FieldKind)], visit: &mut Visit) -> Result<()> {
        let names = columns.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        let sql = format!("SELECT {names} FROM {table}");
        // SAFETY: the connection is open; text and length belong together; the result is freed once, which
        // reads to its end.
        unsafe {
            if (self.api().real_query)(self.raw(), sql.as_ptr().cast(), sql.len() as c_ulong) != 0 {
                return Err(self.error());
            }
            let result = (self.api().use_result)(self.raw());
            if result.is_null() {
                return Err(self.error());
            }
            let outcome = self.visit_all(result, columns, visit);
            (self.api().free_result)(result);
            outcome
        }
    }

    /// Hands over every row of a result.
    ///
    /// # Safety
    /// The result is one of this connection that is being read.
    unsafe fn visit_all(
        &self,
        result: *mut Res,
        columns: &[(&str, FieldKind)],
        visit: &mut Visit,
    ) -> Result<()> {
        let api = self.api();
        // SAFETY: as the caller promises; a row has as many values and lengths as there are columns, and
        // they are used before the next row is fetched.
        unsafe {
            let fields = slice::from_raw_parts((api.fetch_fields)(result), columns.len());
            for (field, (name, kind)) in fields.iter().zip(columns) {
                let (is_so, title) = match kind {
                    FieldKind::Text => (field.is_text(), "text"),
                    FieldKind::Integer => (field.is_integer(), "a whole number"),
                };
                ensure!(
                    is_so,
                    "the column {name} is not stored as {title}: its type has the number {} in the protocol",
                    field.kind
                );
            }
            let mut cells = Vec::with_capacity(columns.len());
            loop {
                let row = (api.fetch_row)(result);
                if row.is_null() {
                    break;
                }
                let values = slice::from_raw_parts(row, columns.len());
                let lengths = slice::from_raw_parts((api.fetch_lengths)(result), columns.len());
                cells.clear();
                for ((value, length), (name, _)) in values.iter().zip(lengths).zip(columns) {
                    if value.is_null() {
                        bail!("a cell of the column {name} is NULL");
                    }
                    cells.push(slice::from_raw_parts(value.cast::<u8>(), *length as usize));
                }
                visit(&cells)?;
            }
            // The end of the rows, or a failure on the way.
            if (api.errno)(self.raw()) == 0 { Ok(()) } else { Err(self.error()) }
        }
    }
}
