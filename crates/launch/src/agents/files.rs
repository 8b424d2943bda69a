//! The files that a job names, which an agent needs on its own machine.

use std::path::{Path, PathBuf};

use anyhow::Result;
use dyno_protocol::{Job, Pairs, Server, Work};

/// The beginning of what stands in a job for a file that was sent; its SHA-256 follows.
pub const SENT: &str = "dyno-file:";

/// Puts another path in the place of each file that a job names: the inputs of its tests, and certificates and keys
/// among the options of its connection.
///
/// # Errors
/// Those of `replace`.
pub fn visit_files(job: &mut Job, replace: &mut dyn FnMut(&Path) -> Result<PathBuf>) -> Result<()> {
    let options = job.server.iter_mut().flat_map(|server| &mut server.options);
    for (_, option) in options.filter(|(name, _)| Server::FILES.contains(&name.as_str())) {
        // Else it is a word for what the system has, such as its authorities.
        if option.starts_with('/') || option.starts_with(SENT) {
            *option = replace(Path::new(option))?.to_string_lossy().into_owned();
        }
    }
    for test in &mut job.tests {
        for file in files_of(&mut test.work) {
            *file = replace(file)?;
        }
    }
    Ok(())
}

/// The inputs of a test.
fn files_of(work: &mut Work) -> Vec<&mut PathBuf> {
    fn of_pairs(pairs: &mut Pairs) -> Vec<&mut PathBuf> {
        let values = pairs.values.as_mut().map(|values| &mut values.file);
        [&mut pairs.keys.file].into_iter().chain(values).collect()
    }
    match work {
        Work::Statements { file, .. } => vec![file],
        Work::InsertRows(load) | Work::BulkLoad(load) => vec![&mut load.rows.file],
        Work::ImportFile(import) => vec![&mut import.file],
        Work::KvPut { pairs, .. } | Work::KvGet { pairs, .. } => of_pairs(pairs),
        Work::KvRange { keys, .. } | Work::KvDelete { keys, .. } => vec![&mut keys.file],
        Work::Mix(mix) => mix.steps.iter_mut().map(|steps| &mut steps.file).collect(),
        Work::Reopen {} | Work::Scan { .. } | Work::KvScan { .. } | Work::KvSettle { .. } => Vec::new(),
    }
}
