//! Words that values are drawn from: a list in the suite, or a file next to it.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use crate::Suite;

/// The longest file of words, in bytes, and the most words.
const LONGEST: u64 = 4 << 20;
const MOST: usize = 200_000;

/// Words as a suite writes them.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum Words {
    /// These.
    Here(Vec<String>),
    /// The lines of a file.
    File(String),
    /// A column of a file with a head and commas.
    Column {
        /// The file.
        file: String,
        /// The name of the column.
        column: String,
    },
}

impl Words {
    /// All of them; `files` are those of files by name.
    pub(super) fn all(&self, files: &BTreeMap<String, Vec<String>>) -> Result<Vec<String>> {
        let words = match (self, self.file()) {
            (Words::Here(words), _) => words,
            (_, Some((file, column))) => files
                .get(&key(file, column))
                .with_context(|| format!("the words of {file} have not been read"))?,
            _ => bail!("there are no words"),
        };
        ensure!(!words.is_empty() && words.len() <= MOST, "there are 1 to {MOST} `words`");
        ensure!(words.iter().all(|word| word.len() <= 65_536), "a word has 65536 bytes at most");
        Ok(words.clone())
    }

    /// The file that it names, and the column.
    pub(super) fn file(&self) -> Option<(&str, Option<&str>)> {
        match self {
            Words::Here(_) => None,
            Words::File(file) => Some((file, None)),
            Words::Column { file, column } => Some((file, Some(column))),
        }
    }
}

/// The name of a file's words among those of all files.
fn key(file: &str, column: Option<&str>) -> String {
    column.map_or_else(|| file.to_owned(), |column| format!("{file}, {column}"))
}

/// Reads the files of words that a suite names, which lie next to it. Returns them as text to be added to the suite's,
/// so that a run file needs no other file; None if the suite names no files, or has their words already.
///
/// # Errors
/// A file cannot be read, lies elsewhere, or has no such column.
pub(crate) fn read_files(suite: &Suite, path: &Path) -> Result<Option<String>> {
    let mut words = BTreeMap::new();
    for test in &suite.tests {
        let values = test.values.iter().filter_map(|(name, values)| Some((name, values.file()?)));
        let lists = test.lists.iter().flat_map(|(name, list)| list.files().map(move |file| (name, file)));
        for (name, (file, column)) in values.chain(lists) {
            if !suite.words.contains_key(&key(file, column)) {
                let line = suite.key_line(test, name);
                let at = || format!("{}:{line}: test {}: `words` of {name}", path.display(), test.id);
                words.insert(key(file, column), read(path, file, column).with_context(at)?);
            }
        }
    }
    if words.is_empty() {
        return Ok(None);
    }
    let text = toml::to_string(&BTreeMap::from([("words-of-files", words)]))?;
    Ok(Some(format!("\n{text}")))
}

fn read(suite: &Path, file: &str, column: Option<&str>) -> Result<Vec<String>> {
    let is_next = !file.is_empty() && !file.contains('/') && !file.starts_with('.');
    ensure!(is_next, "'{file}' is no file next to the suite: it is a name without a folder");
    let path = suite.with_file_name(file);
    let opened = dyno_files::open_found(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let kind = opened.metadata().with_context(|| format!("cannot read {}", path.display()))?;
    ensure!(kind.len() <= LONGEST, "{} is longer than {} MiB", path.display(), LONGEST >> 20);
    let mut text = String::new();
    let read = opened.take(LONGEST).read_to_string(&mut text);
    read.with_context(|| format!("cannot read {}", path.display()))?;
    let mut lines = text.lines();
    let Some(column) = column else { return Ok(lines.map(str::to_owned).collect()) };
    let fields = |line: &str| -> Vec<String> {
        line.split(',').map(|field| field.trim().trim_matches('"').to_owned()).collect()
    };
    let head = fields(lines.next().unwrap_or_default());
    let place = head.iter().position(|name| name == column);
    let place = place.with_context(|| {
        let names = head.iter().map(String::as_str);
        format!("{}: {}", path.display(), dyno_nearest::unknown("it has no column", column, "it has", names))
    })?;
    let cells = (2..).zip(lines).map(|(number, line)| {
        ensure!(
            !line.contains("\"\"") && line.matches('"').count() % 2 == 0,
            "{}:{number}: a field has a quote or a line break in it, which a list of words cannot have",
            path.display()
        );
        let found = fields(line).into_iter().nth(place);
        found.with_context(|| format!("{}:{number}: the line has no field {}", path.display(), place + 1))
    });
    cells.collect()
}

#[cfg(test)]
mod tests {
    use nix::sys::stat::Mode;
    use nix::unistd::mkfifo;

    use super::*;

    #[test]
    fn a_fifo_holds_no_words_and_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        mkfifo(&folder.path().join("words.txt"), Mode::S_IRWXU).unwrap();
        let error = read(&folder.path().join("suite.toml"), "words.txt", None).unwrap_err();
        assert!(format!("{error:#}").contains("not a regular file"), "{error:#}");
    }
}
