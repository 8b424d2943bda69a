//! `dyno import`: loads a file into a database.

mod patterns;
mod preview;
mod storage;
mod summary;
mod target;
mod types;

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::{Result, bail, ensure};
use dyno_import::{
    BadInput, Choose, IfExists, Interrupted, Locked, OnConflict, OnError, Plan, Request, Source, encoding,
};
use dyno_launch::Interrupts;

use self::summary::{Read, summary};
use self::target::target;
use self::types::types;
use super::outcome::{AsInput, Exit, print};
use crate::cli::{ImportArgs, OnConflictArg, OnErrorArg};
use crate::progress::ImportProgress;
use crate::terminal::say;

/// The least memory that can be asked for, in bytes: with less, sorting would mostly read and write temporary files.
const LEAST_MEMORY: u64 = 1 << 20;

/// Does what the command line says.
pub fn execute(arguments: &ImportArgs) -> Result<Exit> {
    if arguments.clean_up {
        return clean_up(arguments);
    }
    let plan = target(arguments).and_then(|target| Plan::make(request(arguments)?, target));
    let mut plan = plan.map_err(marked)?;
    if arguments.dry_run || arguments.explain {
        plan.see_all().map_err(marked)?;
        return print(&if arguments.dry_run { preview::text(&plan) } else { plan.explain()? });
    }
    // Until here nothing is there to be removed, and an interrupt just ends dyno.
    let interrupts = Interrupts::listen()?;
    let read = Read::of(&plan);
    let progress = ImportProgress::new(
        arguments.quiet,
        plan.request.sources().map(Source::bytes).sum(),
        interrupts.clone(),
    );
    let outcome = plan.load(&progress);
    progress.finish();
    match outcome {
        Ok(mut report) => {
            storage::cap(&mut report.reached, arguments);
            if !arguments.quiet
                && let Err(error) = print(&summary(&report, &read, arguments))
            {
                // The exit code is about the rows, which are loaded.
                let rows = match report.rows {
                    1 => "1 row is".to_owned(),
                    rows => format!("{rows} rows are"),
                };
                say(&format!("dyno: {rows} loaded, but: {error:#}"));
            }
            Ok(if report.rejected > 0 { Exit::Incomplete } else { Exit::Done })
        }
        Err(error) if error.is::<Interrupted>() => {
            say(&format!("dyno: {error:#}"));
            Ok(Exit::Signal(interrupts.signal().unwrap_or(2)))
        }
        Err(error) => Err(marked(error)),
    }
}

/// Removes what killed imports left in a server.
fn clean_up(arguments: &ImportArgs) -> Result<Exit> {
    let mut target = target(arguments).map_err(marked)?;
    let (removed, kept) = target.clean().input()?;
    let said = match (removed.is_empty(), kept.is_empty()) {
        (true, true) => "No import that was killed has left a table.\n".to_owned(),
        (true, false) => String::new(),
        (false, _) => removed.join("\n") + "\n",
    };
    let exit = print(&said)?;
    if !kept.is_empty() {
        return Err(anyhow::anyhow!(kept.join("\n")));
    }
    Ok(exit)
}

/// An error of the input is one of dyno's, too.
fn marked(error: anyhow::Error) -> anyhow::Error {
    // It says all itself, wherever it was met.
    if let Some(locked) = error.downcast_ref::<Locked>() {
        return anyhow::anyhow!("{locked}");
    }
    if error.is::<BadInput>() { super::outcome::InputError(error).into() } else { error }
}

/// Refuses what can be seen to be a slip before anything is read.
fn check(arguments: &ImportArgs, indexes: &[Vec<String>]) -> Result<()> {
    let memory = arguments.memory;
    ensure!(
        memory >= LEAST_MEMORY,
        "--memory {memory} means {memory} bytes, and 1MiB is the least: write --memory 64MiB"
    );
    ensure!(arguments.table.as_deref() != Some(""), "--table names no table: '' is empty");
    let mut names = BTreeSet::new();
    for index in indexes {
        let columns = index.join(",");
        twice(index).map_or(Ok(()), |name| bail!("--index {columns} names the column '{name}' twice"))?;
        ensure!(
            names.insert(index.join("_").to_lowercase()),
            "two --index would have one name, {}: leave {columns} out, or make it after the import",
            index.join("_")
        );
    }
    twice(&arguments.primary_key)
        .map_or(Ok(()), |name| bail!("--primary-key names the column '{name}' twice"))
}

/// The first name that is there twice.
fn twice(names: &[String]) -> Option<&String> {
    let mut seen = BTreeSet::new();
    names.iter().find(|name| !seen.insert(name.to_lowercase()))
}

fn request(arguments: &ImportArgs) -> Result<Request> {
    let words = |text: &String| text.split(',').map(|word| word.trim().to_owned()).collect::<Vec<_>>();
    let indexes: Vec<Vec<String>> = arguments.indexes.iter().map(words).collect();
    check(arguments, &indexes).input()?;
    let files = patterns::expand(&arguments.files).input()?;
    let mut sources = files.iter().map(|file| Source::new(file));
    let source = sources.next().unwrap_or(Source::Stdin);
    let more: Vec<Source> = sources.collect();
    let table = arguments.table.clone().or_else(|| source.stem());
    if !more.is_empty()
        && (arguments.table.is_none() || [&source].into_iter().chain(&more).any(|one| *one == Source::Stdin))
    {
        let said = "several files go into one table: name it by --table, and give no - among them";
        return Err(anyhow::anyhow!(said)).input();
    }
    let rejects = rejects(arguments, table.as_deref().unwrap_or("import"));
    Ok(Request {
        delimiter: arguments.delimiter,
        header: (arguments.header || arguments.no_header).then_some(arguments.header),
        quote: (!arguments.no_quotes).then_some(arguments.quote),
        escape: arguments.escape,
        comment: arguments.comment,
        skip: arguments.skip,
        encoding: arguments.encoding.as_deref().map(encoding).transpose().input()?,
        nulls: arguments.nulls.clone(),
        nulls_of: arguments.nulls_of.clone(),
        table,
        types: types(arguments).input()?,
        choose: choose(arguments),
        more,
        if_exists: match (arguments.append, arguments.replace) {
            (true, _) => IfExists::Append,
            (_, true) => IfExists::Replace,
            _ => IfExists::Fail,
        },
        primary_key: arguments.primary_key.clone(),
        indexes,
        memory: usize::try_from(arguments.memory).unwrap_or(usize::MAX),
        on_error: match arguments.on_error {
            OnErrorArg::Stop if arguments.rejects.is_some() || arguments.max_rejects.is_some() => {
                return Err(anyhow::anyhow!(
                    "--rejects and --max-rejects are for rows that are left out: add --on-error reject"
                ))
                .input();
            }
            OnErrorArg::Stop => OnError::Stop,
            OnErrorArg::Reject => {
                OnError::Reject { file: rejects, most: arguments.max_rejects.unwrap_or(u64::MAX) }
            }
        },
        on_conflict: match arguments.on_conflict {
            OnConflictArg::Error => OnConflict::Error,
            OnConflictArg::Skip => OnConflict::Skip,
            OnConflictArg::Update => OnConflict::Update,
        },
        key: arguments.key.clone(),
        source,
    })
}

/// The columns that are taken.
fn choose(arguments: &ImportArgs) -> Choose {
    let pair = |word: &String| {
        let (from, to) = word.split_once('=').unwrap_or((word, word));
        (from.trim().to_owned(), to.trim().to_owned())
    };
    Choose {
        columns: arguments.columns.iter().map(pair).collect(),
        skipped: arguments.skip_columns.iter().map(|name| name.trim().to_owned()).collect(),
        file_column: arguments.file_column.clone(),
    }
}

/// The file of rejected rows.
fn rejects(arguments: &ImportArgs, table: &str) -> PathBuf {
    arguments.rejects.clone().unwrap_or_else(|| format!("{table}.rejects.csv").into())
}
