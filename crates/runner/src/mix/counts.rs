//! The operations of one class of one client, or of all.

use dyno_gauge::Histogram;
use dyno_protocol::{Class, Response, StatementTimes};

/// The operations of one class of one client.
pub(super) struct Counts {
    pub done: u64,
    pub failed: u64,
    /// The error of the first that failed other than for want of time.
    pub failure: String,
    pub retried: u64,
    pub undone: u64,
    pub ignored: u64,
    pub acknowledged: u64,
    pub response: Histogram,
    /// The waits of operations that were not done at the end. It is made after the end, because few clients need one.
    pub unfinished: Option<Histogram>,
    /// Only where operations are due at a time.
    pub due: Option<Due>,
    /// The executions of each statement, where they are timed.
    pub statements: Vec<Histogram>,
}

/// Further histograms of operations that are due at a time.
#[derive(Default)]
pub(super) struct Due {
    pub service: Histogram,
    pub wait: Histogram,
    pub late: Histogram,
}

impl Counts {
    pub fn new(digits: u8, due: bool) -> Counts {
        let (response, unfinished) = (Histogram::with_digits(digits), None);
        let failure = String::new();
        let due = due.then(Due::default);
        Counts {
            done: 0,
            failed: 0,
            failure,
            retried: 0,
            undone: 0,
            ignored: 0,
            acknowledged: 0,
            response,
            unfinished,
            due,
            statements: Vec::new(),
        }
    }

    fn add(&mut self, other: &Counts) {
        self.done += other.done;
        self.failed += other.failed;
        self.retried += other.retried;
        self.undone += other.undone;
        self.ignored += other.ignored;
        self.acknowledged += other.acknowledged;
        if self.failure.is_empty() {
            self.failure.clone_from(&other.failure);
        }
        self.response.add(&other.response);
        if let Some(other) = &other.unfinished {
            self.unfinished.get_or_insert_default().add(other);
        }
        if let Some((own, other)) = self.due.as_mut().zip(other.due.as_ref()) {
            own.service.add(&other.service);
            own.wait.add(&other.wait);
            own.late.add(&other.late);
        }
        self.statements.iter_mut().zip(&other.statements).for_each(|(own, other)| own.add(other));
    }

    fn reported(&self, class: &str) -> Class {
        let of_due = |part: fn(&Due) -> &Histogram| {
            self.due.as_ref().map_or_else(Response::default, |due| part(due).response())
        };
        Class {
            class: class.to_owned(),
            done: self.done,
            failed: self.failed,
            failure: self.failure.clone(),
            retried: self.retried,
            undone: self.undone,
            ignored: self.ignored,
            acknowledged: self.acknowledged,
            response: self.response.response(),
            unfinished: self.unfinished.as_ref().map_or_else(Response::default, Histogram::response),
            service: of_due(|due| &due.service),
            wait: of_due(|due| &due.wait),
            late: of_due(|due| &due.late),
            statements: self
                .statements
                .iter()
                .map(|times| StatementTimes { text: String::new(), response: times.response() })
                .collect(),
        }
    }
}

/// The operations of all clients.
#[derive(Default)]
pub struct Sum(Vec<Counts>);

impl Sum {
    /// Adds what a client did, by class.
    pub(super) fn add(&mut self, client: Vec<Counts>) {
        if self.0.is_empty() {
            self.0 = client;
        } else {
            self.0.iter_mut().zip(&client).for_each(|(sum, own)| sum.add(own));
        }
    }

    /// The classes with their names.
    pub fn reported(&self, names: &[&str]) -> Vec<Class> {
        self.0.iter().zip(names).map(|(counts, name)| counts.reported(name)).collect()
    }
}
