//! From a test of the suite to its work: the model with its input files, and the right answer where the
//! input tells it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use dyno_protocol::{
    self as protocol, Cells, Commits, ImportWork, KeyKind, LoadWork, MixWork, Pairs, Reads, Store, Work,
};
use dyno_record::{Clients, Load};
use dyno_suite::{Class, Index, Mix, Model, Rendered, Shape, Suite, TableForm, Test, Transaction};

use super::arrays::{Arrays, Part};
use super::mix;
use super::truth::{self, Order, Rows};

/// The input of a test that works on arrays, the same for every dialect.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// The work; of a scan, its query is still to be filled in.
    pub work: Work,
    /// The right answer.
    pub answer: Rows,
    /// How much is done, for rates.
    pub amount: Amount,
    /// How many operations arrive by themselves while they are measured.
    pub arrivals: Option<u64>,
    /// How its operations arrive, in a mix that lasts a time.
    pub load: Option<Load>,
    /// How much is asked for, in a mix.
    pub clients: Option<Clients>,
}

impl Prepared {
    /// Work that is there from the beginning.
    fn new(work: Work, answer: Rows, amount: Amount) -> Prepared {
        Prepared { work, answer, amount, arrivals: None, load: None, clients: None }
    }
}

/// How the operations of a mix arrive; none of one that is a number of operations to be done.
pub fn load(mix: &Mix) -> Option<Load> {
    mix.lasts.map(|_| match (mix.session, mix.rate) {
        (Some(_), _) => Load::Sessions,
        (None, Some(_)) => Load::Open,
        (None, None) => Load::Closed,
    })
}

/// How much is asked of a mix.
fn numbers(mix: &Mix) -> Clients {
    Clients {
        clients: mix.clients,
        rate: mix.rate,
        session: mix.session,
        think_ns: mix.think_ns,
        duration_ns: mix.lasts.map(|lasts| lasts.duration_ns),
        warm_up_ns: mix.lasts.map_or(0, |lasts| lasts.warm_up_ns),
    }
}

/// How much a test does, however its operations are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Amount {
    /// Rows or operations.
    pub count: u64,
    /// The bytes of cells that are written or read; none where that says nothing.
    pub bytes: u64,
    /// What is counted: `rows`, `operations`, `transactions`.
    pub unit: &'static str,
}

/// Prepares tests one after another, as later ones depend on what earlier ones have put.
pub struct Preparer<'a> {
    suite: &'a Suite,
    arrays: Arrays<'a>,
    /// The values that each store's keys have, where tests have put any.
    values: BTreeMap<String, Part>,
    orders: BTreeMap<String, Order>,
    /// The stores to which tests have written, in the order of the first writes.
    written: Vec<Store>,
}

impl<'a> Preparer<'a> {
    /// Begins with empty stores.
    pub fn new(suite: &'a Suite, arrays: Arrays<'a>) -> Preparer<'a> {
        Preparer { suite, arrays, values: BTreeMap::new(), orders: BTreeMap::new(), written: Vec::new() }
    }

    /// The input of a test, its files written; none for models without arrays.
    pub fn prepare(&mut self, test: &Test) -> Result<Option<Prepared>> {
        if test.model == Model::Reopen {
            let amount = Amount { count: 1, bytes: 0, unit: "operations" };
            // The check's rows are the answer.
            return Ok(Some(Prepared::new(Work::Reopen {}, Rows::new(), amount)));
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

    fn rows(&mut self, test: &Test, name: &str, width: u64) -> Result<Prepared> {
        let table = test.table.clone().unwrap_or_default();
        let rows = self.arrays.rows(name)?;
        let amount = Amount { count: rows.count, bytes: rows.count * width, unit: "rows" };
        if test.model == Model::Scan {
            let position =
                |wanted: &String| rows.columns.iter().position(|column| column.name == *wanted).unwrap_or(0);
            let differ = test.differ.as_ref().map_or([0, 0], |[a, b]| [position(a), position(b)]);
            let answer = truth::scan(&rows, differ)?;
            let work = Work::Scan { table, columns: rows.columns, differ, sql: String::new() };
            return Ok(Prepared::new(work, answer, amount));
        }
        let answer = truth::table(&rows)?;
        let load = LoadWork { table, rows, commits: Commits::default() };
        let work = match test.model {
            Model::InsertRows => Work::InsertRows(load),
            Model::BulkLoad => Work::BulkLoad(load),
            other => bail!("the model {} takes no rows", other.name()),
        };
        Ok(Prepared::new(work, answer, amount))
    }

    fn mix(&mut self, test: &Test) -> Result<Prepared> {
        let (work, mix) = self.arrays.steps(test)?;
        // What is judged of a mix that lasts a time is what one operation takes of it.
        let count = mix.count.map_or(1, |each| each * u64::from(mix.clients));
        let is_transaction = |class: &Class| class.transaction.is_some();
        let are_transactions = !test.is_for_stores() && test.classes.iter().all(is_transaction);
        let unit = if are_transactions { "transactions" } else { "operations" };
        let amount = Amount { count, bytes: 0, unit };
        // The check's rows are the answer: invariants that hold whatever was drawn.
        let answer = test.expect.clone().unwrap_or_default();
        let arrivals =
            mix.rate.zip(mix.lasts).map(|(rate, lasts)| (rate * lasts.duration_ns as f64 / 1e9) as u64);
        let (load, clients) = (load(&mix), Some(numbers(&mix)));
        Ok(Prepared { arrivals, load, clients, ..Prepared::new(Work::Mix(work), answer, amount) })
    }

    fn file(&mut self, test: &Test, name: &str) -> Result<Prepared> {
        let work = self.arrays.records(name, test.table.clone().unwrap_or_default())?;
        let amount = Amount { count: work.records, bytes: work.bytes, unit: "rows" };
        let answer = truth::imported(&work)?;
        Ok(Prepared::new(Work::ImportFile(work), answer, amount))
    }

    fn pairs(&mut self, test: &Test, store: Store, key_bytes: u64, value_bytes: u64) -> Result<Prepared> {
        let name = store.name.clone();
        let count = self.arrays.count(&name)?;
        let amount = |count, width| Amount { count, bytes: count * width, unit: "operations" };
        let both = key_bytes + value_bytes;
        let commits = Commits::default();
        let reads = if test.transaction == Transaction::One { Reads::One } else { Reads::Each };
        let keys = self.arrays.cells(&name, Part::Keys)?;
        if matches!(test.model, Model::KvPut | Model::KvDelete) && !self.written.contains(&store) {
            self.written.push(store.clone());
        }
        let prepared = match test.model {
            Model::KvPut => {
                let part = if test.overwrite { Part::NewValues } else { Part::Values };
                self.values.insert(name.clone(), part);
                let values = self.arrays.cells(&name, part)?;
                let answer = truth::store(&keys, &values)?;
                let pairs = Pairs { keys, values: Some(values) };
                let work = Work::KvPut { store, pairs, overwrite: test.overwrite, commits };
                Prepared::new(work, answer, amount(count, both))
            }
            Model::KvGet if test.absent => {
                let absent = self.arrays.cells(&name, Part::Absent)?;
                let keys = self.looked_up(test, absent)?;
                let count = keys.count;
                let pairs = Pairs { keys, values: None };
                let work = Work::KvGet { store, pairs, present: false, reads };
                Prepared::new(work, truth::found(0, 0), amount(count, key_bytes))
            }
            Model::KvGet => {
                let part = self.values.get(&name).copied().unwrap_or(Part::Values);
                let values = self.arrays.cells(&name, part)?;
                let (keys, values) = (self.looked_up(test, keys)?, self.looked_up(test, values)?);
                let count = keys.count;
                let pairs = Pairs { keys, values: Some(values) };
                let work = Work::KvGet { store, pairs, present: true, reads };
                Prepared::new(work, truth::found(count, value_bytes), amount(count, both))
            }
            Model::KvScan => {
                let answer = self.order(&name)?.scan();
                Prepared::new(Work::KvScan { store }, answer, amount(count, both))
            }
            Model::KvRange => {
                let length = test.length.unwrap_or(1);
                let starts = self.arrays.cells(&name, Part::Starts(length))?;
                let part = self.values.get(&name).copied().unwrap_or(Part::Values);
                let values = self.arrays.cells(&name, part)?;
                let answer = self.order(&name)?.ranges(starts.count, length, &values)?;
                let amount = amount(starts.count, both * length);
                Prepared::new(Work::KvRange { store, keys: starts, length, reads }, answer, amount)
            }
            Model::KvDelete => {
                self.values.remove(&name);
                let work = Work::KvDelete { store, keys, commits };
                Prepared::new(work, truth::empty(), amount(count, key_bytes))
            }
            other => bail!("the model {} takes no pairs", other.name()),
        };
        Ok(prepared)
    }

    /// What settles all stores that have been written to.
    fn settle(&mut self) -> Result<Prepared> {
        let stores = self.written.clone();
        ensure!(!stores.is_empty(), "nothing has been written that could be settled: put pairs before");
        let mut answer = Rows::new();
        for store in &stores {
            answer.extend(match self.values.get(&store.name).copied() {
                Some(part) => {
                    let keys = self.arrays.cells(&store.name, Part::Keys)?;
                    truth::store(&keys, &self.arrays.cells(&store.name, part)?)?
                }
                None => truth::empty(),
            });
        }
        let amount = Amount { count: 1, bytes: 0, unit: "operations" };
        Ok(Prepared::new(Work::KvSettle { stores }, answer, amount))
    }

    /// Those of the cells that the test looks up, or whose keys it does.
    fn looked_up(&mut self, test: &Test, all: Cells) -> Result<Cells> {
        match &test.lookups {
            Some(count) => {
                self.arrays.counted(count.get_ref()).and_then(|count| self.arrays.spread(all, count))
            }
            None => Ok(all),
        }
    }

    /// The order of a store's keys, sorted once.
    fn order(&mut self, name: &str) -> Result<&Order> {
        if !self.orders.contains_key(name) {
            let order = Order::new(&self.arrays.cells(name, Part::Keys)?)?;
            self.orders.insert(name.to_owned(), order);
        }
        Ok(&self.orders[name])
    }
}

/// The work of a test in one dialect, with tables of a form.
pub fn in_dialect(
    test: Rendered,
    prepared: Option<&Prepared>,
    form: TableForm,
    folder: &Path,
) -> Result<protocol::Test> {
    let work = match prepared.map(|prepared| prepared.work.clone()) {
        None => {
            let (file, count) = write_statements(&test, folder)?;
            Work::Statements { file, count }
        }
        Some(Work::Scan { table, columns, differ, .. }) => {
            let sql = test.statements.into_iter().next().unwrap_or_default();
            Work::Scan { table, columns, differ, sql }
        }
        Some(Work::ImportFile(work)) => {
            let (before, after) = match form.index {
                Index::None => (Vec::new(), Vec::new()),
                Index::First => (test.index, Vec::new()),
                Index::Last => (Vec::new(), test.index),
            };
            Work::ImportFile(ImportWork { before, after, ..work })
        }
        Some(Work::Mix(work)) => {
            let classes = test.classes.into_iter().map(|class| mix::class(class, &work));
            let classes = classes.collect::<Result<_>>().with_context(|| format!("test {}", test.id))?;
            let store = test.store.map(|name| Store { name, key: KeyKind::Integer });
            Work::Mix(MixWork { classes, store, invariants: test.counts, ..work })
        }
        Some(work) => work,
    };
    Ok(protocol::Test { id: test.id, setup: test.setup, work, check: test.check })
}

fn write_statements(test: &Rendered, folder: &Path) -> Result<(PathBuf, u64)> {
    let file = folder.join(format!("{}.statements", test.id));
    let write = || -> std::io::Result<()> {
        let mut output = BufWriter::new(File::create(&file)?);
        for statement in &test.statements {
            output.write_all(statement.as_bytes())?;
            output.write_all(b"\0")?;
        }
        output.into_inner()?.sync_all()
    };
    if let Some(bad) = test.statements.iter().find(|statement| statement.contains('\0')) {
        bail!("a statement of test {} holds a NUL byte: {bad:?}", test.id);
    }
    write().with_context(|| format!("cannot write the input {}", file.display()))?;
    Ok((file, test.statements.len() as u64))
}

/// The work as a contender does it: committed as it says, and where each operation is a commit of its
/// own, timed for no more operations than the suite allows.
pub fn committing(mut work: Work, per_commit: Option<u64>, one_by_one: Option<u64>) -> Work {
    let count = operations(&work);
    let timed = one_by_one.filter(|&most| per_commit == Some(1) && most < count);
    match &mut work {
        Work::InsertRows(LoadWork { commits, .. })
        | Work::BulkLoad(LoadWork { commits, .. })
        | Work::ImportFile(ImportWork { commits, .. })
        | Work::KvPut { commits, .. }
        | Work::KvDelete { commits, .. } => *commits = Commits { per_commit, timed },
        _ => {}
    }
    work
}

/// Whether only some of the operations are timed.
pub fn is_cut(work: &Work) -> bool {
    match work {
        Work::InsertRows(LoadWork { commits, .. })
        | Work::BulkLoad(LoadWork { commits, .. })
        | Work::ImportFile(ImportWork { commits, .. })
        | Work::KvPut { commits, .. }
        | Work::KvDelete { commits, .. } => commits.timed.is_some(),
        Work::Mix(mix) => mix.lasts.is_some(),
        _ => false,
    }
}

/// How many operations a test has, timed or not.
pub fn operations(work: &Work) -> u64 {
    match work {
        Work::Statements { count, .. } => *count,
        Work::InsertRows(load) | Work::BulkLoad(load) => load.rows.count,
        Work::ImportFile(work) => work.records,
        Work::Reopen {} | Work::Scan { .. } | Work::KvSettle { .. } => 1,
        Work::Mix(mix) if mix.lasts.is_some() => 1,
        Work::Mix(mix) => mix.steps.iter().map(|steps| steps.count).sum(),
        Work::KvPut { pairs, .. } | Work::KvGet { pairs, .. } => pairs.keys.count,
        Work::KvRange { keys, .. } | Work::KvDelete { keys, .. } => keys.count,
        Work::KvScan { .. } => 0,
    }
}

/// A few lines that say what a test on arrays does, where it has no statements to show.
pub fn in_words(prepared: &Prepared, test: &Test) -> Vec<String> {
    let count = prepared.amount.count;
    let keys = |store: &Store| match store.key {
        KeyKind::Integer => "integer keys",
        KeyKind::Blob => "blob keys",
    };
    let line = match &prepared.work {
        Work::InsertRows(load) => format!("insert {count} rows of {} into {}", shape(load), load.table),
        Work::BulkLoad(load) => format!("load {count} rows of {} into {}", shape(load), load.table),
        Work::ImportFile(work) => {
            format!(
                "read {count} records of {} fields and insert them into {}",
                work.columns.len(),
                work.table
            )
        }
        Work::KvPut { store, overwrite: false, .. } => format!("put {count} pairs with {}", keys(store)),
        Work::KvPut { store, .. } => format!("put {count} new values for {} that are there", keys(store)),
        Work::KvGet { store, present: true, .. } => format!("get {count} {} that are there", keys(store)),
        Work::KvGet { store, .. } => format!("get {count} {} that are not there", keys(store)),
        Work::KvScan { store } => format!("visit {count} pairs in the order of their {}", keys(store)),
        Work::KvRange { store, length, .. } => {
            format!("visit {length} pairs from each of {count} {}", keys(store))
        }
        Work::KvDelete { store, .. } => format!("delete {count} {}", keys(store)),
        Work::KvSettle { .. } => {
            "do what writes have put off, and wait until all is on the device".to_owned()
        }
        Work::Statements { .. } | Work::Reopen {} | Work::Scan { .. } | Work::Mix(_) => test.shows.clone(),
    };
    vec![line]
}

fn shape(load: &LoadWork) -> String {
    let columns = &load.rows.columns;
    format!("{} columns of {} bytes", columns.len(), columns.first().map_or(0, |column| column.bytes))
}
