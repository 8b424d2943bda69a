//! Makes the sets of data of a suite: flat files of cells, each written once and shared by all trials
//! of all contenders.
//!
//! The same seed gives the same bytes. Keys never repeat: each begins with its number sent through a
//! permutation of the numbers below 2⁶³, so keys that are absent are simply later numbers.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use dyno_protocol::{Cells, Commits, ImportWork, RowFile};
use dyno_record::Parameters;
use dyno_suite::progress::{PlanningProgress, ProgressFile};
use dyno_suite::{self, Data, RecordKind, Shape, Suite};
use rand::Rng;
use rand::rngs::ChaCha8Rng;

use super::contents::{fill_value, permuted, random_bytes, stream};
use super::{records, row, timetable};

/// A file of a set of pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArrayFile {
    /// The keys.
    Keys,
    /// Their values.
    Values,
    /// Other values for the same keys.
    NewValues,
    /// As many keys that are not among the keys.
    Absent,
    /// The first of the keys, one for each range of this length.
    Starts(u64),
}

/// Writes sets of data on demand.
pub struct Arrays<'a> {
    suite: &'a Suite,
    parameters: &'a Parameters,
    folder: PathBuf,
    /// The user's own file, in place of the one that the suite has made.
    file: Option<&'a Path>,
    written: BTreeSet<PathBuf>,
    watch: &'a PlanningProgress,
}

impl<'a> Arrays<'a> {
    /// Nothing is written yet; files will go to `folder`.
    pub fn new(
        suite: &'a Suite,
        parameters: &'a Parameters,
        folder: &Path,
        file: Option<&'a Path>,
        watch: &'a PlanningProgress,
    ) -> Arrays<'a> {
        Arrays { suite, parameters, folder: folder.join("data"), file, written: BTreeSet::new(), watch }
    }

    /// The suite whose data they are.
    pub(super) fn suite(&self) -> &'a Suite {
        self.suite
    }

    /// The parameters of the run.
    pub(super) fn parameters(&self) -> &'a Parameters {
        self.parameters
    }

    /// The path of the file with this name.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// A new file of the folder.
    pub(super) fn create(&self, path: &Path) -> io::Result<BufWriter<ProgressFile>> {
        fs::create_dir_all(&self.folder)?;
        Ok(BufWriter::with_capacity(1 << 20, self.watch.create(path)?))
    }

    /// A set of data of the suite, which has been checked to be there.
    fn data(&self, name: &str) -> Result<&'a Data> {
        self.suite.data.get(name).with_context(|| format!("there are no [data.{name}]"))
    }

    /// The number of rows or pairs in a set.
    pub fn count(&self, name: &str) -> Result<u64> {
        let count = self.data(name)?.count(self.parameters)?;
        ensure!(count > 0, "the data {name} would be empty");
        Ok(count)
    }

    /// The rows of a set.
    pub fn rows(&mut self, name: &str) -> Result<RowFile> {
        let data = self.data(name)?;
        let count = self.count(name)?;
        let columns = data.columns();
        let width = columns.iter().map(|column| column.bytes).sum();
        let first = usize::try_from(columns.first().map_or(0, |column| column.bytes))?;
        let fill = |rng: &mut ChaCha8Rng, row: &mut [u8], _| row::fill(rng, row, first);
        let cells = self.write(&format!("{name}.rows"), count, width, fill)?;
        Ok(RowFile { file: cells.file, count, columns })
    }

    /// The file of records of a set, to be imported into a table.
    pub fn records(&mut self, name: &str, table: String) -> Result<ImportWork> {
        let Shape::File { like, fields, delimiter } = &self.data(name)?.shape else {
            anyhow::bail!("the data {name} are no file of records");
        };
        let path = self.folder.join(format!("{name}.records"));
        let count = self.count(name)?;
        let write = || -> Result<u64> {
            let mut output = self.create(&path)?;
            let written = match (self.file, like) {
                (Some(file), _) => records::copy(file, fields, *delimiter, &mut output)?.records,
                (None, RecordKind::Timetable) => {
                    timetable::write(count, *delimiter, &mut self.rng(name), &mut output)?;
                    count
                }
            };
            output.into_inner()?.sync()?;
            Ok(written)
        };
        let written = write().with_context(|| format!("cannot write the input {}", path.display()))?;
        ensure!(
            written == count,
            "the file has {written} records now, and had {count}: it is being written to"
        );
        Ok(ImportWork {
            table,
            columns: fields.clone(),
            bytes: fs::metadata(&path)?.len(),
            file: path,
            records: count,
            delimiter: *delimiter,
            before: Vec::new(),
            after: Vec::new(),
            commits: Commits::default(),
        })
    }

    /// The stream of random numbers of a file.
    pub(super) fn rng(&self, name: &str) -> ChaCha8Rng {
        stream(self.parameters.seed(), name)
    }

    /// One of the files of a set of pairs.
    pub fn cells(&mut self, name: &str, part: ArrayFile) -> Result<Cells> {
        let count = self.count(name)?;
        let data = self.data(name)?;
        let Shape::Pairs { key_bytes, value_bytes, .. } = data.shape else {
            anyhow::bail!("the data {name} are no pairs");
        };
        let random = random_bytes(value_bytes, data.compressibility(self.parameters)?);
        // The beginning of a key distinguishes it from all others; the seed decides the permutation.
        let seed = self.parameters.seed();
        let key = |first: u64| {
            move |rng: &mut ChaCha8Rng, cell: &mut [u8], place: u64| {
                rng.fill_bytes(cell);
                cell[..8].copy_from_slice(&permuted(first + place, seed).to_be_bytes());
            }
        };
        let value = |rng: &mut ChaCha8Rng, cell: &mut [u8], _: u64| fill_value(rng, cell, random);
        match part {
            ArrayFile::Keys => self.write(&format!("{name}.keys"), count, key_bytes, key(0)),
            ArrayFile::Values => self.write(&format!("{name}.values"), count, value_bytes, value),
            ArrayFile::NewValues => self.write(&format!("{name}.new-values"), count, value_bytes, value),
            ArrayFile::Absent => self.write(&format!("{name}.absent"), count, key_bytes, key(count)),
            ArrayFile::Starts(length) => {
                let starts = (count / length).max(1);
                // The same stream as the keys, so these are the first of them.
                let Cells { file, .. } = self.cells(name, ArrayFile::Keys)?;
                self.shorten(&file, &format!("{name}.starts-{length}"), starts, key_bytes)
            }
        }
    }

    fn write(
        &mut self,
        name: &str,
        count: u64,
        bytes: u64,
        fill: impl Fn(&mut ChaCha8Rng, &mut [u8], u64),
    ) -> Result<Cells> {
        let file = self.folder.join(name);
        if self.written.insert(file.clone()) {
            let mut rng = self.rng(name);
            let mut cell = vec![0; usize::try_from(bytes)?];
            let mut write = || -> io::Result<()> {
                let mut output = self.create(&file)?;
                for place in 0..count {
                    fill(&mut rng, &mut cell, place);
                    output.write_all(&cell)?;
                }
                output.into_inner()?.sync()
            };
            write().with_context(|| format!("cannot write the input {}", file.display()))?;
        }
        Ok(Cells { file, count, bytes })
    }

    /// Every so manieth cell of a file, in their order.
    pub fn spread(&mut self, all: Cells, count: u64) -> Result<Cells> {
        if count >= all.count {
            return Ok(all);
        }
        ensure!(count > 0, "no key would be looked up");
        let file = all.file.with_extension(format!("{}-{count}", extension(&all.file)));
        if self.written.insert(file.clone()) {
            let copy = || -> io::Result<()> {
                let input = File::open(&all.file)?;
                let mut cell = vec![0; all.bytes as usize];
                let mut output = self.create(&file)?;
                for place in 0..count {
                    let from = u128::from(place) * u128::from(all.count) / u128::from(count);
                    input.read_exact_at(&mut cell, from as u64 * all.bytes)?;
                    output.write_all(&cell)?;
                }
                output.into_inner()?.sync()
            };
            copy().with_context(|| format!("cannot write the input {}", file.display()))?;
        }
        Ok(Cells { file, count, bytes: all.bytes })
    }

    /// A count of the suite's, a number or a parameter.
    pub fn counted(&self, written: &toml::Value) -> Result<u64> {
        dyno_suite::count(written, self.parameters)
    }

    /// A copy of the first cells of a file.
    fn shorten(&mut self, long: &Path, name: &str, count: u64, bytes: u64) -> Result<Cells> {
        let file = self.folder.join(name);
        if self.written.insert(file.clone()) {
            let copy = || -> io::Result<()> {
                let mut beginning = io::Read::take(File::open(long)?, count * bytes);
                let mut output = self.create(&file)?;
                io::copy(&mut beginning, &mut output)?;
                output.into_inner()?.sync()
            };
            copy().with_context(|| format!("cannot write the input {}", file.display()))?;
        }
        Ok(Cells { file, count, bytes })
    }
}

fn extension(file: &Path) -> String {
    file.extension().unwrap_or_default().to_string_lossy().into_owned()
}
