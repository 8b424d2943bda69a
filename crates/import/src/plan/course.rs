//! The two courses that rows take to the database, and the checks that both pass before it commits.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Result, ensure};

use super::{Plan, Report};
use crate::error::Input as _;
use crate::pipeline::ImportObserver;
use crate::rejects::Rejects;
use crate::request::Request;
use crate::source::{Opened, Source, Stamp};
use crate::table::Table;
use crate::target::{Existing, Target};

/// A course is ready to load the rows: [`PageCourse`](super::pages::PageCourse) writes pages, and
/// [`RowCourse`](super::rows::RowCourse) gives the rows to the database.
pub(super) trait Loader {
    /// Loads the rows.
    ///
    /// # Errors
    /// Nothing was loaded.
    fn load(self: Box<Self>, target: &mut dyn Target, attempt: &LoadAttempt) -> Result<Report>;
}

/// One attempt to load the rows, as both courses see it.
pub(super) struct LoadAttempt<'a> {
    pub request: &'a Request,
    /// The files as they were before anything of them was read.
    pub stamps: &'a [Option<Stamp>],
    pub table: &'a Table,
    pub existing: Existing,
    pub rejects: &'a Arc<Mutex<Rejects>>,
    pub watch: &'a dyn ImportObserver,
}

impl LoadAttempt<'_> {
    /// Checks, once this many rows are read, that no file has changed and that not all rows are bad.
    pub fn check(&self, rows: u64) -> Result<()> {
        check_unchanged(self.request, self.stamps)?;
        self.rejects().check_any(rows)
    }

    /// Makes the rejected rows durable.
    pub fn seal(&self) -> Result<()> {
        self.rejects().seal()
    }

    fn rejects(&self) -> MutexGuard<'_, Rejects> {
        self.rejects.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Plan {
    /// The course for what was opened: pages, if the database takes them of such a table.
    pub(super) fn course(
        &mut self,
        opened: Opened,
        rejects: &Arc<Mutex<Rejects>>,
    ) -> Result<Box<dyn Loader>> {
        let pages = self.target.pages(&self.table, self.existing);
        let place = pages.map(|pages| (pages.row_number(&self.table), pages.folder()));
        Ok(match place {
            Some((number, folder)) => Box::new(self.page_course(opened, rejects, number, folder)?),
            None => Box::new(self.row_course(opened, rejects)?),
        })
    }
}

/// Refuses files of which one is another than it was.
pub(super) fn check_unchanged(request: &Request, stamps: &[Option<Stamp>]) -> Result<()> {
    request.sources().zip(stamps).try_for_each(|(source, stamp)| check_same(source, stamp.as_ref()))
}

/// Refuses a file that is another than it was: its rows may be those of neither state.
fn check_same(source: &Source, stamp: Option<&Stamp>) -> Result<()> {
    let is_unchanged = source.stamp().as_ref() == stamp;
    let check = || -> Result<()> {
        ensure!(is_unchanged, "{} changed while it was read; nothing was loaded", source.name());
        Ok(())
    };
    check().input()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::error::BadInput;

    #[test]
    fn a_file_that_changes_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        fs::write(&path, "1\n2\n").unwrap();
        let source = Source::new(&path);
        let stamp = source.stamp();
        check_same(&source, stamp.as_ref()).unwrap();
        let changes: [&dyn Fn(); 3] =
            [&|| fs::write(&path, "1\n").unwrap(), &|| fs::write(&path, "1\n2\n3\n").unwrap(), &|| {
                fs::remove_file(&path).unwrap()
            }];
        for change in changes {
            change();
            let error = check_same(&source, stamp.as_ref()).unwrap_err();
            assert!(error.is::<BadInput>());
            assert!(error.to_string().ends_with("t.csv changed while it was read; nothing was loaded"));
        }
        assert_eq!(Source::Stdin.stamp(), None);
    }

    #[test]
    fn a_file_that_changes_is_refused_also_if_its_time_is_set_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        fs::write(&path, "1\n2\n").unwrap();
        let (source, time) = (Source::new(&path), path.metadata().unwrap().modified().unwrap());
        let stamp = source.stamp();
        fs::write(&path, "3\n4\n").unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        assert_eq!(path.metadata().unwrap().modified().unwrap(), time);
        assert!(check_same(&source, stamp.as_ref()).is_err());
    }
}
