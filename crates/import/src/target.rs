//! The interface between an import and a database: statements take the rows, or dyno writes their pages.

use std::path::PathBuf;

use anyhow::{Result, bail, ensure};
use sqlite_pages::Pages;

use crate::fill::Filled;
use crate::pipeline::{ImportObserver, Rows};
use crate::safety::Reached;
use crate::table::{Column, Table};

/// A program for people: the language's name and the template.
pub type Program = (&'static str, &'static str);

/// The table's state before, and the action it requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// It is made.
    Create,
    /// It exists, and the rows are added to it.
    Append,
    /// It exists, and is made again.
    Replace,
}

/// The target of the rows.
pub trait Target {
    /// The columns of an existing table; None if it does not exist.
    fn existing(&mut self, table: &str) -> Result<Option<Vec<Column>>>;
    /// A column of a type that the user names.
    fn column(&self, name: &str, declared: &str) -> Result<Column>;
    /// Spells the types that were inferred.
    fn declare(&self, table: &mut Table);
    /// The most columns that a table has.
    fn most_columns(&self) -> usize;
    /// Checks that the table can be made as it is planned, before a row is read.
    ///
    /// # Errors
    /// Something in the database prevents it.
    fn check(&self, _table: &Table, _existing: Existing) -> Result<()> {
        Ok(())
    }
    /// The losses when the table is replaced, in sentences.
    ///
    /// # Errors
    /// The database cannot be asked.
    fn losses(&mut self, _table: &Table) -> Result<Vec<String>> {
        Ok(Vec::new())
    }
    /// Notes for the user on the load that is done, in sentences.
    fn notes(&mut self) -> Vec<String> {
        Vec::new()
    }
    /// The number of rows that the table gained by a load that merged rows by a key. None if the database was not
    /// asked: other programs may change the table meanwhile.
    fn added(&self) -> Option<u64> {
        None
    }
    /// Removes what imports left that were killed. In sentences: what it was, and what could not be removed.
    ///
    /// # Errors
    /// The database cannot be asked, or killed imports leave nothing in it.
    fn clean(&mut self) -> Result<(Vec<String>, Vec<String>)> {
        bail!("an import into SQLite that is killed leaves nothing that --clean-up could remove")
    }
    /// True if it wants numbers as numbers, and not as their text.
    fn is_typed(&self) -> bool;
    /// The statements that will be executed, in order.
    fn statements(&self, table: &Table, existing: Existing) -> Vec<String>;
    /// The reasons for these statements, in sentences.
    fn reasons(&self, table: &Table, existing: Existing) -> Vec<String>;
    /// Programs that do the same without dyno, as templates; none if its name is not UTF-8, as programs are.
    fn programs(&self) -> &'static [Program] {
        &[]
    }
    /// A text as a literal of the database's SQL.
    fn literal(&self) -> fn(&str) -> String {
        literal
    }
    /// The values that those templates need in addition to those of every import.
    fn context(&self, _table: &Table, _existing: Existing) -> minijinja::Value {
        minijinja::context! {}
    }
    /// The writer of a table's pages: then no statement takes each row. None if statements do.
    fn pages(&mut self, _table: &Table, _existing: Existing) -> Option<&mut dyn PageTarget> {
        None
    }
    /// Gives files that it makes no more than these rights, those of the files that are loaded. Returns the rights of a file
    /// with rows of the import.
    fn restrict(&mut self, rights: u32) -> u32 {
        rights
    }
    /// Has [`Target::pages`] return None from now on: the rows cannot be read once more, or their keys are violated.
    fn never_build(&mut self) {}
    /// Loads the rows. Before it commits it asks `check` whether the rows ended because the file did, and calls
    /// [`Rows::seal`].
    ///
    /// # Errors
    /// Nothing was loaded.
    fn load(
        &mut self,
        table: &Table,
        existing: Existing,
        rows: &mut Rows,
        check: &dyn Fn() -> Result<()>,
    ) -> Result<Reached>;
}

/// A database whose pages dyno writes.
pub trait PageTarget {
    /// The column whose numbers are the rows' own.
    fn row_number(&self, table: &Table) -> Option<usize>;
    /// The folder for temporary files.
    fn folder(&self) -> PathBuf;
    /// Makes a database of the table whose pages `fill` writes, or moves the rows from there to the existing table.
    /// Right before it commits it calls `seal`, which makes the rejected rows durable.
    ///
    /// # Errors
    /// Nothing was loaded.
    fn build(
        &mut self,
        table: &Table,
        watch: &dyn ImportObserver,
        fill: &dyn Fn(&Pages) -> Result<Filled>,
        seal: &dyn Fn() -> Result<()>,
    ) -> Result<Reached>;
}

/// Refuses a table that is not as it was when the import was planned: its columns may now mean other values.
///
/// # Errors
/// It is not the same.
pub fn check_same(table: &str, is_same: bool) -> Result<()> {
    ensure!(
        is_same,
        "another program made, changed or dropped the table {table} while the file was read, so nothing was loaded: \
         begin the import again"
    );
    Ok(())
}

/// The losses with a table that is replaced, as a sentence.
pub fn said_losses(what: &[String]) -> Vec<String> {
    match what {
        [] => Vec::new(),
        what => vec![format!(
            "--replace drops with the old table: {}. Make them again where they are wanted.",
            what.join(", ")
        )],
    }
}

/// A text as the SQL standard writes it.
pub fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
