//! Where rows go: what an import needs of a database.

use std::path::PathBuf;

use anyhow::{Result, bail};
use sqlite_pages::Pages;

use crate::explain::{Program, literal};
use crate::fill::Filled;
use crate::pipeline::{Rows, Watch};
use crate::safety::Reached;
use crate::table::{Column, Table};

/// How the table comes to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// It is made.
    Create,
    /// It is there, and the rows come to it.
    Append,
    /// It is there, and made anew.
    Replace,
}

/// Where rows go.
pub trait Target {
    /// The columns of a table that is there; none if it is not.
    fn existing(&mut self, table: &str) -> Result<Option<Vec<Column>>>;
    /// A column of a type that the user names.
    fn column(&self, name: &str, declared: &str) -> Result<Column>;
    /// Spells the types that were inferred.
    fn declare(&self, table: &mut Table);
    /// Whether the table can be made as it is planned, asked before a row is read.
    ///
    /// # Errors
    /// Something in the database is in its way.
    fn check(&self, _table: &Table, _existing: Existing) -> Result<()> {
        Ok(())
    }
    /// What is lost when the table is replaced, in sentences.
    ///
    /// # Errors
    /// The database cannot be asked.
    fn losses(&mut self, _table: &str) -> Result<Vec<String>> {
        Ok(Vec::new())
    }
    /// What the user should know of the load that is done, in sentences.
    fn notes(&mut self) -> Vec<String> {
        Vec::new()
    }
    /// How many rows the table had more after a load that merged rows by a key. None where the database was not asked:
    /// others may change the table meanwhile.
    fn added(&self) -> Option<u64> {
        None
    }
    /// Removes what imports left that were killed; what it was, in sentences.
    ///
    /// # Errors
    /// The database cannot be asked, or killed imports leave nothing in it.
    fn clean(&mut self) -> Result<Vec<String>> {
        bail!("an import into SQLite that is killed leaves nothing that --clean-up could remove")
    }
    /// Whether it wants numbers as numbers, or as the text that they have.
    fn is_typed(&self) -> bool;
    /// The statements that will be executed, in order.
    fn statements(&self, table: &Table, existing: Existing) -> Vec<String>;
    /// Why it is done so, in sentences.
    fn reasons(&self, table: &Table, existing: Existing) -> Vec<String>;
    /// Programs that do the same without dyno, as templates.
    fn programs(&self) -> &'static [Program] {
        &[]
    }
    /// How the database's SQL writes a text.
    fn literal(&self) -> fn(&str) -> String {
        literal
    }
    /// What those templates need to know besides what every import has.
    fn context(&self, _table: &Table, _existing: Existing) -> minijinja::Value {
        minijinja::context! {}
    }
    /// Whether a table's rows are written by [`Target::build`]: then no statement takes each of them.
    fn builds(&self, _table: &Table, _existing: Existing) -> bool {
        false
    }
    /// Has [`Target::builds`] say no from now on: the rows cannot be read once more, or their keys are violated.
    fn never_build(&mut self) {}
    /// The column whose numbers are the rows' own in a table that is built.
    fn row_number(&self, _table: &Table) -> Option<usize> {
        None
    }
    /// Where temporary files of [`Target::build`] may be.
    fn folder(&self) -> PathBuf {
        PathBuf::from(".")
    }
    /// Makes a database of the table whose pages `fill` writes, or moves the rows from there to the table that is there.
    ///
    /// # Errors
    /// Nothing was loaded.
    fn build(
        &mut self,
        _table: &Table,
        _watch: &dyn Watch,
        _fill: &dyn Fn(&Pages) -> Result<Filled>,
    ) -> Result<Reached> {
        bail!("this database's pages are not written by dyno")
    }
    /// Loads the rows. Before it commits it asks `check` whether the rows ended because the file did.
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
