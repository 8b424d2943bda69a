//! Reads the statements of a class: the rows they keep, the statements that are repeated, and the sources of their
//! parameters' values.
//!
//! `name(column, …) = STATEMENT` keeps the rows of a statement; with `name?` it may return none. `for each LIST:` and
//! `end` enclose statements that are repeated. Within a statement `:name` is a value, `:list.column` and `:name.column`
//! are a column of the current item or row, and `:list.count` is the number of items.

use anyhow::{Context, Result, anyhow, bail, ensure};
use dyno_nearest as nearest;
use dyno_protocol::{MixRows, Pause, Purpose, StoreDoes};

use super::course::seconds;
use super::rendered::{Parameter, RenderedClass, RenderedStatement, Repeat, Repeated, Rows};
use super::spelling::{Label, joined, label, of_items, row_of};
use super::{Class, pieces::pieces, store};
use crate::names::is_name;
use crate::{NO_SQL, Suite, Test};

/// A statement's rows that are kept, by name.
struct Named {
    name: String,
    columns: Vec<String>,
    statement: usize,
}

/// A class as it is being read.
struct ClassReader<'a> {
    suite: &'a Suite,
    test: &'a Test,
    class: &'a Class,
    statements: Vec<RenderedStatement>,
    loops: Vec<Repeated>,
    pauses: Vec<Pause>,
    /// The rows that statements may name now.
    named: Vec<Named>,
    /// The loop whose end has not been read: for what, by its name too, and how many rows were named before it.
    open: Option<(String, Repeat, usize, usize)>,
    /// True if its statements are operations on a store.
    is_store: bool,
    store: Option<String>,
}

impl Suite {
    /// Reads the statements of a class in one dialect.
    pub(crate) fn class(
        &self,
        test: &Test,
        class: &Class,
        statements: &[String],
        dialect: &str,
    ) -> Result<RenderedClass> {
        let mut reader = ClassReader {
            suite: self,
            test,
            class,
            statements: Vec::new(),
            loops: Vec::new(),
            pauses: Vec::new(),
            named: Vec::new(),
            open: None,
            is_store: dialect == NO_SQL,
            store: None,
        };
        for statement in statements {
            reader.read(statement)?;
        }
        ensure!(!reader.statements.is_empty(), "{}: a class has a statement", reader.place("pause"));
        if let Some((name, ..)) = &reader.open {
            bail!("{}: `for each {name}:` has no `end`", reader.place("for each"));
        }
        if let Some(rollback) = &class.rollback {
            ensure!(
                test.values.contains_key(rollback) && class.transaction.is_some(),
                "{}: `rollback` takes the name of a number of [test.values], in a class with a `transaction`",
                reader.place("")
            );
        }
        Ok(RenderedClass {
            name: class.name.get_ref().clone(),
            transaction: class.transaction,
            statements: reader.statements,
            loops: reader.loops,
            rollback: class.rollback.clone(),
            pauses: reader.pauses,
            ignores: class.ignore.clone(),
            protocol: class.protocol,
            store: reader.store,
        })
    }
}

impl ClassReader<'_> {
    /// The place of a piece of text in the class's template, as far as it can be found.
    fn place(&self, piece: &str) -> String {
        let template = &self.class.statements;
        let line =
            template.get_ref().lines().position(|line| line.contains(piece)).map_or(1, |line| line + 1);
        let place = self.suite.template_place(self.test, template, line);
        format!("{place}: class {}", self.class.name.get_ref())
    }

    fn read(&mut self, statement: &str) -> Result<()> {
        if let Some(name) = statement.strip_prefix("for each ").and_then(|rest| rest.strip_suffix(':')) {
            return self.begin(name.trim());
        }
        if statement == "end" {
            let Some((_, over, first, named)) = self.open.take() else {
                bail!("{}: `end` ends no `for each`", self.place("end"));
            };
            let count = self.statements.len() - first;
            ensure!(count > 0, "{}: nothing is repeated", self.place("for each"));
            self.loops.push(Repeated { first, count, over });
            self.named.truncate(named);
            return Ok(());
        }
        if let Some(time) = statement.strip_prefix("pause ") {
            return self.pause(time.trim());
        }
        let (label, sql) = label(statement);
        let joins = |error| match joined(statement) {
            Some(line) => anyhow!("{error:#}. Does the line before `{line}` lack a `;` at its end?"),
            None => error,
        };
        let (sql, rows) = match of_items(sql) {
            Some((sql, list)) => {
                let (head, rows) = self.rows(sql, list).map_err(joins)?;
                (head, Some(rows))
            }
            None => (sql, None),
        };
        let (text, names) = pieces(sql);
        let parameters = names.iter().map(|name| self.parameter(name));
        let parameters = parameters.collect::<Result<_>>().map_err(joins)?;
        let keeps = label.map(|label| self.keep(label)).transpose()?;
        let does = if self.is_store { Some(self.operation(&text)?) } else { None };
        self.statements.push(RenderedStatement { text, parameters, keeps, does, rows });
        Ok(())
    }

    /// Notes a pause of the client, which is within the operation.
    fn pause(&mut self, time: &str) -> Result<()> {
        let place = || self.place(&format!("pause {time}"));
        let seconds = seconds(time).with_context(place)?;
        ensure!(
            seconds > 0.0 && seconds <= 3600.0,
            "{}: a pause is longer than 0 s, and an hour at most",
            place()
        );
        ensure!(self.open.is_none(), "{}: a pause cannot be in a `for each`", place());
        self.pauses.push(Pause { before: self.statements.len(), nanoseconds: (seconds * 1e9) as u64 });
        Ok(())
    }

    /// Splits an INSERT whose row is repeated for each item of a list into the text before the row, and the row.
    fn rows<'s>(&mut self, sql: &'s str, list: &str) -> Result<(&'s str, Rows)> {
        let place = self.place(&format!("for each {list}"));
        let Some(known) = self.test.lists.get(list) else {
            let known = self.test.lists.keys().map(String::as_str);
            bail!("{place}: {}", nearest::unknown("[test.lists] has no list", list, "there are", known));
        };
        ensure!(
            known.is_constant(),
            "{place}: the list {list} has a `count` that is drawn, and a prepared INSERT has the same rows each time"
        );
        ensure!(
            self.open.is_none() && !self.is_store,
            "{place}: rows for each item stand in an INSERT, in no loop"
        );
        let found = row_of(sql).with_context(|| {
            format!("{place}: an INSERT for each item has one row, as `INSERT INTO t(a) VALUES (:{list}.a) for each {list};`")
        })?;
        let (text, names) = pieces(&sql[found.clone()]);
        self.open = Some((list.to_owned(), Repeat::List(list.to_owned()), 0, 0));
        let parameters = names.iter().map(|name| self.parameter(name)).collect::<Result<Vec<_>>>();
        self.open = None;
        let tail = sql[found.end..].to_owned();
        ensure!(pieces(&tail).1.is_empty(), "{place}: no parameter may follow the rows");
        Ok((&sql[..found.start], Rows { list: list.to_owned(), text, parameters: parameters?, tail }))
    }

    /// The operation on the class's store that a statement without SQL stands for.
    fn operation(&mut self, text: &[String]) -> Result<StoreDoes> {
        let (does, store) = store::operation(text).with_context(|| self.place(text[0].trim()))?;
        let is_other = self.store.as_ref().is_some_and(|known| *known != store);
        ensure!(!is_other, "{}: all operations of a mix are on one store", self.place(&store));
        let in_read = does == StoreDoes::Put && self.class.transaction == Some(Purpose::Read);
        ensure!(!in_read, "{}: a transaction that reads puts nothing", self.place(&store));
        let in_write = does == StoreDoes::Range && self.class.transaction.is_some();
        ensure!(!in_write, "{}: a RANGE cannot be part of a transaction", self.place(&store));
        self.store = Some(store);
        Ok(does)
    }

    fn begin(&mut self, name: &str) -> Result<()> {
        let place = || self.place(&format!("for each {name}"));
        ensure!(self.open.is_none(), "{}: a loop within a loop is not there", place());
        let rows = self.named.iter().find(|named| named.name == name).map(|named| named.statement);
        let over = match rows {
            Some(statement) => {
                let keeps = self.statements[statement].keeps.as_mut();
                keeps.into_iter().for_each(|keeps| keeps.all = true);
                Repeat::Rows(statement)
            }
            None if self.test.lists.contains_key(name) => Repeat::List(name.to_owned()),
            None => {
                let rows = self.named.iter().map(|named| named.name.as_str());
                let known = self.test.lists.keys().map(String::as_str).chain(rows);
                let lacks = "neither [test.lists] nor the rows of an earlier statement are named";
                bail!("{}: {}", place(), nearest::unknown(lacks, name, "there are", known));
            }
        };
        self.open = Some((name.to_owned(), over, self.statements.len(), self.named.len()));
        Ok(())
    }

    /// Names the rows of the next statement: `name(column, …)` or `name?(column, …)`.
    fn keep(&mut self, label: Label) -> Result<MixRows> {
        let Label { name, may_miss, columns } = label;
        let place = || self.place(name);
        ensure!(
            !columns.is_empty() && columns.iter().all(|column| is_name(column)),
            "{}: the columns of {name} are names: lower-case letters, digits and '_'",
            place()
        );
        let is_taken =
            self.test.lists.contains_key(name) || self.named.iter().any(|named| named.name == name);
        ensure!(!is_taken, "{}: there are two lists or rows of the name {name}", place());
        let shape = MixRows { columns: columns.len(), all: false, may_miss };
        let columns = columns.into_iter().map(str::to_owned).collect();
        self.named.push(Named { name: name.to_owned(), columns, statement: self.statements.len() });
        Ok(shape)
    }

    /// Finds out where the value of a parameter comes from.
    fn parameter(&self, name: &str) -> Result<Parameter> {
        let place = || self.place(&format!(":{name}"));
        let Some((of, column)) = name.split_once('.') else {
            if self.test.values.contains_key(name) {
                return Ok(Parameter::Value(name.to_owned()));
            }
            let known = self.test.values.keys().map(String::as_str);
            let lacks = "no [test.values] has a source for the parameter";
            bail!("{}: {}", place(), nearest::unknown(lacks, name, "there are", known));
        };
        let no_column = |known: &mut dyn Iterator<Item = &str>| {
            let lacks = format!("the parameter :{name} has no source: {of} has no column");
            format!("{}: {}", place(), nearest::unknown(&lacks, column, "it has", known))
        };
        if let Some(rows) = self.named.iter().find(|named| named.name == of) {
            let found = rows.columns.iter().position(|known| known == column);
            let Some(found) = found else { bail!(no_column(&mut rows.columns.iter().map(String::as_str))) };
            return Ok(Parameter::Row(rows.statement, found));
        }
        match (self.test.lists.get(of), &self.open) {
            (Some(_), _) if column == "count" => Ok(Parameter::Count(of.to_owned())),
            (Some(list), Some((open, ..))) if open == of => {
                ensure!(list.columns().any(|known| known == column), no_column(&mut list.columns()));
                Ok(Parameter::Item(of.to_owned(), column.to_owned()))
            }
            (Some(_), _) => {
                bail!(
                    "{}: the parameter :{name} has no source: write the statement between `for each {of}:` and `end`",
                    place()
                )
            }
            (None, _) => {
                let rows = self.named.iter().map(|named| named.name.as_str());
                let known = self.test.lists.keys().map(String::as_str).chain(rows);
                let lacks = format!(
                    "the parameter :{name} has no source: no list and no earlier statement's rows are named"
                );
                bail!("{}: {}", place(), nearest::unknown(&lacks, of, "there are", known))
            }
        }
    }
}

#[cfg(test)]
mod tests;
