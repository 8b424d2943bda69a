//! A new database that is written page by page. SQLite only says how its schema reads.

use std::fs::File;

use anyhow::{Context, Result, ensure};
use sqlite_pages::{
    Database, IndexLeaves, IndexPlaced, IndexTree, Object, PageSize, Pages, Sorted, Sorter, Value, Values,
    compare,
};

use super::Sqlite;
use super::connection::Connection;
use crate::error::{Input, Interrupted, shown};
use crate::fill::{Filled, Unfit, in_parts};
use crate::pipeline::Watch;
use crate::table::Table;
use crate::target::Existing;

/// Bytes of a page: SQLite's own default.
const PAGE: u32 = 4096;

/// Bytes of records after which somebody is asked whether to stop. A few long ones take as long as many short ones.
const OFTEN: usize = 1 << 20;

/// A row of the schema as SQLite writes it.
struct Described {
    kind: String,
    name: String,
    /// None for the index that a primary key makes.
    sql: Option<String>,
}

impl Sqlite {
    /// Writes the table and its indexes to a file that is nobody's database yet.
    pub(super) fn write_pages(
        &self,
        file: &File,
        table: &Table,
        watch: &dyn Watch,
        fill: &dyn Fn(&Pages) -> Result<Filled>,
    ) -> Result<()> {
        let (described, version) = self.describe(table).input()?;
        let size = PageSize::new(PAGE).context("SQLite has no pages of this size")?;
        let database = Database::new(file, size);
        let pages = database.pages();
        let filled = fill(pages)?;
        let mut roots = vec![filled.tree.finish(pages)?];
        for (sorters, row) in filled.indexes.into_iter().zip(&described[1..]) {
            watch.doing("making indexes");
            let unique = if row.sql.is_none() { table.primary_key.len() } else { 0 };
            roots.push(index(sorters, pages, watch, unique)?);
        }
        ensure!(
            roots.len() == described.len(),
            "SQLite makes other indexes than dyno, which is a fault of dyno"
        );
        let objects: Vec<Object> = described
            .iter()
            .zip(roots)
            .map(|(row, root)| {
                let (kind, name, sql) = (row.kind.as_str(), row.name.as_str(), row.sql.as_deref());
                Object { kind, name, table: &described[0].name, root, sql }
            })
            .collect();
        Ok(database.finish(&objects, version)?)
    }

    /// How the schema's rows read, the table's first, and SQLite's version number. A database in memory tells, which
    /// refuses what no database would take, such as too many columns.
    fn describe(&self, table: &Table) -> Result<(Vec<Described>, u32)> {
        let connection = Connection::open(&self.api, ":memory:".as_ref(), self.wait)?;
        let statements = self.schema(table, Existing::Create);
        for sql in statements.before.iter().chain(&statements.after) {
            connection.execute(sql).with_context(|| format!("cannot execute {}", shown(sql)))?;
        }
        let rows = connection.rows("SELECT type, name, sql FROM sqlite_schema ORDER BY rowid")?;
        let described = rows.into_iter().map(|row| {
            let mut values = row.into_iter();
            let mut next = || values.next().flatten();
            Described { kind: next().unwrap_or_default(), name: next().unwrap_or_default(), sql: next() }
        });
        let described = described.collect();
        let version = connection.value("SELECT sqlite_version()")?.unwrap_or_default();
        connection.close()?;
        // 3.46.1 is 3046001.
        let number = version.split('.').filter_map(|part| part.parse::<u32>().ok());
        Ok((described, number.chain([0, 0]).take(3).fold(0, |number, part| number * 1000 + part)))
    }
}

/// Writes an index's tree and gives its root. No two rows may have the same first `unique` values, unless one of those is
/// NULL.
fn index(sorters: Vec<Sorter>, pages: &Pages, watch: &dyn Watch, unique: usize) -> Result<u32> {
    let (threads, mut tree) = (sorters.len(), IndexTree::default());
    let join = |placed| Ok(tree.append(placed, pages)?);
    let work = |place, sorted| {
        let leaves = if place == 0 { IndexLeaves::new(pages) } else { IndexLeaves::behind(pages) };
        fill_leaves(sorted, leaves, watch, unique)
    };
    in_parts(Sorter::merge(sorters, threads)?, threads, work, join)?;
    Ok(tree.finish(pages)?)
}

/// Fills leaves with the records of a part, to which all belong whose first values are equal.
fn fill_leaves(
    mut sorted: Sorted,
    mut leaves: IndexLeaves,
    watch: &dyn Watch,
    unique: usize,
) -> Result<IndexPlaced> {
    let (mut written, mut before) = (0, Vec::new());
    while let Some(record) = sorted.next()? {
        if unique > 0 {
            // An empty field of a key is a bad row, which the inserts report with its line.
            if Values::of(record).take(unique).any(|value| value == Value::Null)
                || is_same(&before, record, unique)
            {
                return Err(Unfit::Violated.into());
            }
            before.clear();
            before.extend_from_slice(record);
        }
        leaves.push(record)?;
        written += record.len();
        if written >= OFTEN {
            written = 0;
            if watch.stops() {
                return Err(Interrupted.into());
            }
        }
    }
    Ok(leaves.finish()?)
}

/// Whether two records have the same first values, none of which is NULL.
fn is_same(before: &[u8], record: &[u8], count: usize) -> bool {
    let is_equal = |(one, other): (Value, Value)| one != Value::Null && compare(&one, &other).is_eq();
    !before.is_empty() && Values::of(before).zip(Values::of(record)).take(count).all(is_equal)
}
