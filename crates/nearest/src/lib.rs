//! A name that is not there: the nearest ones that are.

use strsim::damerau_levenshtein;

/// The number of names offered at most.
const OFFERED: usize = 3;

/// Says that there is no such name, and which was meant: `there is no engine 'sqlight'; did you mean sqlite?`
///
/// `lacks` begins the sentence, as `there is no engine`; where no name is near, all of them follow `has`, as
/// `there are`.
pub fn unknown<'a>(lacks: &str, name: &str, has: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    match (offer(name, &known), known.is_empty()) {
        (Some(offer), _) => format!("{lacks} '{name}'; {offer}"),
        (None, false) => format!("{lacks} '{name}'; {has} {}", known.join(", ")),
        (None, true) => format!("{lacks} '{name}'"),
    }
}

/// `did you mean wal or wal-normal?`, where a name is near.
pub fn offer(name: &str, known: &[&str]) -> Option<String> {
    let near = nearest(name, known);
    let (last, others) = near.split_last()?;
    Some(match others {
        [] => format!("did you mean {last}?"),
        others => format!("did you mean {} or {last}?", others.join(", ")),
    })
}

/// The names that are a slip of the finger away, the nearest first.
fn nearest<'a>(name: &str, known: &[&'a str]) -> Vec<&'a str> {
    let length = name.chars().count();
    // Of a name of one or two letters every other is near.
    if length < 3 {
        return Vec::new();
    }
    let lower = name.to_lowercase();
    let mut near: Vec<(usize, &str)> = known
        .iter()
        .map(|&known| (damerau_levenshtein(&lower, &known.to_lowercase()), known))
        .filter(|(slips, known)| *slips <= length.div_ceil(3) || known.starts_with(&lower))
        .collect();
    near.sort();
    near.dedup();
    // Much farther ones are not meant.
    let closest = near.first().map_or(0, |(slips, _)| *slips);
    near.retain(|(slips, _)| *slips <= closest + 1);
    near.into_iter().take(OFFERED).map(|(_, known)| known).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUITES: [&str; 4] = ["speedtest", "kv", "import", "intuition"];

    #[test]
    fn a_slip_of_the_finger_finds_what_was_meant() {
        assert_eq!(offer("spedtest", &SUITES).unwrap(), "did you mean speedtest?");
        assert_eq!(offer("speed", &SUITES).unwrap(), "did you mean speedtest?");
        assert_eq!(offer("sqlight", &["sqlite", "duckdb"]).unwrap(), "did you mean sqlite?");
        assert_eq!(offer("PostgreSQL", &["postgres", "sqlite"]).unwrap(), "did you mean postgres?");
        assert_eq!(offer("wall", &["wal", "nosync", "tall"]).unwrap(), "did you mean tall or wal?");
        assert_eq!(
            unknown("there is no suite", "importt", "there are", SUITES),
            "there is no suite 'importt'; did you mean import?"
        );
    }

    #[test]
    fn where_nothing_is_near_all_are_named() {
        assert_eq!(
            unknown("there is no engine", "oracle", "there are", ["kv", "lmdb"]),
            "there is no engine 'oracle'; there are kv, lmdb"
        );
        assert_eq!(offer("7", &["1", "2"]), None);
        assert_eq!(unknown("it has no variant", "x", "it has", []), "it has no variant 'x'");
    }
}
