//! A test of the plan: its record, and what dyno must know of it to run it.

use std::collections::BTreeMap;

use dyno_engine::Contender;
use dyno_protocol::Value;
use dyno_record::{PerMinute, TestRecord};
use dyno_suite::{Model, NO_SQL, Rendered, Suite, Test};

use crate::work::{PreparedWork, in_words};

/// Statements shown from each end of a test's list.
const SHOWN: usize = 3;

/// A test of the plan.
#[derive(Debug, Clone)]
pub struct PlannedTest {
    /// The test as people see it, without figures that others published; `expect` is the right answer that the input
    /// determines.
    pub record: TestRecord,
    /// True if it is known to change nothing: contenders that sync their commits can take turns in it.
    pub only_reads: bool,
    /// The number of operations that are due while it is measured, including connects if they come in sessions; None if
    /// each client begins an operation as soon as it is free.
    pub due: Option<u64>,
    /// The percentile of the response time by which it is judged, if operations arrive at a rate: the 99th if at least
    /// ten operations are beyond it, else the 90th, else the median. It depends only on the arrivals, so it is the same
    /// for all contenders.
    pub judged_percentile: Option<f64>,
    /// For each contender the number of its operations, if the contender's trials time only the first of them.
    pub whole: Vec<Option<u64>>,
    /// The invariants, by position, that count what a class's acknowledged operations left in the database.
    pub acknowledged: Vec<(usize, String)>,
    /// The number of operations timed for a contender that commits each one separately.
    pub(crate) one_by_one: Option<u64>,
    /// True if engines without SQL do it.
    is_for_stores: bool,
}

impl PlannedTest {
    /// True if a contender does it.
    pub(crate) fn is_for(&self, contender: &Contender) -> bool {
        contender.implements(&self.record.model) && (self.is_for_stores || contender.engine.dialect != NO_SQL)
    }
}

/// The description of a suite's test, by its position there, for output.
pub(crate) fn describe(
    suite: &Suite,
    index: usize,
    preparation: bool,
    test: &Rendered,
    prepared: Option<&PreparedWork>,
) -> PlannedTest {
    let written = &suite.tests[index];
    let mut statements = test.statements.clone();
    if let Some(prepared) = prepared.filter(|_| statements.is_empty()) {
        statements = test.setup.iter().cloned().chain(in_words(prepared, written)).collect();
    }
    let all_shown = statements.len() <= 2 * SHOWN;
    let split = if all_shown { statements.len() } else { SHOWN };
    let last = if all_shown { &[] } else { &statements[statements.len() - SHOWN..] };
    let record = TestRecord {
        id: test.id.clone(),
        title: test.title.clone(),
        shows: written.shows.clone(),
        model: written.model.name().to_owned(),
        preparation,
        prepares: written.prepares,
        statements: statements.len() as u64,
        first: statements[..split].to_vec(),
        last: last.to_vec(),
        // Operations that arrive at a rate are done at that rate, which is no figure of the contender. The amount of
        // work to settle differs between engines, so there is no rate.
        amount: prepared
            .filter(|prepared| prepared.arrivals.is_none() && written.model != Model::KvSettle)
            .map(|prepared| prepared.amount.clone()),
        expect: expected(test, written, prepared),
        expect_digest: None,
        invariants: test.invariants.clone(),
        invariant_lines: test.invariant_lines.clone(),
        load: prepared.and_then(|prepared| prepared.load),
        clients: prepared.and_then(|prepared| prepared.clients.clone()),
        a_minute: written
            .a_minute
            .clone()
            .map(|dyno_suite::PerMinute { class, says }| PerMinute { class, says }),
        published: BTreeMap::new(),
    };
    let acknowledged = written.invariants.iter().enumerate();
    PlannedTest {
        record,
        only_reads: only_reads(written.model, &test.statements),
        due: prepared.and_then(|prepared| prepared.due),
        judged_percentile: prepared.and_then(|prepared| prepared.arrivals).map(percentile),
        whole: Vec::new(),
        acknowledged: acknowledged
            .filter_map(|(place, invariant)| Some((place, invariant.acknowledged.clone()?)))
            .collect(),
        one_by_one: written.one_by_one,
        is_for_stores: written.is_for_stores(),
    }
}

/// The right answer, if the input determines it.
fn expected(test: &Rendered, written: &Test, prepared: Option<&PreparedWork>) -> Option<Vec<Vec<Value>>> {
    if !test.invariants.is_empty() {
        return Some((1..).zip(&test.invariants).map(all_hold).collect());
    }
    let is_mix_with_answer = written.model == Model::Mix && written.expect.is_some();
    let prepared = prepared.filter(|_| test.check.is_none() || is_mix_with_answer);
    prepared.map(|prepared| prepared.answer.clone())
}

/// The percentile beyond which at least ten of these operations are, if there is one that is usual.
fn percentile(arrivals: u64) -> f64 {
    match arrivals {
        1_000.. => 0.99,
        100.. => 0.9,
        _ => 0.5,
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
