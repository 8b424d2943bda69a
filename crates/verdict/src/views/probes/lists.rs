//! A history of appends to lists.
//!
//! Every element is appended once, and reading a list returns all elements appended before, in their order. So for each
//! two transactions it is known which wrote first (ww), which read from the other (wr), and which did not see the
//! other's write (rw). If transactions took effect one after another, these edges form no cycle.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use dyno_protocol::Value;

use super::anomaly::{Anomaly, FoundAnomaly};

/// A transaction: what it appended, to which list, and what it saw of two lists before.
struct Transaction<'a> {
    element: &'a str,
    list: i64,
    saw: [(i64, Vec<&'a str>); 2],
}

/// The way in which one transaction precedes another.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Precedence {
    Wrote,
    WasRead,
    DidNotSee,
}

/// One transaction before another, by their positions, because of a list.
#[derive(Clone, Copy)]
struct Edge {
    from: usize,
    to: usize,
    how: Precedence,
    list: i64,
}

/// The number of steps of a cycle that a message lists.
const STEPS_SHOWN: usize = 5;

/// The anomalies of a history. Its rows are: what was appended, the list, what it was before, another list, and what that
/// was; and for each list at the end an empty text, the list, what is in it, 0 and an empty text.
pub fn anomalies(history: &[Vec<Value>]) -> Vec<FoundAnomaly> {
    let mut transactions = Vec::new();
    let mut lists: BTreeMap<i64, Vec<&str>> = BTreeMap::new();
    for row in history {
        let [
            Value::Text(element),
            Value::Integer(a),
            Value::Text(saw_a),
            Value::Integer(b),
            Value::Text(saw_b),
        ] = &row[..]
        else {
            return Vec::new();
        };
        if element.is_empty() {
            lists.insert(*a, elements(saw_a));
        } else {
            let saw = [(*a, elements(saw_a)), (*b, elements(saw_b))];
            transactions.push(Transaction { element, list: *a, saw });
        }
    }
    let lost = lost(&transactions, &lists);
    // With elements lost, the order of appends is uncertain, and any history would show cycles.
    if !lost.is_empty() { lost } else { circles(&transactions, &edges(&transactions, &lists)) }
}

fn elements(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

/// Elements that were read but never committed, and elements that were committed and are gone: the transactions that read or
/// appended them.
fn lost(transactions: &[Transaction], lists: &BTreeMap<i64, Vec<&str>>) -> Vec<FoundAnomaly> {
    let (mut dirty, mut gone) = (Vec::new(), Vec::new());
    let none = Vec::new();
    for (place, one) in transactions.iter().enumerate() {
        if !lists.get(&one.list).unwrap_or(&none).contains(&one.element) {
            let shows = format!("{} was appended to list {} and is not there", one.element, one.list);
            gone.push((place, shows));
        }
        for (list, saw) in &one.saw {
            let unknown = |element: &&&str| !transactions.iter().any(|other| other.element == **element);
            if let Some(element) = saw.iter().find(unknown) {
                let shows =
                    format!("{} read {element} in list {list}, which no transaction committed", one.element);
                dirty.push((place, shows));
            } else if !lists.get(list).unwrap_or(&none).starts_with(saw) {
                let end = lists.get(list).unwrap_or(&none).join(" ");
                let shows = format!("list {list} was read as [{}], and became [{end}]", saw.join(" "));
                gone.push((place, shows));
            }
        }
    }
    let found = |anomaly, all: Vec<(usize, String)>| {
        let who: BTreeSet<usize> = all.iter().map(|(place, _)| *place).collect();
        all.into_iter().next().map(|(_, first)| (anomaly, who.len() as u64, first))
    };
    [found(Anomaly::DirtyRead, dirty), found(Anomaly::LostAppend, gone)].into_iter().flatten().collect()
}

fn edges(transactions: &[Transaction], lists: &BTreeMap<i64, Vec<&str>>) -> Vec<Edge> {
    let who = |element: &str| transactions.iter().position(|one| one.element == element);
    let mut edges = Vec::new();
    let mut add = |from: Option<usize>, to: Option<usize>, how, list| {
        if let (Some(from), Some(to)) = (from, to)
            && from != to
        {
            edges.push(Edge { from, to, how, list });
        }
    };
    for (&list, elements) in lists {
        for pair in elements.windows(2) {
            add(who(pair[0]), who(pair[1]), Precedence::Wrote, list);
        }
    }
    for (reader, one) in transactions.iter().enumerate() {
        for (list, saw) in &one.saw {
            add(saw.last().and_then(|last| who(last)), Some(reader), Precedence::WasRead, *list);
            let next = lists.get(list).and_then(|all| all.get(saw.len()));
            add(Some(reader), next.and_then(|next| who(next)), Precedence::DidNotSee, *list);
        }
    }
    edges
}

/// The cycles: of writes and reads alone; with one read that missed another's append; with several.
/// Counts the transactions at which an edge of such a cycle begins.
fn circles(transactions: &[Transaction], edges: &[Edge]) -> Vec<FoundAnomaly> {
    let known: Vec<Edge> = edges.iter().copied().filter(|edge| edge.how != Precedence::DidNotSee).collect();
    let mut found: BTreeMap<Anomaly, (BTreeSet<usize>, String)> = BTreeMap::new();
    for edge in edges {
        let back = |among: &[Edge]| path(among, edge.to, edge.from, transactions.len());
        let circle = match (edge.how == Precedence::DidNotSee, back(&known)) {
            (false, Some(back)) => Some((Anomaly::DirtyRead, back)),
            (false, None) => None,
            (true, Some(back)) => Some((Anomaly::SingleSkew, back)),
            (true, None) => back(edges).map(|back| (Anomaly::Circle, back)),
        };
        if let Some((anomaly, back)) = circle {
            let first = || (BTreeSet::new(), reported(transactions, *edge, &back));
            found.entry(anomaly).or_insert_with(first).0.insert(edge.from);
        }
    }
    found.into_iter().map(|(anomaly, (who, shows))| (anomaly, who.len() as u64, shows)).collect()
}

/// The shortest way from one transaction to another.
fn path(edges: &[Edge], from: usize, to: usize, count: usize) -> Option<Vec<Edge>> {
    let mut came: Vec<Option<Edge>> = vec![None; count];
    let mut queue = VecDeque::from([from]);
    while let Some(here) = queue.pop_front() {
        if here == to {
            let mut way = Vec::new();
            let mut place = to;
            while place != from {
                let edge = came[place]?;
                way.push(edge);
                place = edge.from;
            }
            way.reverse();
            return Some(way);
        }
        for edge in edges.iter().filter(|edge| edge.from == here) {
            if edge.to != from && came[edge.to].is_none() {
                came[edge.to] = Some(*edge);
                queue.push_back(edge.to);
            }
        }
    }
    None
}

/// A circle in words.
fn reported(transactions: &[Transaction], first: Edge, back: &[Edge]) -> String {
    let name = |place: usize| transactions[place].element;
    let step = |edge: &Edge| {
        let (from, to, list) = (name(edge.from), name(edge.to), edge.list);
        match edge.how {
            Precedence::Wrote => format!("{from} was appended to list {list} before {to}"),
            Precedence::WasRead => format!("{to} saw {from} in list {list}"),
            Precedence::DidNotSee => format!("{from} did not see {to} in list {list}"),
        }
    };
    let mut steps: Vec<String> = std::iter::once(&first).chain(back).take(STEPS_SHOWN).map(step).collect();
    if back.len() + 1 > STEPS_SHOWN {
        steps.push("…".to_owned());
    }
    steps.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The columns of a row: the element appended, its list, the elements read of it, another list, the elements read
    /// of that.
    type Row<'a> = (&'a str, i64, &'a str, i64, &'a str);

    fn found(rows: &[Row]) -> Vec<(Anomaly, String)> {
        all(rows).into_iter().map(|(anomaly, _, shows)| (anomaly, shows)).collect()
    }

    /// The anomalies, each with the number of transactions that saw it.
    fn counted(rows: &[Row]) -> Vec<(Anomaly, u64)> {
        all(rows).into_iter().map(|(anomaly, count, _)| (anomaly, count)).collect()
    }

    fn all(rows: &[Row]) -> Vec<FoundAnomaly> {
        let row = |&(element, a, saw_a, b, saw_b): &Row| {
            let text = |text: &str| Value::Text(text.to_owned());
            vec![text(element), Value::Integer(a), text(saw_a), Value::Integer(b), text(saw_b)]
        };
        anomalies(&rows.iter().map(row).collect::<Vec<Vec<Value>>>())
    }

    #[test]
    fn transactions_one_after_another_show_nothing() {
        let rows = [
            ("x", 1, "", 2, ""),
            ("y", 2, "", 1, " x"),
            ("z", 1, " x", 2, " y"),
            ("", 1, " x z", 0, ""),
            ("", 2, " y", 0, ""),
        ];
        assert_eq!(found(&rows), []);
    }

    #[test]
    fn two_that_do_not_see_each_other_are_write_skew() {
        let rows = [("x", 1, "", 2, ""), ("y", 2, "", 1, ""), ("", 1, " x", 0, ""), ("", 2, " y", 0, "")];
        let shows = "x did not see y in list 2; y did not see x in list 1";
        assert_eq!(found(&rows), [(Anomaly::Circle, shows.to_owned())]);
    }

    #[test]
    fn one_that_appends_behind_what_it_did_not_see_is_g_single() {
        let rows = [("x", 1, "", 2, ""), ("y", 1, "", 2, ""), ("", 1, " x y", 0, ""), ("", 2, "", 0, "")];
        let shows = "y did not see x in list 1; x was appended to list 1 before y";
        assert_eq!(found(&rows), [(Anomaly::SingleSkew, shows.to_owned())]);
    }

    #[test]
    fn a_transaction_that_missed_two_appends_is_counted_once() {
        // x came after y and z, and saw neither. y did not see z either.
        let rows = [
            ("y", 2, "", 1, ""),
            ("z", 1, "", 2, " y"),
            ("x", 1, "", 2, ""),
            ("", 1, " z x", 0, ""),
            ("", 2, " y", 0, ""),
        ];
        assert_eq!(counted(&rows), [(Anomaly::SingleSkew, 1), (Anomaly::Circle, 1)]);
        let twice = [("x", 1, " q", 2, " p"), ("", 1, " x", 0, ""), ("", 2, "", 0, "")];
        assert_eq!(counted(&twice), [(Anomaly::DirtyRead, 1)]);
    }

    #[test]
    fn those_that_read_from_one_another_are_g1() {
        let rows = [("x", 1, "", 2, " y"), ("y", 2, "", 1, " x"), ("", 1, " x", 0, ""), ("", 2, " y", 0, "")];
        assert_eq!(found(&rows)[0].0, Anomaly::DirtyRead);
    }

    #[test]
    fn what_nobody_committed_and_what_is_gone_is_reported() {
        let dirty = [("x", 1, "", 2, " q"), ("", 1, " x", 0, ""), ("", 2, "", 0, "")];
        let shows = "x read q in list 2, which no transaction committed";
        assert_eq!(found(&dirty), [(Anomaly::DirtyRead, shows.to_owned())]);
        let gone = [("x", 1, "", 2, ""), ("y", 1, "", 2, ""), ("", 1, " y", 0, ""), ("", 2, "", 0, "")];
        let shows = "x was appended to list 1 and is not there";
        assert_eq!(found(&gone), [(Anomaly::LostAppend, shows.to_owned())]);
    }
}
