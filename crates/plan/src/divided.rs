//! The mixes whose clients are divided among processes, where a contender asks for that.

use anyhow::Result;
use dyno_protocol::TimeWindow;
use dyno_record::Parameters;
use dyno_suite::Suite;

use crate::selection::{Selection, chosen_mixes};

/// True if the clients of a mix are divided where its contender asks for that. One client with a number of operations is not:
/// the runner that does the other tests does it.
pub(crate) fn is_divided(clients: u32, lasts: Option<TimeWindow>) -> bool {
    clients > 1 || lasts.is_some()
}

/// The mixes that run and whose clients are divided, by id, with the number of clients.
///
/// # Errors
/// The parameters do not fit a mix.
pub fn divided_mixes<'s>(
    suite: &'s Suite,
    parameters: &Parameters,
    selection: &[Selection],
) -> Result<Vec<(&'s str, u32)>> {
    let mixes = chosen_mixes(suite, parameters, selection)?.into_iter();
    let divided = mixes.filter(|(_, mix)| is_divided(mix.clients, mix.lasts));
    Ok(divided.map(|(test, mix)| (test.id.as_str(), mix.clients)).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;
    use crate::selection::select;

    /// A set-up test of one client, and three mixes of which the first two have several clients or last a time.
    fn suite() -> Suite {
        let mut text = "name='x'\ntitle='X'\nstory=''\ncontenders=['sqlite']\n".to_owned();
        for (id, load) in [
            ("fill", "prepares=true\ncount=5"),
            ("many", "clients=8\ncount=5"),
            ("lasting", "clients=1\nduration=1"),
            ("single", "clients=1\ncount=5"),
        ] {
            let test =
                format!("[[test]]\nid='{id}'\ntitle=''\nshows=''\nmodel='mix'\ncheck='SELECT 1'\n{load}\n");
            text += &format!("{test}[[test.class]]\nname='c'\nstatements='SELECT 1'\n");
        }
        Suite::parse(text, Path::new("x.toml"), &BTreeSet::new()).unwrap()
    }

    fn divided(only: Option<&str>) -> Vec<(String, u32)> {
        let suite = suite();
        let selection = select(&suite, only).unwrap();
        let divided = divided_mixes(&suite, &Parameters::default(), &selection).unwrap();
        divided.into_iter().map(|(test, clients)| (test.to_owned(), clients)).collect()
    }

    #[test]
    fn only_chosen_mixes_with_clients_to_divide_are_divided() {
        let of = |test: &str, clients| (test.to_owned(), clients);
        assert_eq!(divided(None), [of("many", 8), of("lasting", 1)]);
        assert_eq!(divided(Some("fill,lasting")), [of("lasting", 1)]);
        assert_eq!(divided(Some("fill,single")), []);
    }
}
