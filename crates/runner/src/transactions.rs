//! The loop over writes that commit n at a time.

use std::ops::Range;

use anyhow::{Error, Result};
use dyno_inputs::Slice;

use crate::kv::{KeyValue, Transaction, Write};
use crate::{Failure, OperationTimer, Slices};

/// Operations by their places.
pub trait Operations {
    /// The number of writes.
    fn count(&self) -> u64;

    /// The length of the longest key, in bytes.
    fn longest(&self) -> usize;

    /// Does one.
    fn perform(&self, store: &mut impl Write, index: u64) -> Result<()>;
}

/// Pairs to put.
#[derive(Debug, Clone, Copy)]
pub struct Put<'a> {
    pub keys: Slice<'a>,
    /// As many.
    pub values: Slice<'a>,
}

/// Keys to delete.
#[derive(Debug, Clone, Copy)]
pub struct Delete<'a>(pub Slice<'a>);

impl Operations for Put<'_> {
    fn count(&self) -> u64 {
        self.keys.len()
    }

    fn longest(&self) -> usize {
        self.keys.width()
    }

    #[inline]
    fn perform(&self, store: &mut impl Write, index: u64) -> Result<()> {
        store.put(self.keys.get(index), self.values.get(index))
    }
}

impl Operations for Delete<'_> {
    fn count(&self) -> u64 {
        self.0.len()
    }

    fn longest(&self) -> usize {
        self.0.width()
    }

    #[inline]
    fn perform(&self, store: &mut impl Write, index: u64) -> Result<()> {
        store.delete(self.0.get(index))
    }
}

/// Does all operations, `per_commit` to a transaction; none: all in one. This is a timed section. The first operation of a transaction has its beginning in its latency and the last its commit.
///
/// # Errors
/// The first that failed. Its transaction is not committed.
#[inline]
pub fn in_transactions<K: KeyValue, W: OperationTimer>(
    store: &mut K,
    operations: &impl Operations,
    per_commit: Option<u64>,
    watch: &mut W,
    turns: Slices,
) -> Result<(), Failure> {
    let count = operations.count();
    let each = per_commit.unwrap_or(u64::MAX).max(1);
    let mut start = 0;
    while start < count {
        let end = start + each.min(count - start);
        transaction(store, operations, start..end, watch, turns)?;
        start = end;
    }
    Ok(())
}

/// One transaction, of at least one operation.
#[inline]
fn transaction<K: KeyValue, W: OperationTimer>(
    store: &mut K,
    operations: &impl Operations,
    range: Range<u64>,
    watch: &mut W,
    turns: Slices,
) -> Result<(), Failure> {
    let (first, last) = (range.start, range.end - 1);
    turns.take(1)?;
    let at = |index| move |error: Error| Failure::at(index, error);
    let mut mark = watch.begin();
    let mut open = store.begin().map_err(at(first))?;
    let mut within = open.store().map_err(at(first))?;
    operations.perform(&mut within, first).map_err(at(first))?;
    if first < last {
        watch.end(mark);
        let mut start = first + 1;
        while start < last {
            let end = start + turns.take(last - start)?;
            for index in start..end {
                watch.operation(|| operations.perform(&mut within, index)).map_err(at(index))?;
            }
            start = end;
        }
        turns.take(1)?;
        mark = watch.begin();
        operations.perform(&mut within, last).map_err(at(last))?;
    }
    drop(within);
    open.commit().map_err(at(last))?;
    watch.end(mark);
    Ok(())
}

#[cfg(test)]
mod tests {
    use anyhow::bail;

    use super::*;
    use crate::kv::{Lookups, NoStore};
    use crate::{Latency, NoTimer, Reads};

    /// Keeps what was committed, and refuses one operation.
    #[derive(Default)]
    struct Toy {
        committed: Vec<Vec<u8>>,
        refused: Option<u8>,
    }

    struct Open<'t> {
        toy: &'t mut Toy,
        keys: Vec<u8>,
    }

    impl KeyValue for Toy {
        type Reader<'r> = NoStore;
        type Transaction<'t> = Open<'t>;

        fn reader(&mut self, _: Lookups, _: Reads) -> Result<NoStore> {
            bail!("nothing is looked up")
        }

        fn begin(&mut self) -> Result<Open<'_>> {
            Ok(Open { toy: self, keys: Vec::new() })
        }

        fn scan(&mut self, _: impl FnMut(&[u8], &[u8])) -> Result<()> {
            Ok(())
        }
    }

    impl Transaction for Open<'_> {
        type Store<'s>
            = &'s mut Self
        where
            Self: 's;

        fn store(&mut self) -> Result<&mut Self> {
            Ok(self)
        }

        fn commit(self) -> Result<()> {
            self.toy.committed.push(self.keys);
            Ok(())
        }
    }

    impl Write for Open<'_> {
        fn get<T>(&mut self, _: &[u8], _: impl FnOnce(&[u8]) -> T) -> Result<Option<T>> {
            Ok(None)
        }

        fn put(&mut self, key: &[u8], _: &[u8]) -> Result<()> {
            self.delete(key)
        }

        fn delete(&mut self, key: &[u8]) -> Result<()> {
            if self.toy.refused == Some(key[0]) {
                bail!("no more");
            }
            self.keys.push(key[0]);
            Ok(())
        }
    }

    /// The keys `0`, `1` ….
    fn keys(count: u8) -> Vec<u8> {
        (0..count).collect()
    }

    fn committed(count: u8, per_commit: Option<u64>) -> Vec<Vec<u8>> {
        let mut toy = Toy::default();
        let keys = keys(count);
        let keys = Slice::new(&keys, 1);
        let done = [
            in_transactions(&mut toy, &Delete(keys), per_commit, &mut NoTimer, Slices::default()),
            in_transactions(
                &mut toy,
                &Put { keys, values: keys },
                per_commit,
                &mut NoTimer,
                Slices::default(),
            ),
        ];
        assert!(done.iter().all(Result::is_ok));
        let (first, second) = toy.committed.split_at(toy.committed.len() / 2);
        assert_eq!(first, second);
        first.to_vec()
    }

    #[test]
    fn operations_are_grouped_in_order() {
        assert_eq!(committed(5, Some(2)), [vec![0, 1], vec![2, 3], vec![4]]);
        assert_eq!(committed(4, Some(2)), [[0, 1], [2, 3]]);
        assert_eq!(committed(2, Some(1)), [[0], [1]]);
        assert_eq!(committed(3, None), [[0, 1, 2]]);
        assert_eq!(committed(5, None), [[0, 1, 2, 3, 4]]);
        assert_eq!(committed(3, Some(u64::MAX)), [[0, 1, 2]]);
        assert!(committed(0, Some(2)).is_empty() && committed(0, None).is_empty());
    }

    #[test]
    fn the_operation_that_failed_is_named_and_not_committed() {
        for refused in 2..=4 {
            let (mut toy, mut latency) =
                (Toy { refused: Some(refused), ..Toy::default() }, Latency::default());
            let failure = in_transactions(
                &mut toy,
                &Delete(Slice::new(&keys(9), 1)),
                Some(2),
                &mut latency,
                Slices::default(),
            );
            assert_eq!(failure.unwrap_err().index, Some(refused.into()));
            assert_eq!(toy.committed.len(), usize::from(refused) / 2);
            assert_eq!(latency.count(), u64::from(refused));
        }
    }
}
