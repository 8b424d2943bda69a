//! The loop over operations that commit so many at a time.

use anyhow::Result;

use crate::{Failure, Watch};

/// How many operations make a transaction where all of a test are to and the engine keeps in memory what an
/// open transaction has changed or locked. With pages of 4 KiB that is at most some 100 MB.
pub const LARGEST: u64 = 16_384;

/// An engine whose transactions are begun and committed by calls.
pub trait Transactions {
    /// An open transaction.
    type Open;

    /// Begins one.
    fn begin(&mut self) -> Result<Self::Open>;

    /// Commits it.
    fn commit(&mut self, open: Self::Open) -> Result<()>;
}

/// Does `count` operations, given their places, `per_commit` to a transaction; none: all in one. This is
/// a timed section. The first operation of a transaction has its beginning in its latency and the last
/// its commit. Returns how many were done.
///
/// # Errors
/// The first that failed. Its transaction stays open: the trial ends with it.
#[inline]
pub fn in_transactions<D: Transactions, W: Watch>(
    driver: &mut D,
    count: u64,
    per_commit: Option<u64>,
    watch: &mut W,
    mut operation: impl FnMut(&mut D, &mut D::Open, u64) -> Result<()>,
) -> Result<u64, Failure> {
    let each = per_commit.unwrap_or(count).max(1);
    let mut start = 0;
    while start < count {
        let last = each.min(count - start) + start - 1;
        let mut open = None;
        for index in start..=last {
            let done = watch.operation(|| {
                let transaction = match &mut open {
                    Some(transaction) => transaction,
                    none => none.insert(driver.begin()?),
                };
                operation(driver, transaction, index)?;
                if index == last { open.take().map_or(Ok(()), |open| driver.commit(open)) } else { Ok(()) }
            });
            done.map_err(|error| Failure::at(index, error))?;
        }
        start = last + 1;
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use anyhow::bail;

    use super::*;
    use crate::{Latency, Unwatched};

    /// Keeps what was committed.
    #[derive(Default)]
    struct Toy(Vec<Vec<u64>>);

    impl Transactions for Toy {
        type Open = Vec<u64>;

        fn begin(&mut self) -> Result<Vec<u64>> {
            Ok(Vec::new())
        }

        fn commit(&mut self, open: Vec<u64>) -> Result<()> {
            self.0.push(open);
            Ok(())
        }
    }

    fn committed(count: u64, per_commit: Option<u64>) -> Vec<Vec<u64>> {
        let mut toy = Toy::default();
        let done = in_transactions(&mut toy, count, per_commit, &mut Unwatched, |_, open, index| {
            open.push(index);
            Ok(())
        });
        assert_eq!(done.unwrap(), count);
        toy.0
    }

    #[test]
    fn operations_are_grouped_in_order() {
        assert_eq!(committed(5, Some(2)), [vec![0, 1], vec![2, 3], vec![4]]);
        assert_eq!(committed(4, Some(2)), [[0, 1], [2, 3]]);
        assert_eq!(committed(2, Some(1)), [[0], [1]]);
        assert_eq!(committed(3, None), [[0, 1, 2]]);
        assert_eq!(committed(3, Some(u64::MAX)), [[0, 1, 2]]);
        assert!(committed(0, Some(2)).is_empty() && committed(0, None).is_empty());
    }

    #[test]
    fn the_operation_that_failed_is_named_and_not_committed() {
        let (mut toy, mut latency) = (Toy::default(), Latency::default());
        let failure = in_transactions(&mut toy, 9, Some(2), &mut latency, |_, open, index| {
            if index == 3 {
                bail!("no more");
            }
            open.push(index);
            Ok(())
        });
        assert_eq!(failure.unwrap_err().index, Some(3));
        assert_eq!(toy.0, [[0, 1]]);
        assert_eq!(latency.counts().iter().map(|(_, count)| count).sum::<u64>(), 4);
    }
}
