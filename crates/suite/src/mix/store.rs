//! Operations on stores of keys and values, in the lines of a mix that begin with `@kv`.
//!
//! `GET store :key`, `PUT store :key :value` and `RANGE store :key :length` are statements; `TORN store times`,
//! `MISSING store from to`, `COUNT store from to` and `GAPS store from below step` count what breaks an invariant;
//! `PAIRS store from to` reports what is there.

use anyhow::{Context, Result, bail, ensure};
use dyno_nearest as nearest;
use dyno_protocol::{StoreCount, StoreDoes};

/// The operations by their words.
const OPERATIONS: [(&str, StoreDoes); 3] =
    [("GET", StoreDoes::Get), ("PUT", StoreDoes::Put), ("RANGE", StoreDoes::Range)];

/// The operation of a statement and its store. `text` is the text around its parameters.
pub(super) fn operation(text: &[String]) -> Result<(StoreDoes, String)> {
    let words: Vec<&str> = text.iter().flat_map(|piece| piece.split_whitespace()).collect();
    let word = words.first().copied().unwrap_or_default();
    let Some((_, does)) = OPERATIONS.into_iter().find(|(name, _)| *name == word) else {
        let known = OPERATIONS.into_iter().map(|(name, _)| name);
        bail!(nearest::unknown("no operation of a store is called", word, "there are", known));
    };
    let written = match does {
        StoreDoes::Get => "GET store :key",
        StoreDoes::Put => "PUT store :key :value",
        StoreDoes::Range => "RANGE store :key :length",
    };
    let is_whole = words.len() == 2 && text.len() == does.parameters() + 1;
    ensure!(is_whole, "it is written as `{written}`");
    Ok((does, words[1].to_owned()))
}

/// The count of an invariant's violations, and its store.
pub(crate) fn count(query: &str) -> Result<(StoreCount, String)> {
    let mut words = query.split_whitespace();
    let (word, store) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let numbers = words.map(|number| {
        number.parse::<i64>().with_context(|| format!("'{number}' of `{query}` is no whole number"))
    });
    let counts = match (word, &numbers.collect::<Result<Vec<_>>>()?[..]) {
        ("TORN", &[times]) if times > 0 => StoreCount::Torn { times: times.unsigned_abs() },
        ("MISSING", &[from, to]) => StoreCount::Missing { from, to },
        ("COUNT", &[from, to]) => StoreCount::Count { from, to },
        ("GAPS", &[from, below, step]) if step > 0 => StoreCount::Gaps { from, below, step },
        ("PAIRS", &[from, to]) => StoreCount::Pairs { from, to },
        _ => bail!(
            "`{query}` is not one of `TORN store times`, `MISSING store from to`, `COUNT store from to`, `GAPS store from below step` and `PAIRS store \
             from to`"
        ),
    };
    Ok((counts, store.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &[&str]) -> Vec<String> {
        text.iter().map(|piece| (*piece).to_owned()).collect()
    }

    #[test]
    fn operations_and_what_breaks_an_invariant_are_read() {
        let put = operation(&pieces(&["PUT record ", " ", ""])).unwrap();
        assert_eq!(put, (StoreDoes::Put, "record".to_owned()));
        for (text, said) in [
            (&["PUT record ", ""][..], "`PUT store :key :value`"),
            (&["GET record other ", ""], "`GET store :key`"),
            (&["PET record ", ""], "'PET'"),
        ] {
            let error = operation(&pieces(text)).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
        let gaps = StoreCount::Gaps { from: 101, below: 1000, step: 4 };
        assert_eq!(count("GAPS record 101 1000 4").unwrap(), (gaps, "record".to_owned()));
        for bad in ["GAPS record 101 1000 0", "TORN record", "MISSING record 1 x", "SELECT 1", ""] {
            assert!(count(bad).is_err(), "{bad}");
        }
    }
}
