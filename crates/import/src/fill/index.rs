//! The entries of an index: how threads keep them, and how their leaves are written.

use anyhow::{Error, Result};
use sqlite_pages::{
    IndexLeaves, IndexPlaced, IndexTree, KeySorter, Pages, Sorted, SortedKeys, Sorter, Value, Values, compare,
};

use super::parts::in_parts;
use super::restart::Restart;
use crate::convert::Converter;
use crate::error::Interrupted;
use crate::pipeline::ImportObserver;
use crate::value::Kind;

/// Bytes of records between two checks whether to stop. A few long ones take as long as many short ones.
const OFTEN: usize = 1 << 20;

/// The entries of an index that one thread keeps.
pub enum Entries {
    /// Any entries, as records.
    Records(Sorter),
    /// Those of one column of whole numbers, which is this one.
    Keys(usize, KeySorter),
}

impl Entries {
    /// Puts them in order.
    pub fn order(&mut self) -> Result<()> {
        match self {
            Entries::Records(sorter) => sorter.order()?,
            Entries::Keys(_, sorter) => sorter.order(),
        }
        Ok(())
    }
}

/// The one column of an index whose values are whole numbers.
pub fn key_column(columns: &[usize], converter: &Converter) -> Option<usize> {
    match columns {
        [column] if converter.columns[*column].kind == Kind::INTEGER => Some(*column),
        _ => None,
    }
}

/// Writes an index's tree of what each thread has kept, and gives its root. No two rows may have the same first
/// `unique` values, unless one of those is NULL.
pub fn write_index(
    entries: Vec<Entries>,
    pages: &Pages,
    watch: &dyn ImportObserver,
    unique: usize,
) -> Result<u32> {
    let (threads, mut tree) = (entries.len(), IndexTree::default());
    let (mut records, mut keys) = (Vec::new(), Vec::new());
    for entries in entries {
        match entries {
            Entries::Records(sorter) => records.push(sorter),
            Entries::Keys(_, sorter) => keys.push(sorter),
        }
    }
    let leaves = |place| if place == 0 { IndexLeaves::new(pages) } else { IndexLeaves::behind(pages) };
    let join = |placed| tree.append(placed, pages).map_err(Error::from);
    if keys.is_empty() {
        let work = |place, sorted| fill_leaves(sorted, leaves(place), watch, unique);
        in_parts(Sorter::merge(records, threads)?, threads, work, join)?;
    } else {
        let work = |place, sorted| fill_with_keys(sorted, leaves(place), watch, unique > 0);
        in_parts(KeySorter::merge(keys, threads)?, threads, work, join)?;
    }
    Ok(tree.finish(pages)?)
}

/// Fills leaves with the entries of a part, to which all of equal keys belong.
fn fill_with_keys(
    mut sorted: SortedKeys,
    mut leaves: IndexLeaves,
    watch: &dyn ImportObserver,
    is_unique: bool,
) -> Result<IndexPlaced> {
    const OFTEN: usize = 1 << 16;
    let (mut written, mut before) = (0, None);
    while let Some((key, number)) = sorted.next()? {
        // Of equal keys one comes directly behind the other. An empty field of a key is a bad row, which the inserts
        // report.
        if is_unique && (key.is_none() || key == before) {
            return Err(Restart::Violated.into());
        }
        before = key;
        leaves.push_key(key, number)?;
        written += 1;
        if written % OFTEN == 0 && watch.stops() {
            return Err(Interrupted.into());
        }
    }
    Ok(leaves.finish()?)
}

/// Fills leaves with the records of a part, to which all belong whose first values are equal.
fn fill_leaves(
    mut sorted: Sorted,
    mut leaves: IndexLeaves,
    watch: &dyn ImportObserver,
    unique: usize,
) -> Result<IndexPlaced> {
    let (mut written, mut before) = (0, Vec::new());
    while let Some(record) = sorted.next()? {
        if unique > 0 {
            // An empty field of a key is a bad row, which the inserts report with its line.
            if Values::of(record).take(unique).any(|value| value == Value::Null)
                || is_same(&before, record, unique)
            {
                return Err(Restart::Violated.into());
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

/// True if two records have the same first values, none of which is NULL.
fn is_same(before: &[u8], record: &[u8], count: usize) -> bool {
    let is_equal = |(one, other): (Value, Value)| one != Value::Null && compare(&one, &other).is_eq();
    !before.is_empty() && Values::of(before).zip(Values::of(record)).take(count).all(is_equal)
}
