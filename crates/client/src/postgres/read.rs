//! Tables read back.

use std::ffi::{CString, c_uint};
use std::slice;

use anyhow::{Result, bail, ensure};
use dyno_protocol::{FieldKind, RowCollector};

use super::api::{PgResult, SINGLE_TUPLE, TUPLES_OK};
use super::connection::Connection;
use crate::Visit;

/// The types of text, `pg_type.dat`: text, character(n), character varying(n).
const TEXTS: [c_uint; 3] = [25, 1042, 1043];
/// Those of whole numbers: smallint, integer, bigint.
const INTEGERS: [c_uint; 3] = [21, 23, 20];

impl Connection {
    /// Hands every row of some columns to `visit`, a row of the result at a time. A column whose values are not of
    /// its kind is an error.
    pub fn read(&self, table: &str, columns: &[(&str, FieldKind)], visit: &mut Visit) -> Result<()> {
        let names = columns.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        let sql = CString::new(format!("SELECT {names} FROM {table}"))?;
        let api = self.api();
        // SAFETY: the connection is open, and the text ends in NUL; each result is one of this query and
        // cleared once.
        unsafe {
            if (api.send_query)(self.raw(), sql.as_ptr()) == 0 || (api.set_single_row_mode)(self.raw()) == 0 {
                return Err(self.trouble());
            }
            let mut first = true;
            loop {
                let result = (api.get_result)(self.raw());
                if std::mem::take(&mut first) {
                    self.check_types(result, columns)?;
                }
                match (api.result_status)(result) {
                    SINGLE_TUPLE => self.visit(result, columns, visit)?,
                    // The last one, which has no row.
                    TUPLES_OK => {
                        return self.end(self.fetched(result, &mut RowCollector::default())).map(drop);
                    }
                    status => return Err(self.error(result, status)),
                }
                (api.clear)(result);
            }
        }
    }

    /// Refuses columns whose values are of another kind.
    ///
    /// # Safety
    /// The result is one of this connection.
    unsafe fn check_types(&self, result: *const PgResult, columns: &[(&str, FieldKind)]) -> Result<()> {
        for (place, (name, kind)) in (0..).zip(columns) {
            let (known, title) = match kind {
                FieldKind::Text => (TEXTS, "text"),
                FieldKind::Integer => (INTEGERS, "a whole number"),
            };
            // SAFETY: as the caller promises; of a column that is not there the type is 0.
            let found = unsafe { (self.api().ftype)(result, place) };
            ensure!(
                found == 0 || known.contains(&found),
                "the column {name} is not stored as {title}: its type has the number {found} in pg_type"
            );
        }
        Ok(())
    }

    /// Hands over a row.
    ///
    /// # Safety
    /// The result is one of this connection and holds one row of these columns.
    unsafe fn visit(
        &self,
        result: *const PgResult,
        columns: &[(&str, FieldKind)],
        visit: &mut Visit,
    ) -> Result<()> {
        let api = self.api();
        let mut cells = Vec::with_capacity(columns.len());
        for (place, (name, _)) in (0..).zip(columns) {
            // SAFETY: as the caller promises.
            unsafe {
                if (api.getisnull)(result, 0, place) != 0 {
                    bail!("a cell of the column {name} is NULL");
                }
                let start = (api.getvalue)(result, 0, place).cast();
                cells.push(slice::from_raw_parts(start, (api.getlength)(result, 0, place) as usize));
            }
        }
        visit(&cells)
    }
}
