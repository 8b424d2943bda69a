//! The size of a run's inputs, computed before the first byte is written.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use dyno_record::Parameters;
use dyno_suite::{self, Data, Model, Shape, Suite, Test};

use super::selection::{Selection, chosen_tests};
use super::steps::step_bytes;

/// More than a record of a file that dyno makes has on the average, in bytes.
const LONGEST_RECORD: u64 = 40;
/// The most keys that can be sorted, to know the right answers of scans.
const MOST_SORTED: u64 = u32::MAX as u64;

/// The bytes of all files that the chosen tests read, without statements.
///
/// # Errors
/// The suite's data cannot be made: they are empty, or too many.
pub fn input_bytes(
    suite: &Suite,
    parameters: &Parameters,
    selection: &[Selection],
    file: Option<&Path>,
) -> Result<u64> {
    let mut files = BTreeMap::new();
    for test in chosen_tests(suite, selection) {
        if test.model == Model::Mix {
            let bytes =
                step_bytes(&suite.mix(test, parameters)?).with_context(|| format!("test {}", test.id))?;
            files.insert(format!("{}.steps", test.id), bytes);
        }
        let Some(name) = &test.data else { continue };
        let data = suite.data.get(name).with_context(|| format!("there are no [data.{name}]"))?;
        files.extend(
            files_of(test, name, data, parameters, file).with_context(|| format!("test {}", test.id))?,
        );
    }
    Ok(files.values().fold(0, |sum: u64, bytes| sum.saturating_add(*bytes)))
}

/// Refuses inputs that leave no space for a database in their folder.
pub fn check_room(bytes: u64, folder: &Path) -> Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    let name = || folder.display();
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", name()))?;
    let space = nix::sys::statvfs::statvfs(folder)
        .with_context(|| format!("cannot read the free space of {}", name()))?;
    let free = space.blocks_available() as u64 * space.fragment_size() as u64;
    ensure!(
        bytes.checked_mul(2).is_some_and(|needed| needed < free),
        "the inputs of this run take {}, and the databases of a trial about as much again: they do not fit into {}, \
         where {} are free. Take less (--n, --rows, --scale, --clients or --only), or another folder with --dir",
        size(bytes),
        name(),
        size(free)
    );
    Ok(())
}

/// A size as people say it.
fn size(bytes: u64) -> String {
    let megabytes = bytes as f64 / 1e6;
    if megabytes < 1e3 { format!("{megabytes:.0} MB") } else { format!("{:.1} GB", megabytes / 1e3) }
}

/// The files that a test reads, by name, each with its bytes.
fn files_of(
    test: &Test,
    name: &str,
    data: &Data,
    parameters: &Parameters,
    file: Option<&Path>,
) -> Result<Vec<(String, u64)>> {
    let count = data.count(parameters)?;
    ensure!(count > 0, "the data {name} would be empty");
    let of = |part: &str, count: u64, width: u64| (format!("{name}.{part}"), count.saturating_mul(width));
    Ok(match data.shape {
        Shape::Rows { columns, bytes } => vec![of("rows", count, columns * bytes)],
        Shape::File { .. } => {
            let own = file.map(|file| fs::metadata(file).map(|found| found.len()));
            let own = own.transpose().context("cannot look at the file of --file")?;
            vec![own.map_or_else(|| of("records", count, LONGEST_RECORD), |bytes| (name.to_owned(), bytes))]
        }
        Shape::Pairs { key_bytes, value_bytes, .. } => {
            let sorts = matches!(test.model, Model::KvScan | Model::KvRange);
            ensure!(
                !sorts || count <= MOST_SORTED,
                "dyno sorts the keys to know the right answer, and sorts at most {MOST_SORTED} of them, not {count}; \
                 take a smaller --n, or leave the test out by --only"
            );
            let lookups = test
                .lookups
                .as_ref()
                .map(|some| dyno_suite::count(some.get_ref(), parameters))
                .transpose()?;
            let few = lookups.filter(|few| *few < count).unwrap_or(0);
            let keys = of("keys", count, key_bytes);
            match test.model {
                Model::KvPut if test.overwrite => vec![keys, of("new-values", count, value_bytes)],
                Model::KvPut => vec![keys, of("values", count, value_bytes)],
                Model::KvGet if test.absent => {
                    vec![keys, of("absent", count, key_bytes), of("absent, some", few, key_bytes)]
                }
                Model::KvGet => {
                    vec![keys, of("values", count, value_bytes), of("some", few, key_bytes + value_bytes)]
                }
                Model::KvRange => {
                    let starts = of("starts", count / test.length.unwrap_or(1), key_bytes);
                    vec![keys, of("values", count, value_bytes), starts]
                }
                _ => vec![keys],
            }
        }
    })
}
