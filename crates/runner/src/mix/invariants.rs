//! Checks the invariants of a store after a mix: reads all of it once and counts violations.

use std::collections::BTreeMap;

use anyhow::Result;
use dyno_protocol::{MixWork, StoreCount, StoreInvariant, Value};

use crate::{Answer, KeyValue};

/// The counts for one invariant.
enum Counting {
    Torn {
        times: u64,
        broken: i64,
    },
    /// The number of keys.
    Count {
        from: i64,
        to: i64,
        found: i64,
    },
    /// The same, of which all must be there.
    Missing {
        from: i64,
        to: i64,
        found: i64,
    },
    /// For each client how many of its numbers are there, and the largest.
    Gaps {
        from: i64,
        below: i64,
        step: i64,
        clients: BTreeMap<i64, (i64, i64)>,
    },
    /// The pairs that are there.
    Pairs {
        from: i64,
        to: i64,
        pairs: Vec<(i64, Value)>,
    },
}

impl Counting {
    fn new(invariant: &StoreInvariant) -> Counting {
        match invariant.counts {
            StoreCount::Torn { times } => Counting::Torn { times, broken: 0 },
            StoreCount::Count { from, to } => Counting::Count { from, to, found: 0 },
            StoreCount::Missing { from, to } => Counting::Missing { from, to, found: 0 },
            StoreCount::Gaps { from, below, step } => {
                Counting::Gaps { from, below, step, clients: BTreeMap::new() }
            }
            StoreCount::Pairs { from, to } => Counting::Pairs { from, to, pairs: Vec::new() },
        }
    }

    fn add(&mut self, key: i64, value: &[u8]) {
        match self {
            Counting::Torn { times, broken } => *broken += i64::from(!is_whole(value, *times)),
            Counting::Count { from, to, found } | Counting::Missing { from, to, found } => {
                *found += i64::from((*from..=*to).contains(&key))
            }
            Counting::Gaps { from, below, step, clients } => {
                if (*from..*below).contains(&key) {
                    let (count, last) = clients.entry((key - *from) % *step).or_default();
                    *count += 1;
                    *last = key.max(*last);
                }
            }
            Counting::Pairs { from, to, pairs } => {
                if (*from..=*to).contains(&key) {
                    pairs.push((key, Value::from_text(value)));
                }
            }
        }
    }

    fn broken(&self) -> i64 {
        match self {
            Counting::Torn { broken, .. } => *broken,
            Counting::Count { found, .. } => *found,
            Counting::Missing { from, to, found } => to - from + 1 - found,
            Counting::Gaps { from, step, clients, .. } => {
                let has_gap = |(client, (count, last)): &(&i64, &(i64, i64))| {
                    last - from - *client != (count - 1) * step
                };
                clients.iter().filter(has_gap).count() as i64
            }
            Counting::Pairs { .. } => 0,
        }
    }
}

/// Returns true if a value repeats the same bytes this many times.
fn is_whole(value: &[u8], times: u64) -> bool {
    let piece = value.len() / usize::try_from(times).unwrap_or(1).max(1);
    piece > 0
        && value.len() as u64 == piece as u64 * times
        && value.chunks_exact(piece).all(|part| *part == value[..piece])
}

/// Adds a row to the answer for each invariant: its place, what it says, how many break it; then one for each pair that
/// is to be reported.
pub fn read_back(mix: &MixWork, store: &mut impl KeyValue, answer: &mut Answer) -> Result<()> {
    let mut all: Vec<Counting> = mix.invariants.iter().map(Counting::new).collect();
    let mut odd = None;
    store.scan(|key, value| match <[u8; 8]>::try_from(key) {
        Ok(key) => all.iter_mut().for_each(|one| one.add(i64::from_be_bytes(key), value)),
        Err(_) => odd = Some(key.len()),
    })?;
    if let Some(length) = odd {
        return Err(anyhow::anyhow!("a key has {length} bytes, and all that were put have 8"));
    }
    answer.begin(true);
    for (place, (one, invariant)) in (1..).zip(all.iter().zip(&mix.invariants)) {
        let broken = if store.keeps() { one.broken() } else { 0 };
        answer.row(&[Value::Integer(place), Value::Text(invariant.says.clone()), Value::Integer(broken)]);
    }
    for one in all {
        if let Counting::Pairs { pairs, .. } = one {
            pairs.into_iter().for_each(|(key, value)| answer.row(&[Value::Integer(key), value]));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(counts: StoreCount, pairs: &[(i64, &str)]) -> i64 {
        let mut counting = Counting::new(&StoreInvariant { says: String::new(), counts });
        pairs.iter().for_each(|(key, value)| counting.add(*key, value.as_bytes()));
        counting.broken()
    }

    #[test]
    fn torn_values_are_counted() {
        let pairs = [(1, "ababab"), (2, "abab"), (3, "ababac"), (4, ""), (5, "zzz")];
        assert_eq!(counted(StoreCount::Torn { times: 3 }, &pairs), 3);
    }

    #[test]
    fn lost_keys_are_counted() {
        let pairs = [(1, ""), (2, ""), (4, ""), (9, "")];
        assert_eq!(counted(StoreCount::Missing { from: 1, to: 4 }, &pairs), 1);
        assert_eq!(counted(StoreCount::Missing { from: 5, to: 8 }, &pairs), 4);
        assert_eq!(counted(StoreCount::Count { from: 2, to: 8 }, &pairs), 2);
    }

    #[test]
    fn a_gap_is_one_of_a_client() {
        let gaps = |pairs: &[(i64, &str)]| counted(StoreCount::Gaps { from: 10, below: 100, step: 2 }, pairs);
        // The first client has 10, 12 and 14, the second 11; one beyond the end belongs to no client.
        assert_eq!(gaps(&[(10, ""), (11, ""), (12, ""), (14, ""), (103, "")]), 0);
        assert_eq!(gaps(&[(10, ""), (14, ""), (13, "")]), 2);
        assert_eq!(gaps(&[]), 0);
    }
}
