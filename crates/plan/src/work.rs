//! From a test of the suite to its work: the model with its input files, and the right answer if the input determines
//! it.

mod amount;
mod dialect;
mod stores;
mod words;

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use dyno_protocol::{Commits, LoadWork, Store, Work};
use dyno_record::{AmountRecord, Clients, Load};
use dyno_suite::{Class, Course, Mix, Model, Shape, Suite, Test};

use super::arrays::{ArrayFile, Arrays};
use super::truth::{self, Order, Rows};
pub use amount::{committing, is_cut, operations};
pub use dialect::in_dialect;
pub use words::in_words;

/// The input of a test that works on arrays, the same for every dialect.
#[derive(Debug, Clone)]
pub struct PreparedWork {
    /// The work; of a scan, its query is still to be filled in.
    pub work: Work,
    /// The right answer.
    pub answer: Rows,
    /// The amount of work, for rates.
    pub amount: AmountRecord,
    /// The mean number of operations that arrive while they are measured, if they arrive at a rate.
    pub arrivals: Option<u64>,
    /// The number of operations that are due then; `arrivals` is the mean of the numbers that may be drawn.
    pub due: Option<u64>,
    /// The kind of arrivals, in a mix that lasts a time.
    pub load: Option<Load>,
    /// The load that is asked for, in a mix.
    pub clients: Option<Clients>,
}

impl PreparedWork {
    /// Work whose operations do not arrive at a rate.
    fn new(work: Work, answer: Rows, amount: AmountRecord) -> PreparedWork {
        PreparedWork { work, answer, amount, arrivals: None, due: None, load: None, clients: None }
    }
}

/// The kind of a mix's arrivals; None if the mix does a fixed number of operations.
pub fn load(mix: &Mix) -> Option<Load> {
    mix.lasts.map(|_| match (mix.session, &mix.rate) {
        (Some(_), _) => Load::Sessions,
        (None, Some(_)) => Load::Open,
        (None, None) => Load::Closed,
    })
}

/// The mean number of operations that arrive per second while they are measured.
fn mean_rate(mix: &Mix) -> Option<f64> {
    let lasts = mix.lasts?;
    mix.rate.as_ref().map(|rate| rate.mean(0.0, lasts.duration_ns as f64 / 1e9))
}

/// The load that a mix asks for.
fn numbers(mix: &Mix) -> Clients {
    Clients {
        clients: mix.clients,
        rate: mean_rate(mix),
        course: mix.rate.as_ref().filter(|rate| rate.value().is_none()).map(Course::to_string),
        session: mix.session,
        think_ns: mix.think_ns,
        duration_ns: mix.lasts.map(|lasts| lasts.duration_ns),
        warm_up_ns: mix.lasts.map_or(0, |lasts| lasts.warm_up_ns),
    }
}

/// Prepares tests one after another, as later ones depend on what earlier ones have put.
pub struct Preparer<'a> {
    suite: &'a Suite,
    arrays: Arrays<'a>,
    /// The values that each store's keys have, where tests have put any.
    values: BTreeMap<String, ArrayFile>,
    orders: BTreeMap<String, Order>,
    /// The stores to which tests have written, in the order of the first writes.
    written: Vec<Store>,
}

impl<'a> Preparer<'a> {
    /// Begins with empty stores.
    pub fn new(suite: &'a Suite, arrays: Arrays<'a>) -> Preparer<'a> {
        Preparer { suite, arrays, values: BTreeMap::new(), orders: BTreeMap::new(), written: Vec::new() }
    }

    /// The input of a test, with its files written; None for models without arrays.
    pub fn prepare(&mut self, test: &Test) -> Result<Option<PreparedWork>> {
        if test.model == Model::Reopen {
            let amount = AmountRecord::new(1, 0, "operations");
            // The check's rows are the answer.
            return Ok(Some(PreparedWork::new(Work::Reopen {}, Rows::new(), amount)));
        }
        if test.model == Model::Mix {
            return self.mix(test).map(Some).with_context(|| format!("test {}", test.id));
        }
        if test.model == Model::KvSettle {
            return self.settle().map(Some).with_context(|| format!("test {}", test.id));
        }
        let Some(name) = test.data.as_deref() else { return Ok(None) };
        let prepared = match self.suite.data[name].shape {
            Shape::Rows { columns, bytes } => self.rows(test, name, columns * bytes),
            Shape::File { .. } => self.file(test, name),
            Shape::Pairs { key, key_bytes, value_bytes } => {
                let store = Store { name: name.to_owned(), key };
                self.pairs(test, store, key_bytes, value_bytes)
            }
        };
        prepared.map(Some).with_context(|| format!("test {}", test.id))
    }

    fn rows(&mut self, test: &Test, name: &str, width: u64) -> Result<PreparedWork> {
        let table = test.table.clone().unwrap_or_default();
        let rows = self.arrays.rows(name)?;
        let amount = AmountRecord::new(rows.count, rows.count * width, "rows");
        if test.model == Model::Scan {
            let position =
                |wanted: &String| rows.columns.iter().position(|column| column.name == *wanted).unwrap_or(0);
            let differ = test.differ.as_ref().map_or([0, 0], |[a, b]| [position(a), position(b)]);
            let answer = truth::scan(&rows, differ)?;
            let work = Work::Scan { table, columns: rows.columns, differ, sql: String::new() };
            return Ok(PreparedWork::new(work, answer, amount));
        }
        let answer = truth::table(&rows)?;
        let load = LoadWork { table, rows, commits: Commits::default() };
        let work = match test.model {
            Model::InsertRows => Work::InsertRows(load),
            Model::BulkLoad => Work::BulkLoad(load),
            other => bail!("the model {} takes no rows", other.name()),
        };
        Ok(PreparedWork::new(work, answer, amount))
    }

    fn mix(&mut self, test: &Test) -> Result<PreparedWork> {
        let (work, mix, due) = self.arrays.steps(test)?;
        // A mix that lasts a time is judged by the time of one operation.
        let count = mix.count.map_or(1, |each| each * u64::from(mix.clients));
        let is_transaction = |class: &Class| class.transaction.is_some();
        let are_transactions = !test.is_for_stores() && test.classes.iter().all(is_transaction);
        let unit = if are_transactions { "transactions" } else { "operations" };
        let amount = AmountRecord::new(count, 0, unit);
        // The check's rows are the answer: invariants that hold whatever was drawn.
        let answer = test.expect.clone().unwrap_or_default();
        let arrivals = mean_rate(&mix)
            .zip(mix.lasts)
            .map(|(rate, lasts)| (rate * lasts.duration_ns as f64 / 1e9) as u64);
        let (load, clients) = (load(&mix), Some(numbers(&mix)));
        Ok(PreparedWork {
            arrivals,
            due,
            load,
            clients,
            ..PreparedWork::new(Work::Mix(work), answer, amount)
        })
    }

    fn file(&mut self, test: &Test, name: &str) -> Result<PreparedWork> {
        let work = self.arrays.records(name, test.table.clone().unwrap_or_default())?;
        let amount = AmountRecord::new(work.records, work.bytes, "rows");
        let answer = truth::imported(&work)?;
        Ok(PreparedWork::new(Work::ImportFile(work), answer, amount))
    }
}
