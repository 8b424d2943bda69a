//! Prepared work in the form that one contender's engine needs: the statements of its dialect, and its form of the
//! table.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use dyno_protocol::{self as protocol, ImportWork, KeyKind, MixWork, Store, Work};
use dyno_suite::{Index, Rendered, TableForm};

use super::PreparedWork;
use crate::mix;

/// The work of a test in one dialect, with tables of a form.
pub fn in_dialect(
    test: Rendered,
    prepared: Option<&PreparedWork>,
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
            Work::Mix(MixWork { classes, store, invariants: test.counts, queries: test.queries, ..work })
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
        bail!("a statement of test {} holds a NUL byte: {}", test.id, bad.replace('\0', "\\0"));
    }
    write().with_context(|| format!("cannot write the input {}", file.display()))?;
    Ok((file, test.statements.len() as u64))
}
