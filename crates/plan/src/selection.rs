//! Selects the tests that a run times: `--only 1,4-6`.

use anyhow::{Context, Result};
use dyno_nearest as nearest;
use dyno_record::Parameters;
use dyno_suite::{Mix, Model, Suite, Test};

/// The treatment of one test of the suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selection {
    /// It is timed and shown.
    Timed,
    /// It runs because a timed test needs it, and is not shown.
    Needed,
    /// It does not run.
    Left,
}

/// The selection for every test of the suite, in order. `only` is a list of ids and of ranges of them (`4-6`); None
/// means all tests.
pub fn select(suite: &Suite, only: Option<&str>) -> Result<Vec<Selection>> {
    let Some(only) = only else { return Ok(vec![Selection::Timed; suite.tests.len()]) };
    let mut selection = vec![Selection::Left; suite.tests.len()];
    for part in only.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (first, last) = range(suite, part)?;
        for chosen in &mut selection[first..=last] {
            *chosen = Selection::Timed;
        }
    }
    if !selection.contains(&Selection::Timed) {
        anyhow::bail!("--only names no test");
    }
    // Needs point backwards, so one pass from the end finds them all.
    for index in (0..suite.tests.len()).rev() {
        if selection[index] != Selection::Left {
            for need in &suite.tests[index].needs {
                let needed = position(suite, need)?;
                if selection[needed] == Selection::Left {
                    selection[needed] = Selection::Needed;
                }
            }
        }
    }
    Ok(selection)
}

/// The tests that run, in order.
pub(crate) fn chosen_tests<'s>(suite: &'s Suite, selection: &[Selection]) -> impl Iterator<Item = &'s Test> {
    let chosen = suite.tests.iter().zip(selection).filter(|(_, chosen)| **chosen != Selection::Left);
    chosen.map(|(test, _)| test)
}

/// The mixes that run, in order, with their numbers.
///
/// # Errors
/// The parameters do not fit a mix.
pub fn chosen_mixes<'s>(
    suite: &'s Suite,
    parameters: &Parameters,
    selection: &[Selection],
) -> Result<Vec<(&'s Test, Mix)>> {
    let mixes = chosen_tests(suite, selection).filter(|test| test.model == Model::Mix);
    mixes.map(|test| Ok((test, suite.mix(test, parameters)?))).collect()
}

fn range(suite: &Suite, part: &str) -> Result<(usize, usize)> {
    // An id may hold a hyphen itself.
    let whole = position(suite, part).map(|index| (index, index));
    let (Err(_), Some((first, last))) = (&whole, part.split_once('-')) else { return whole };
    match (position(suite, first), position(suite, last)) {
        (Ok(first), Ok(last)) => Ok((first.min(last), first.max(last))),
        (Err(unknown), Ok(_)) | (Ok(_), Err(unknown)) => Err(unknown),
        // Rather one mistyped id than two.
        (Err(_), Err(_)) => whole,
    }
}

fn position(suite: &Suite, id: &str) -> Result<usize> {
    suite.tests.iter().position(|test| test.id == id).with_context(|| {
        let ids = suite.tests.iter().map(|test| test.id.as_str());
        nearest::unknown(&format!("the suite {} has no test", suite.name), id, "it has", ids)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::Selection::{Left, Needed, Timed};
    use super::*;

    fn suite() -> Suite {
        let mut text = "name='x'\ntitle='X'\nstory=''\ncontenders=['sqlite']\n".to_owned();
        for (id, needs) in [("1", ""), ("2", "'1'"), ("3", ""), ("4-a", "'2'")] {
            text += &format!(
                "[[test]]\nid='{id}'\ntitle=''\nshows=''\nmodel='statements'\nneeds=[{needs}]\nstatements='SELECT 1'\n"
            );
        }
        Suite::parse(text, Path::new("x.toml"), &BTreeSet::new()).unwrap()
    }

    #[test]
    fn what_a_test_needs_comes_with_it() {
        assert_eq!(select(&suite(), Some("4-a")).unwrap(), [Needed, Needed, Left, Timed]);
        assert_eq!(select(&suite(), Some("2-3")).unwrap(), [Needed, Timed, Timed, Left]);
        assert_eq!(select(&suite(), None).unwrap(), [Timed; 4]);
    }

    #[test]
    fn a_test_that_is_not_there_is_reported() {
        assert!(select(&suite(), Some("7")).unwrap_err().to_string().contains("it has 1, 2, 3, 4-a"));
        let reported = |only| select(&suite(), Some(only)).unwrap_err().to_string();
        assert!(
            reported("1-7").contains("no test '7'")
                && reported("44-a").contains("no test '44-a'; did you mean 4-a?")
        );
        assert!(select(&suite(), Some(",")).is_err());
    }
}
