//! The right answers of tests on arrays, computed from the files, so that contenders are compared with the truth and
//! not with each other.

use std::path::Path;

use anyhow::{Context, Result};
use dyno_inputs::{Cells, MappedRows, Records, StoreDigest, TableDigest};
use dyno_protocol::{self as protocol, ImportWork, RowFile, Value};

/// The rows of an answer.
pub type Rows = Vec<Vec<Value>>;

/// The content of a table after the rows are loaded.
pub fn table(rows: &RowFile) -> Result<Rows> {
    let mapped = MappedRows::load(rows)?;
    let last = mapped.len().saturating_sub(1);
    let shown =
        [0, mapped.len() / 2, last].map(|place| mapped.row(place).next().unwrap_or_default().to_vec());
    let mut digest = TableDigest::new(rows.columns.len(), shown);
    let mut cells: Vec<&[u8]> = Vec::with_capacity(rows.columns.len());
    for place in 0..mapped.len() {
        cells.clear();
        cells.extend(mapped.row(place));
        digest.add(&cells)?;
    }
    Ok(digest.answer())
}

/// The content of a table after a file is imported.
pub fn imported(work: &ImportWork) -> Result<Rows> {
    let name = || work.file.display().to_string();
    let bytes = std::fs::read(&work.file).with_context(|| format!("cannot read {}", name()))?;
    let mut digest = TableDigest::new(work.columns.len(), []);
    let mut records = Records::new(&bytes, work.delimiter as u8, work.columns.len());
    while let Some(fields) = records.next().map_err(|wrong| wrong.error.context(name()))? {
        digest.add(fields)?;
    }
    Ok(digest.answer())
}

/// The number of rows that differ in two columns.
pub fn scan(rows: &RowFile, differ: [usize; 2]) -> Result<Rows> {
    let mapped = MappedRows::load(rows)?;
    let differs = |place: &u64| {
        let [a, b] = differ.map(|column| mapped.row(*place).nth(column));
        a != b
    };
    Ok(vec![vec![whole((0..mapped.len()).filter(differs).count() as u64)]])
}

/// The content of a store after the pairs are put.
pub fn store(keys: &protocol::Cells, values: &protocol::Cells) -> Result<Rows> {
    let (keys, values) = (load(keys)?, load(values)?);
    let mut digest = StoreDigest::default();
    keys.all().iter().zip(values.all().iter()).for_each(|(key, value)| digest.add(key, value));
    Ok(vec![digest.answer()])
}

/// The content after every key is deleted.
pub fn empty() -> Rows {
    vec![StoreDigest::default().answer()]
}

/// The result of `count` lookups.
pub fn found(count: u64, value_bytes: u64) -> Rows {
    vec![vec![whole(count), whole(count * value_bytes)]]
}

/// The keys of a store in their order, as numbers, since the beginning of each key is unique.
pub struct Order {
    keys: Cells,
    /// The beginning of each key as a number, and the key's place in the file.
    sorted: Vec<(u64, u32)>,
}

impl Order {
    /// Sorts the keys.
    pub fn new(keys: &protocol::Cells) -> Result<Order> {
        let keys = load(keys)?;
        u32::try_from(keys.len()).context("there are more keys than can be sorted here")?;
        let mut sorted: Vec<(u64, u32)> =
            keys.all().iter().zip(0..).map(|(key, at)| (head(key), at)).collect();
        sorted.sort_unstable();
        Ok(Order { keys, sorted })
    }

    /// The result of a scan in order.
    pub fn scan(&self) -> Rows {
        let mut hasher = crc32fast::Hasher::new();
        self.sorted.iter().for_each(|&(_, place)| hasher.update(self.keys.all().get(place.into())));
        vec![vec![whole(self.keys.len()), whole(hasher.finalize().into())]]
    }

    /// The result of range scans of a given length, one from each of the first `starts` keys.
    pub fn ranges(&self, starts: u64, length: u64, values: &protocol::Cells) -> Result<Rows> {
        let values = load(values)?;
        let mut visited = 0;
        let mut met = crc32fast::Hasher::new();
        for key in self.keys.slice(0..starts).iter() {
            let rank = self.sorted.partition_point(|&(known, _)| known < head(key));
            for &(_, place) in self.sorted[rank..].iter().take(length as usize) {
                met.update(values.all().get(place.into()));
                visited += 1;
            }
        }
        let bytes = visited * values.all().width() as u64;
        Ok(vec![vec![whole(visited), whole(bytes), whole(met.finalize().into())]])
    }
}

/// The first eight bytes of a key, which distinguish and order the keys of a suite.
fn head(key: &[u8]) -> u64 {
    key.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes))
}

fn load(cells: &protocol::Cells) -> Result<Cells> {
    Cells::load(Path::new(&cells.file), cells.count, cells.bytes)
}

fn whole(number: u64) -> Value {
    Value::Integer(number as i64)
}
