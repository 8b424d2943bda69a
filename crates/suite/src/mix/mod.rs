//! Mixes: classes of operations that many clients do, and where the values of their parameters come from.

mod class;
mod course;
mod distribution;
mod evaluate;
mod number;
mod pieces;
mod rendered;
mod source;
mod spelling;
pub(crate) mod store;
mod values;
mod words;
mod written;

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail, ensure};
use dyno_nearest as nearest;
use dyno_protocol::{Purpose, QueryProtocol, TimeWindow};
use serde::Deserialize;
use toml::Spanned;

use super::names::{ID, is_id, is_name};
use super::{Model, Renderer, Suite, Test};

pub use course::Course;
pub use distribution::{ValueDistribution, ZIPF};
pub use number::Number;
pub use rendered::{Parameter, RenderedClass, RenderedStatement, Repeat, Repeated, Rows};
pub use source::{DrawCondition, Items, Range, Source};
pub use values::{List, Values};
pub(crate) use words::read_files;
pub use written::Written;

/// A class of operations as written. `statements` is a template; `class` has what they may say.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Class {
    /// Its name, by which results are shown.
    pub name: Spanned<String>,
    /// Its frequency relative to the weights of the others; absent: 1.
    pub weight: Option<Number>,
    /// The number of clients that do only this class; absent: it is for the clients that no class has to itself.
    pub clients: Option<Number>,
    /// The purpose for which its statements are one transaction; absent: each is a separate transaction.
    pub transaction: Option<Purpose>,
    /// Its statements.
    pub statements: Spanned<String>,
    /// The value, a number, that decides whether its transaction is rolled back at its end, as planned: if it is not 0.
    pub rollback: Option<String>,
    /// The codes of errors with which its operations may end, as a suite plans it.
    #[serde(default)]
    pub ignore: Vec<String>,
    /// The way in which its statements reach the database; absent: prepared.
    #[serde(default)]
    pub protocol: QueryProtocol,
    /// The time for which one of its operations may wait for locks and be tried again, in seconds; absent: the test's.
    pub patience: Option<Number>,
}

/// The numbers of a mix with the parameters of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Mix {
    /// The number of clients.
    pub clients: u32,
    /// Its duration; None: each client does `count` operations.
    pub lasts: Option<TimeWindow>,
    /// The number of operations of each client.
    pub count: Option<u64>,
    /// The number of operations that arrive per second, for all clients together; None: each as soon as its client is
    /// free.
    pub rate: Option<Course>,
    /// The mean time that a client waits before each operation, in nanoseconds; None: it does not wait.
    pub think_ns: Option<u64>,
    /// The time for which an operation may be tried again, in nanoseconds.
    pub patience_ns: u64,
    /// The number of operations of a session, if clients connect, do these and leave; None: they stay.
    pub session: Option<u32>,
    /// The classes, in the order of the suite.
    pub classes: Vec<Drawn>,
    /// The parameters by name, with where their values come from.
    pub values: Vec<(String, Source)>,
    /// The lists by name.
    pub lists: Vec<(String, Items)>,
}

/// The frequency of a class's operations and the clients that do them.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawn {
    /// The class's name.
    pub name: String,
    /// Its weight relative to those of the classes that the same clients do.
    pub weight: Course,
    /// The number of clients that do only this class; None: it is for the clients that no class has to itself.
    pub clients: Option<u32>,
    /// The time for which one of its operations may be tried again, in nanoseconds; None: that of the mix.
    pub patience_ns: Option<u64>,
}

impl Mix {
    /// The class, by position, that a client (from 0) does and nothing else, if there is one. Such classes take the
    /// first clients, in their order.
    pub fn only_class(&self, client: u64) -> Option<usize> {
        let mut end = 0;
        self.classes.iter().position(|class| {
            let first = end;
            end += class.clients.map_or(0, u64::from);
            (first..end).contains(&client)
        })
    }
}

impl Suite {
    /// The frequency of a mix's classes and the clients that do them.
    fn drawn(&self, test: &Test, renderer: &Renderer) -> Result<Vec<Drawn>> {
        let drawn = test.classes.iter().map(|class| {
            let name = class.name.get_ref();
            let line = self.line_of(class.name.span().start);
            let at = |key: &str| format!("{}:{line}: class {name}: `{key}`", self.path.display());
            let weight = class.weight.as_ref().map_or_else(
                || Ok(Course::steady(1.0)),
                |weight| weight.course(renderer).with_context(|| at("weight")),
            )?;
            let clients = class.clients.as_ref().map(|clients| clients.whole(renderer)).transpose();
            let clients = clients.with_context(|| at("clients"))?;
            ensure!(
                clients.is_none_or(|clients| (1..=10_000).contains(&clients)),
                "{} is from 1 to 10000",
                at("clients")
            );
            ensure!(weight.bounds().0 >= 0.0, "{}: a weight is 0 or more", at("weight"));
            let patience = class.patience.as_ref().map(|patience| patience.value(renderer)).transpose();
            let patience = patience.with_context(|| at("patience"))?;
            ensure!(
                patience.is_none_or(|seconds| seconds > 0.0 && seconds <= 86_400.0),
                "{} is more than 0 seconds, and 86400 at most",
                at("patience")
            );
            Ok(Drawn {
                name: name.clone(),
                weight,
                clients: clients.map(|clients| clients as u32),
                patience_ns: patience.map(|seconds| (seconds * 1e9) as u64),
            })
        });
        drawn.collect()
    }

    /// Refuses classes that cannot be drawn, and values that come from nowhere.
    pub(super) fn check_mix(&self, test: &Test) -> Result<()> {
        let mut seen = BTreeSet::new();
        for class in &test.classes {
            let line = self.line_of(class.name.span().start);
            let place = || format!("{}:{line}: class {}", self.path.display(), class.name.get_ref());
            ensure!(is_id(class.name.get_ref()), "{}: its name is not {ID}", place());
            ensure!(seen.insert(class.name.get_ref()), "{}: there are two of them", place());
            let is_code = |code: &&String| {
                code.chars().all(|letter| letter.is_ascii_alphanumeric()) && !code.is_empty()
            };
            let bad = class.ignore.iter().find(|code| !is_code(code));
            ensure!(
                bad.is_none(),
                "{}: `ignore` has codes of errors, as \"23505\", and not \"{}\"",
                place(),
                bad.map_or("", String::as_str)
            );
            let at_stores = !class.ignore.is_empty() && test.is_for_stores();
            ensure!(!at_stores, "{}: stores of keys and values have no codes to `ignore`", place());
            let is_prepared = class.protocol == QueryProtocol::Prepared;
            ensure!(
                is_prepared || !test.is_for_stores(),
                "{}: stores of keys and values have no `protocol`",
                place()
            );
        }
        let line = self.line_of(test.title.span().start);
        let place = || format!("{}:{line}: test {}", self.path.display(), test.id);
        if let Some(reported) = &test.a_minute {
            let is_there = test.classes.iter().any(|class| *class.name.get_ref() == reported.class);
            ensure!(is_there, "{}: `a_minute`: there is no class {}", place(), reported.class);
        }
        for class in test.invariants.iter().filter_map(|invariant| invariant.acknowledged.as_deref()) {
            let known: Vec<&str> = test.classes.iter().map(|class| class.name.get_ref().as_str()).collect();
            let lacks = "`acknowledged` of an invariant: there is no class";
            ensure!(
                known.contains(&class),
                "{}: {}",
                place(),
                nearest::unknown(lacks, class, "there are", known)
            );
        }
        ensure!(
            test.classes.is_empty() || test.check.is_some() == test.invariants.is_empty(),
            "{}: a mix has a `check` or [[test.invariant]]s",
            place()
        );
        ensure!(
            test.model != Model::Mix || !test.is_for_stores() || !test.invariants.is_empty(),
            "{}: a mix with lines for @kv has [[test.invariant]]s: stores answer no `check`",
            place()
        );
        let columns = test.lists.values().flat_map(List::columns);
        for name in test.values.keys().chain(test.lists.keys()).map(String::as_str).chain(columns) {
            ensure!(is_name(name), "{}: '{name}' is no name of a value", place());
        }
        Ok(())
    }
}

/// Refuses classes that can never be drawn, or for which no client is left.
fn check_drawn(classes: &[Drawn], clients: u32, arrives: bool) -> Result<()> {
    let changes = classes.iter().find(|class| class.weight.value().is_none());
    if let Some(class) = changes.filter(|_| !arrives) {
        bail!(
            "the weight of {} changes over time, which needs a `rate`: only operations that arrive have a moment",
            class.name
        );
    }
    let own: u32 = classes.iter().filter_map(|class| class.clients).sum();
    let mut shared = classes.iter().filter(|class| class.clients.is_none()).peekable();
    if let Some(class) = classes.iter().find(|class| class.clients.is_some()) {
        ensure!(
            !arrives,
            "`clients` of {} does not go with a `rate`: what arrives is taken by whichever client is free",
            class.name
        );
        if let Some(other) = shared.peek() {
            ensure!(
                own < clients,
                "{own} of {clients} clients do one class each, and none is left for {}: take --clients {} or more",
                other.name,
                own + 1
            );
        } else {
            ensure!(
                own == clients,
                "{clients} clients are asked for, and the classes have {own}: a class without `clients` is for those that are left"
            );
        }
    }
    let is_drawn = |class: &Drawn| class.weight.bounds().1 > 0.0;
    let own_are = classes.iter().filter(|class| class.clients.is_some()).all(is_drawn);
    let none_shared = shared.peek().is_none();
    ensure!(own_are && (none_shared || shared.any(is_drawn)), "the weights of all classes are 0");
    Ok(())
}
