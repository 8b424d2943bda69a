//! Writes a run file: its first line at once, and what has become known since at its end. What was written once is not
//! written again, so a long run costs no more at its end than at its beginning, and a crash or a full disk takes
//! nothing that was saved before.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use anyhow::{Context, Result};
use dyno_files::Output;

use super::line::{Extent, Line};
use super::seal::Sealer;
use crate::{Run, SCHEMA};

/// A run file that is being written.
#[derive(Debug)]
pub struct Writer {
    output: Output,
    file: File,
    /// Bytes of the file that are whole lines.
    length: u64,
    written: Extent,
    sealer: Sealer,
}

impl Writer {
    /// Writes the first line. A file that was there under this name is replaced only once the line is written.
    ///
    /// # Errors
    /// The place cannot be written to.
    pub fn create(mut output: Output, run: &Run) -> Result<Writer> {
        let mut sealer = Sealer::default();
        let text = first_line(run, &mut sealer).context("cannot save the run")?;
        let file = output.write(&text).context("cannot save the run")?;
        Ok(Writer { output, file, length: text.len() as u64, written: Extent::of(run), sealer })
    }

    /// Adds what has become known since the last call, and has it on the device.
    ///
    /// # Errors
    /// It cannot be written. What was saved before is still there, and the next call tries again.
    pub fn save(&mut self, run: &Run) -> Result<()> {
        let path = self.output.path().to_owned();
        let context = || format!("cannot save the run to {}", path.display());
        if !self.output.is_stream() && !self.is_in_place() {
            // The file was moved or removed: all of it is written once more.
            let mut sealer = Sealer::default();
            let text = first_line(run, &mut sealer).with_context(context)?;
            self.file = self.output.write(&text).context("cannot save the run")?;
            (self.length, self.written, self.sealer) = (text.len() as u64, Extent::of(run), sealer);
            return Ok(());
        }
        // A line that cannot be written is sealed anew by the next save.
        let mut sealer = self.sealer.clone();
        let text = text(&self.written.missing(run), &mut sealer).with_context(context)?;
        self.add(&text).with_context(context)?;
        self.length += text.len() as u64;
        (self.written, self.sealer) = (Extent::of(run), sealer);
        Ok(())
    }

    fn add(&mut self, text: &[u8]) -> io::Result<()> {
        if self.output.is_stream() {
            return self.file.write_all(text);
        }
        let added = self.file.write_all_at(text, self.length).and_then(|()| self.file.sync_data());
        if added.is_err() {
            // A part of a line may be there; the next save writes over it, and until then the file ends before it.
            let _ = self.file.set_len(self.length);
        }
        added
    }

    /// Its place.
    pub fn output(&self) -> &Output {
        &self.output
    }

    /// Its name.
    pub fn path(&self) -> &Path {
        self.output.path()
    }

    fn is_in_place(&self) -> bool {
        let place = |found: fs::Metadata| (found.dev(), found.ino());
        let (named, held) = (fs::metadata(self.path()).map(place), self.file.metadata().map(place));
        matches!((named, held), (Ok(named), Ok(held)) if named == held)
    }
}

/// A run as a run file of one line, with all that is known.
///
/// # Errors
/// It holds what JSON cannot hold.
pub fn whole(run: &Run) -> serde_json::Result<Vec<u8>> {
    first_line(run, &mut Sealer::default())
}

fn first_line(run: &Run, sealer: &mut Sealer) -> serde_json::Result<Vec<u8>> {
    let run = Run { schema: SCHEMA.into(), ..run.clone() };
    text(&[Line::Run(Box::new(run))], sealer)
}

fn text(lines: &[Line], sealer: &mut Sealer) -> serde_json::Result<Vec<u8>> {
    let mut text = String::new();
    for line in lines {
        let mut line = serde_json::to_string(line)?;
        sealer.seal(&mut line);
        text += &line;
        text.push('\n');
    }
    Ok(text.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::super::load;
    use super::*;
    use crate::{Break, Ended, Failure, Seals, TrialRecord};

    fn run() -> Run {
        let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/../dyno/tests/golden/run.json");
        Run { schema: crate::SCHEMA.into(), seals: Seals::Whole, ..load(Path::new(golden)).unwrap() }
    }

    /// The same before its first trial.
    fn begun(run: &Run) -> Run {
        let mut begun = Run {
            trials: Vec::new(),
            answers: Vec::new(),
            elapsed_ns: 0,
            ended: Ended::Running,
            ..run.clone()
        };
        begun.contenders.iter_mut().for_each(|contender| contender.hello = None);
        begun
    }

    #[test]
    fn what_is_added_is_read_back_as_one_run() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.jsonl");
        let (whole, mut run) = (run(), begun(&run()));
        let mut writer = Writer::create(Output::open(&path).unwrap(), &run).unwrap();
        assert_eq!(load(&path).unwrap(), run);
        run.answers.clone_from(&whole.answers);
        run.contenders.clone_from(&whole.contenders);
        let mut sizes = Vec::new();
        for trial in &whole.trials {
            run.trials.push(trial.clone());
            writer.save(&run).unwrap();
            sizes.push(fs::metadata(&path).unwrap().len());
            assert_eq!(load(&path).unwrap(), run);
        }
        // Each trial adds itself only.
        let first = sizes[1] - sizes[0];
        assert!(sizes.windows(2).all(|pair| pair[1] - pair[0] < 3 * first), "{sizes:?}");
        writer.save(&whole).unwrap();
        assert_eq!(load(&path).unwrap(), whole);
        let before = fs::read(&path).unwrap();
        writer.save(&whole).unwrap();
        assert_eq!(fs::read(&path).unwrap(), before, "nothing new was written");
    }

    #[test]
    fn a_line_that_was_cut_off_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.jsonl");
        let (whole, mut run) = (run(), begun(&run()));
        let mut writer = Writer::create(Output::open(&path).unwrap(), &run).unwrap();
        run.answers.clone_from(&whole.answers);
        run.trials.extend_from_slice(&whole.trials[..2]);
        writer.save(&run).unwrap();
        let saved = fs::metadata(&path).unwrap().len();
        run.trials.push(whole.trials[2].clone());
        writer.save(&run).unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        for cut in [saved, saved + 1, saved + 100] {
            file.set_len(cut).unwrap();
            let read = load(&path).unwrap();
            assert_eq!(read.trials, whole.trials[..2], "cut at {cut}");
            let is_cut = matches!(read.seals, Seals::Broken { how: Break::Cut, .. });
            assert_eq!(is_cut, cut > saved, "{:?}", read.seals);
        }
        let text = fs::read_to_string(&path).unwrap() + "}\n";
        fs::write(&path, text).unwrap();
        let said = load(&path).unwrap_err().to_string();
        assert!(said.contains("run.jsonl:"), "{said}");
    }

    #[test]
    fn a_file_that_was_taken_away_is_written_once_more() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.jsonl");
        let mut run = begun(&run());
        let mut writer = Writer::create(Output::open(&path).unwrap(), &run).unwrap();
        fs::remove_file(&path).unwrap();
        let failure = Some(Failure { test: None, message: "ended".into() });
        let trial = TrialRecord {
            block: 1,
            latency: false,
            counted: false,
            watched: false,
            contender: 0,
            began_ns: 1,
            others: None,
            beat_ns: None,
            agents: Vec::new(),
            samples: Vec::new(),
            plans: Vec::new(),
            failure,
        };
        run.trials.push(trial);
        writer.save(&run).unwrap();
        assert_eq!(load(&path).unwrap(), run);
    }

    #[test]
    fn any_byte_that_was_changed_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.jsonl");
        let (whole, run) = (run(), begun(&run()));
        let mut writer = Writer::create(Output::open(&path).unwrap(), &run).unwrap();
        let mut grown = Run { contenders: whole.contenders.clone(), answers: whole.answers.clone(), ..run };
        for trial in &whole.trials[..4] {
            grown.trials.push(trial.clone());
            writer.save(&grown).unwrap();
        }
        let text = fs::read(&path).unwrap();
        assert_eq!(load(&path).unwrap().seals, Seals::Whole);
        // Each reading checks the whole file: a sample of the places, and another bit at each of them.
        let step = text.len() / 400;
        let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(place, _)| place);
        for (round, place) in (0..text.len()).step_by(step).chain(ends).enumerate() {
            let mut changed = text.clone();
            changed[place] ^= 1 << (round % 8);
            let noticed = std::str::from_utf8(&changed).is_err()
                || super::super::parse(std::str::from_utf8(&changed).unwrap(), &path)
                    .map_or(true, |run| run.seals != Seals::Whole);
            assert!(noticed, "byte {place}, bit {}", round % 8);
        }
    }
}
