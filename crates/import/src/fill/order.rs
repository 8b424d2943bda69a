//! Sorts data before they are written: indexes, and the rows of a table whose keys do not ascend in the file.

use anyhow::Result;
use sqlite_pages::{KeySorter, Leaves, Pages, Placed, Records, Sorted, Sorter, TableTree, Value, Values};

use super::index::{Entries, key_column};
use super::job::{Fill, Numbers};
use super::parts::in_parts;
use super::restart::Restart;
use crate::error::Interrupted;
use crate::pipeline::ImportObserver;

/// Bytes of leaves that are written at once, and between two checks whether to stop.
const GATHERED: usize = 1 << 20;

/// The sorters of one thread.
pub struct Sorters {
    /// The rows themselves, each as its number and its record.
    pub rows: Option<Sorter>,
    /// For each index what it holds of each row.
    pub indexes: Vec<Entries>,
}

impl Sorters {
    /// Empty ones.
    pub fn new(fill: &Fill) -> Sorters {
        let is_unordered = matches!(fill.numbers, Numbers::Sorted(_));
        let count = fill.indexes.len() + usize::from(is_unordered);
        let memory = fill.memory / (fill.threads * count).max(1);
        let sorter = |keys: usize| Sorter::new(&fill.folder, memory, keys);
        let entries = |columns: &Vec<usize>| match key_column(columns, &fill.converter) {
            Some(column) => Entries::Keys(column, KeySorter::new(&fill.folder, memory)),
            None => Entries::Records(sorter(columns.len() + 1)),
        };
        Sorters { rows: is_unordered.then(|| sorter(1)), indexes: fill.indexes.iter().map(entries).collect() }
    }

    /// Takes the entries of a row whose index holds a whole number, by the keys of its columns.
    #[inline(always)]
    pub fn take_keys(&mut self, number: i64, numbered: Option<usize>, keys: &[Option<i64>]) -> Result<()> {
        for entries in &mut self.indexes {
            if let Entries::Keys(column, sorter) = entries {
                let key = if numbered == Some(*column) { Some(number) } else { keys[*column] };
                sorter.push(key, number)?;
            }
        }
        Ok(())
    }

    /// Takes the records of rows, and the number of each.
    pub fn take(&mut self, fill: &Fill, numbers: &[i64], records: &Records) -> Result<()> {
        if self.rows.is_none() && self.indexes.is_empty() {
            return Ok(());
        }
        let mut values = Vec::new();
        for (&number, record) in numbers.iter().zip(records.iter()) {
            if let Some(sorter) = &mut self.rows {
                sorter.push(&[Value::Integer(number), Value::Blob(record)])?;
            }
            for (entries, columns) in self.indexes.iter_mut().zip(&fill.indexes) {
                key(record, columns, number, fill.numbers.column(), &mut values);
                match (entries, values[0]) {
                    (Entries::Records(sorter), _) => sorter.push(&values)?,
                    (Entries::Keys(_, sorter), Value::Integer(key)) => sorter.push(Some(key), number)?,
                    (Entries::Keys(_, sorter), _) => sorter.push(None, number)?,
                }
            }
        }
        Ok(())
    }
}

/// The entry of a row in an index: the values of its columns, and the row's number, which may be one of them.
fn key<'r>(
    record: &'r [u8],
    columns: &[usize],
    number: i64,
    numbered: Option<usize>,
    values: &mut Vec<Value<'r>>,
) {
    let value = |column: &usize| match numbered == Some(*column) {
        true => Value::Integer(number),
        false => Values::of(record).nth(*column).unwrap_or(Value::Null),
    };
    values.clear();
    values.extend(columns.iter().map(value));
    values.push(Value::Integer(number));
}

/// Writes the leaves of a table whose rows have been sorted, and says how many there are.
pub fn table(sorters: Vec<Sorter>, pages: &Pages, watch: &dyn ImportObserver) -> Result<(TableTree, u64)> {
    watch.doing("putting rows in the order of their key");
    let (threads, mut tree, mut rows) = (sorters.len(), TableTree::default(), 0);
    let join = |part: Vec<Placed>| {
        for placed in part {
            rows += placed.rows;
            tree.append(placed, pages)?;
        }
        Ok(())
    };
    in_parts(Sorter::merge(sorters, threads)?, threads, |_, sorted| leaves(sorted, pages, watch), join)?;
    Ok((tree, rows))
}

/// Writes the leaves of some rows that are in order. Rows of one number are all among them.
fn leaves(mut sorted: Sorted, pages: &Pages, watch: &dyn ImportObserver) -> Result<Vec<Placed>> {
    let (mut leaves, mut placed, mut before) = (Leaves::new(pages), Vec::new(), None);
    while let Some(entry) = sorted.next()? {
        let mut values = Values::of(entry);
        let (Some(Value::Integer(number)), Some(Value::Blob(record))) = (values.next(), values.next()) else {
            unreachable!("rows are sorted as a number and a record");
        };
        if before.replace(number) == Some(number) {
            return Err(Restart::Violated.into());
        }
        leaves.push_record(number, record)?;
        if leaves.bytes() >= GATHERED {
            placed.push(leaves.place(pages)?);
            if watch.stops() {
                return Err(Interrupted.into());
            }
        }
    }
    if leaves.bytes() > 0 {
        placed.push(leaves.place(pages)?);
    }
    Ok(placed)
}
