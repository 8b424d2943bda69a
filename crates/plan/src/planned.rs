//! A test of the plan, as people see it.

use dyno_engine::Contender;
use dyno_protocol::Value;
use dyno_record::{Clients, Load};
use dyno_suite::{AMinute, Model, NO_SQL, Rendered, Suite};

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
    /// What it shows.
    pub shows: String,
    /// The name of its model.
    pub model: &'static str,
    /// Whether it is there only because a selected test needs it.
    pub preparation: bool,
    /// Whether it only prepares the tests after it.
    pub prepares: bool,
    /// How many statements it has.
    pub statements: u64,
    /// The first statements.
    pub first: Vec<String>,
    /// The last ones, where they are not among the first.
    pub last: Vec<String>,
    /// How much it does, where the input tells.
    pub amount: Option<Amount>,
    /// How many operations arrive by themselves while it is measured; none where each client begins one as soon as it
    /// is free.
    pub arrivals: Option<u64>,
    /// How many are due then, connecting among them where they come in sessions: those above are the mean of what may be
    /// drawn.
    pub due: Option<u64>,
    /// The right answer, where the input tells.
    pub answer: Option<Vec<Vec<Value>>>,
    /// What must hold after it, in words: each is a row of its answer, whose last value is how many break it.
    pub invariants: Vec<String>,
    /// Which of these, by their positions, count what is there of the acknowledged operations of a class.
    pub acknowledged: Vec<(usize, String)>,
    /// How its operations arrive, in a mix that lasts a time.
    pub load: Option<Load>,
    /// How much is asked for, in a mix.
    pub clients: Option<Clients>,
    /// The class of which people ask how many were done in a minute.
    pub a_minute: Option<AMinute>,
    /// How many operations are timed for a contender that commits each by itself.
    pub(crate) one_by_one: Option<u64>,
    /// Whether engines do it that have no SQL.
    is_for_stores: bool,
}

impl PlannedTest {
    /// Whether a contender does it.
    pub(crate) fn is_for(&self, contender: &Contender) -> bool {
        contender.implements(self.model) && (self.is_for_stores || contender.engine.dialect != NO_SQL)
    }
}

/// What people see of a test of a suite, by its place there.
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
        // Of what arrives by itself as much is done as arrived: that is no figure of the contender.
        // How much there is to settle differs between engines, so there is no rate.
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

/// The row of an answer that says that nothing breaks an invariant, which stands at a place.
fn all_hold((place, says): (i64, &String)) -> Vec<Value> {
    vec![Value::Integer(place), Value::Text(says.clone()), Value::Integer(0)]
}
