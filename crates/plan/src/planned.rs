//! A test of the plan, as people see it.

use dyno_engine::Contender;
use dyno_protocol::Value;
use dyno_record::{Clients, Load};
use dyno_suite::{Model, NO_SQL, PerMinute, Rendered, Suite};

use crate::work::{Amount, Prepared, in_words};

/// Statements shown from each end of a test's list.
const SHOWN: usize = 3;

/// A test of the plan, as people see it.
#[derive(Debug, Clone)]
pub struct PlannedTest {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The property that it shows, in words.
    pub shows: String,
    /// The name of its model.
    pub model: &'static str,
    /// True if it runs only because a selected test needs it.
    pub preparation: bool,
    /// True if it only prepares the tests after it.
    pub prepares: bool,
    /// The number of its statements.
    pub statements: u64,
    /// The first statements.
    pub first: Vec<String>,
    /// The last ones, where they are not among the first.
    pub last: Vec<String>,
    /// True if it is known to change nothing: contenders that sync their commits can take turns in it.
    pub only_reads: bool,
    /// The amount of its work, if the input determines it.
    pub amount: Option<Amount>,
    /// The mean number of operations that arrive while it is measured; None if each client begins one as soon as it is
    /// free.
    pub arrivals: Option<u64>,
    /// The number of operations that are due then, including connects if they come in sessions; `arrivals` is the mean
    /// of the numbers that may be drawn.
    pub due: Option<u64>,
    /// The right answer, if the input determines it.
    pub answer: Option<Vec<Vec<Value>>>,
    /// The conditions that must hold after it, in words: each is a row of its answer, whose last value counts the
    /// violations.
    pub invariants: Vec<String>,
    /// The lines of the suite's file in which these words stand.
    pub invariant_lines: Vec<usize>,
    /// The invariants, by position, that count what a class's acknowledged operations left in the database.
    pub acknowledged: Vec<(usize, String)>,
    /// The kind of arrivals, in a mix that lasts a time.
    pub load: Option<Load>,
    /// The load that is asked for, in a mix.
    pub clients: Option<Clients>,
    /// The class of which people ask how many were done in a minute.
    pub a_minute: Option<PerMinute>,
    /// The number of operations timed for a contender that commits each one separately.
    pub(crate) one_by_one: Option<u64>,
    /// True if engines without SQL do it.
    is_for_stores: bool,
}

impl PlannedTest {
    /// True if a contender does it.
    pub(crate) fn is_for(&self, contender: &Contender) -> bool {
        contender.implements(self.model) && (self.is_for_stores || contender.engine.dialect != NO_SQL)
    }
}

/// The description of a suite's test, by its position there, for output.
pub(crate) fn describe(
    suite: &Suite,
    index: usize,
    preparation: bool,
    test: &Rendered,
    prepared: Option<&Prepared>,
) -> PlannedTest {
    let written = &suite.tests[index];
    let mut statements = test.statements.clone();
    if let Some(prepared) = prepared.filter(|_| statements.is_empty()) {
        statements = test.setup.iter().cloned().chain(in_words(prepared, written)).collect();
    }
    let all_shown = statements.len() <= 2 * SHOWN;
    let split = if all_shown { statements.len() } else { SHOWN };
    let last = if all_shown { &[] } else { &statements[statements.len() - SHOWN..] };
    PlannedTest {
        id: test.id.clone(),
        title: test.title.clone(),
        shows: written.shows.clone(),
        model: written.model.name(),
        preparation,
        prepares: written.prepares,
        statements: statements.len() as u64,
        first: statements[..split].to_vec(),
        last: last.to_vec(),
        only_reads: only_reads(written.model, &test.statements),
        // Operations that arrive at a rate are done at that rate, which is no figure of the contender. The amount of
        // work to settle differs between engines, so there is no rate.
        amount: prepared
            .filter(|prepared| prepared.arrivals.is_none() && written.model != Model::KvSettle)
            .map(|prepared| prepared.amount),
        arrivals: prepared.and_then(|prepared| prepared.arrivals),
        due: prepared.and_then(|prepared| prepared.due),
        answer: match &test.invariants[..] {
            [] => prepared
                .filter(|_| test.check.is_none() || (written.model == Model::Mix && written.expect.is_some()))
                .map(|prepared| prepared.answer.clone()),
            says => Some((1..).zip(says).map(all_hold).collect()),
        },
        invariants: test.invariants.clone(),
        invariant_lines: test.invariant_lines.clone(),
        acknowledged: written
            .invariants
            .iter()
            .enumerate()
            .filter_map(|(place, invariant)| Some((place, invariant.acknowledged.clone()?)))
            .collect(),
        load: prepared.and_then(|prepared| prepared.load),
        clients: prepared.and_then(|prepared| prepared.clients.clone()),
        a_minute: written.a_minute.clone(),
        one_by_one: written.one_by_one,
        is_for_stores: written.is_for_stores(),
    }
}

/// True if a test changes nothing: it reads by its model, or each of its statements is a plain SELECT. One with INTO may
/// make a table, and of other statements dyno does not know.
fn only_reads(model: Model, statements: &[String]) -> bool {
    let is_word = |word: &str, wanted: &str| word.eq_ignore_ascii_case(wanted);
    let selects = |statement: &String| {
        let mut words = statement.split_whitespace();
        words.next().is_some_and(|word| is_word(word, "SELECT")) && !words.any(|word| is_word(word, "INTO"))
    };
    match model {
        Model::Scan | Model::KvGet | Model::KvScan | Model::KvRange => true,
        Model::Statements => !statements.is_empty() && statements.iter().all(selects),
        _ => false,
    }
}

/// The row of an answer that says that nothing breaks the invariant with this number.
fn all_hold((place, says): (i64, &String)) -> Vec<Value> {
    vec![Value::Integer(place), Value::Text(says.clone()), Value::Integer(0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_reads_only_if_each_statement_is_a_select() {
        let reads = |texts: &[&str]| {
            only_reads(Model::Statements, &texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>())
        };
        assert!(reads(&["SELECT 1", "select count(*)\nFROM t"]));
        assert!(
            !reads(&[]) && !reads(&["SELECT 1", "DELETE FROM t"]) && !reads(&["BEGIN", "SELECT 1", "COMMIT"])
        );
        assert!(!reads(&["SELECT a INTO u FROM t"]) && !reads(&["WITH x AS (SELECT 1) DELETE FROM t"]));
        assert!(only_reads(Model::KvGet, &[]) && !only_reads(Model::KvPut, &[]));
    }
}
