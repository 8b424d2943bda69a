//! The histories of stores of keys and values: pairs that transactions put down, from which the history of each key is
//! made.
//!
//! A transaction has a number, and each thousand of keys something of it: of those that change a key its element, what
//! it saw of that key, what it saw of another, and which two these are. The element that it saw is the one before its
//! own.

use std::collections::BTreeMap;

use dyno_protocol::Value;

use super::anomaly::{Anomaly, FoundAnomaly};
use super::lists;

/// The number of keys of which all transactions have something.
const SPAN: i64 = 1000;

/// The values that were put, by their key.
type Pairs<'a> = BTreeMap<i64, &'a str>;

/// The pairs of a history; none where it is one of SQL. Rows of three are about invariants and say nothing here.
fn pairs(history: &[Vec<Value>]) -> Option<Pairs<'_>> {
    let mut pairs = Pairs::new();
    for row in history.iter().filter(|row| row.len() != 3) {
        let [Value::Integer(key), Value::Text(value)] = &row[..] else { return None };
        pairs.insert(*key, value);
    }
    let has_enough = history.iter().any(|row| row.len() == 3);
    has_enough.then_some(pairs)
}

/// The anomalies of a probe on a store; none where the history is one of SQL.
pub fn anomalies(probe: &str, history: &[Vec<Value>]) -> Option<Vec<FoundAnomaly>> {
    let pairs = pairs(history)?;
    Some(match probe {
        "lost-update" => lost_updates(pairs.values().copied()),
        "read-skew" => read_skew(&pairs),
        "write-skew" | "list-append" => changes(&pairs),
        _ => Vec::new(),
    })
}

/// Each saw a value before it put its own: none can be seen by two.
fn lost_updates<'a>(saw: impl Iterator<Item = &'a str>) -> Vec<FoundAnomaly> {
    let mut readers: BTreeMap<&str, u64> = BTreeMap::new();
    for value in saw {
        *readers.entry(value).or_default() += 1;
    }
    let lost: u64 = readers.values().map(|readers| readers - 1).sum();
    let first = readers.iter().find(|(_, readers)| **readers > 1);
    let reported = first.map(|(value, readers)| {
        let shows = format!("{readers} transactions read {value}, and each put its own in its place");
        (Anomaly::LostUpdate, lost, shows)
    });
    reported.into_iter().collect()
}

/// A reader saw a value of one key and a value of the other, which are always the same; a key that was not put yet has
/// none.
fn read_skew(pairs: &Pairs) -> Vec<FoundAnomaly> {
    let first = pairs.keys().next().map_or(0, |key| key / SPAN);
    let numbers: std::collections::BTreeSet<i64> = pairs.keys().map(|key| key % SPAN).collect();
    // If no reader saw the first key, the second's are all there is: then those are skewed.
    let base = if first % 2 == 0 { first - 1 } else { first };
    let of = |number: i64, part: i64| pairs.get(&((base + part) * SPAN + number)).copied();
    let skewed: Vec<(Option<&str>, Option<&str>)> = numbers
        .into_iter()
        .map(|number| (of(number, 0), of(number, 1)))
        .filter(|(one, other)| one != other)
        .collect();
    let name = |value: Option<&str>| value.unwrap_or("nothing").to_owned();
    let reported = skewed.first().map(|(one, other)| {
        let shows = format!(
            "a transaction read {} under one key and {} under the other, which are always put together",
            name(*one),
            name(*other)
        );
        (Anomaly::ReadSkew, skewed.len() as u64, shows)
    });
    reported.into_iter().collect()
}

/// A transaction that read two keys and changed one.
struct Change<'a> {
    element: &'a str,
    own: i64,
    saw_own: Option<&'a str>,
    other: i64,
    saw_other: Option<&'a str>,
}

/// Of changes of keys: lost updates, or where there are none the circles of what becomes of lists of all that a key
/// held.
fn changes(pairs: &Pairs) -> Vec<FoundAnomaly> {
    let Some(base) = pairs.keys().next().map(|key| key / (10 * SPAN) * 10 * SPAN) else { return Vec::new() };
    let of = |number: i64, part: i64| pairs.get(&(base + part * SPAN + number)).copied();
    let change = |number: i64| {
        // A number is eight bytes, the least significant first.
        let key = |part| of(number, part).and_then(|key| key.bytes().next()).map(i64::from);
        Some(Change {
            element: of(number, 0)?,
            own: key(3)?,
            saw_own: of(number, 1),
            other: key(4)?,
            saw_other: of(number, 2),
        })
    };
    let changes: Vec<Change> = (0..SPAN).filter_map(change).collect();
    let named: Vec<(i64, String)> = changes
        .iter()
        .map(|change| {
            (change.own, change.saw_own.map_or(format!("nothing in key {}", change.own), str::to_owned))
        })
        .collect();
    let lost = lost_updates(named.iter().map(|(_, saw)| saw.as_str()));
    if !lost.is_empty() {
        return lost;
    }
    lists::anomalies(&as_lists(&changes))
}

/// The same as if each key held a list of all that was put under it.
fn as_lists(changes: &[Change]) -> Vec<Vec<Value>> {
    let before: BTreeMap<&str, Option<&str>> =
        changes.iter().map(|change| (change.element, change.saw_own)).collect();
    let list = |last: Option<&str>| {
        let mut elements = Vec::new();
        let mut at = last;
        // A value that was not put ends it, and is reported as read from no client; a circle is as long as all there
        // are.
        while let Some(element) = at.filter(|_| elements.len() <= changes.len()) {
            elements.push(element);
            at = before.get(element).copied().flatten();
        }
        elements.reverse();
        Value::Text(elements.join(" "))
    };
    let text = |text: &str| Value::Text(text.to_owned());
    let mut rows: Vec<Vec<Value>> = changes
        .iter()
        .map(|change| {
            let Change { element, own, saw_own, other, saw_other } = change;
            vec![
                text(element),
                Value::Integer(*own),
                list(*saw_own),
                Value::Integer(*other),
                list(*saw_other),
            ]
        })
        .collect();
    let keys: std::collections::BTreeSet<i64> =
        changes.iter().flat_map(|change| [change.own, change.other]).collect();
    for key in keys {
        // The last is the one that no other saw before its own.
        let its = || changes.iter().filter(|change| change.own == key);
        let last = its().find(|change| its().all(|other| other.saw_own != Some(change.element)));
        let all = list(last.map(|change| change.element));
        rows.push(vec![text(""), Value::Integer(key), all, Value::Integer(0), text("")]);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A history of pairs.
    fn history(pairs: &[(i64, &str)]) -> Vec<Vec<Value>> {
        let reported = vec![Value::Integer(1), Value::Text("reported".into()), Value::Integer(0)];
        let pairs = pairs.iter().map(|(key, value)| vec![Value::Integer(*key), Value::Text((*value).into())]);
        std::iter::once(reported).chain(pairs).collect()
    }

    fn found(probe: &str, pairs: &[(i64, &str)]) -> Vec<Anomaly> {
        anomalies(probe, &history(pairs)).unwrap().into_iter().map(|(anomaly, ..)| anomaly).collect()
    }

    /// A change by its number: its element, its key and what it saw of it, another key and what it saw of that.
    type Row<'a> = (i64, &'a str, i64, &'a str, i64, &'a str);

    fn changed(rows: &[Row]) -> Vec<Anomaly> {
        let number = |key: i64| String::from_utf8(key.to_le_bytes().to_vec()).unwrap();
        let rows: Vec<(i64, String)> = rows
            .iter()
            .flat_map(|&(place, element, own, saw_own, other, saw_other)| {
                let all = [
                    element.to_owned(),
                    saw_own.to_owned(),
                    saw_other.to_owned(),
                    number(own),
                    number(other),
                ];
                (0..).zip(all).map(move |(part, value)| (10_000 + part * SPAN + place, value))
            })
            .filter(|(_, value)| !value.is_empty())
            .collect();
        let pairs: Vec<(i64, &str)> = rows.iter().map(|(key, value)| (*key, value.as_str())).collect();
        found("write-skew", &pairs)
    }

    #[test]
    fn what_two_saw_before_their_own_is_a_lost_update() {
        assert_eq!(found("lost-update", &[(2001, "a"), (2002, "b")]), []);
        assert_eq!(found("lost-update", &[(2001, "a"), (2002, "b"), (2003, "a")]), [Anomaly::LostUpdate]);
        assert_eq!(changed(&[(1, "x", 4, "", 5, ""), (2, "y", 4, "", 5, "")]), [Anomaly::LostUpdate]);
    }

    #[test]
    fn two_keys_that_differ_are_read_skew() {
        assert_eq!(found("read-skew", &[(3001, "a"), (4001, "a"), (3002, "b"), (4002, "b")]), []);
        assert_eq!(found("read-skew", &[(3001, "a"), (4001, "b")]), [Anomaly::ReadSkew]);
        assert_eq!(found("read-skew", &[(4001, "b")]), [Anomaly::ReadSkew], "the first was not there");
    }

    #[test]
    fn circles_of_changes_are_found() {
        let serial = [
            (1, "x", 4, "", 5, ""),
            (2, "y", 5, "", 4, "x"),
            (3, "z", 4, "x", 5, "y"),
            (7, "w", 4, "z", 5, "y"),
        ];
        assert_eq!(changed(&serial), []);
        assert_eq!(changed(&[(1, "x", 4, "", 5, ""), (2, "y", 5, "", 4, "")]), [Anomaly::Circle]);
        // y changed key 4 after x, and did not see what z did with key 5 before x.
        let single = [(1, "z", 5, "", 6, ""), (2, "x", 4, "", 5, "z"), (3, "y", 4, "x", 5, "")];
        assert_eq!(changed(&single), [Anomaly::SingleSkew]);
        assert_eq!(changed(&[(1, "x", 4, "q", 5, "")]), [Anomaly::DirtyRead]);
    }

    #[test]
    fn a_history_of_sql_is_no_pairs() {
        let rows = [vec![Value::Integer(0)], vec![Value::Integer(1)]];
        assert!(anomalies("lost-update", &rows).is_none());
        assert!(anomalies("read-skew", &[vec![Value::Integer(50), Value::Integer(50)]]).is_none());
    }
}
