//! The two courses that rows take to the database, and the checks that both pass before it commits.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Result;

use super::{Plan, Report};
use crate::pipeline::ImportObserver;
use crate::rejects::Rejects;
use crate::request::{OWNERS, Request};
use crate::source::{Opened, Source, Stamp, check_stamp};
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

    /// Refuses what was opened in the place of the first file if it is not the file for which the import was planned.
    pub(super) fn check_first(&self, opened: Option<&Stamp>) -> Result<()> {
        let planned = self.stamps.first().and_then(Option::as_ref);
        check_stamp(opened, planned, &self.request.source.name())
    }

    /// The rights of what is made of the files: those that all of them give, as far as they are regular files. The owner
    /// can always read and write it. A file that is opened is the one of its stamp, so these are its own rights.
    pub(super) fn rights(&self) -> u32 {
        let of_files = self.stamps.iter().flatten().map(Stamp::rights);
        let of_input = self.request.sources().filter_map(Source::rights_of_input);
        of_files.chain(of_input).fold(0o666, |all, rights| all & rights) | OWNERS
    }
}

/// Refuses files of which one is another than it was.
pub(super) fn check_unchanged(request: &Request, stamps: &[Option<Stamp>]) -> Result<()> {
    request.sources().zip(stamps).try_for_each(|(source, stamp)| check_same(source, stamp.as_ref()))
}

/// Refuses a file that is another than it was.
fn check_same(source: &Source, stamp: Option<&Stamp>) -> Result<()> {
    check_stamp(source.stamp().as_ref(), stamp, &source.name())
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

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
    fn a_file_is_known_by_what_was_opened_and_not_by_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let [path, other] = ["t.csv", "other.csv"].map(|name| folder.path().join(name));
        fs::write(&path, "1\n").unwrap();
        fs::write(&other, "2\n").unwrap();
        let source = Source::new(&path);
        let opened = source.open(None).unwrap();
        check_same(&source, opened.stamp.as_ref()).unwrap();
        fs::rename(&other, &path).unwrap();
        assert!(check_same(&source, opened.stamp.as_ref()).is_err());
        let opened = source.open(None).unwrap();
        let rights = opened.stamp.as_ref().unwrap().rights();
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        assert_eq!(source.stamp().unwrap().rights() & 0o777, 0o600);
        assert_eq!(opened.stamp.unwrap().rights(), rights);
        assert!(check_same(&source, source.open(None).unwrap().stamp.as_ref()).is_ok());
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
