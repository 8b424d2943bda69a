//! Run files on disk. A file is replaced whole or not at all, so a crash or a full disk leaves the
//! trials that were saved before.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use tempfile::NamedTempFile;

use super::{Run, SCHEMA};

/// Where run files go when nobody says: `results/` in the working folder.
pub fn results_folder() -> PathBuf {
    PathBuf::from("results")
}

/// Writes a run to `path`, making its folder, and replaces what is there only once it is written.
pub fn save(run: &Run, path: &Path) -> Result<()> {
    let context = || format!("cannot save the run to {}", path.display());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder).with_context(context)?;
    let file = NamedTempFile::new_in(folder).with_context(context)?;
    let mut output = BufWriter::new(file);
    serde_json::to_writer(&mut output, run).with_context(context)?;
    output.write_all(b"\n").with_context(context)?;
    let file = output.into_inner().map_err(|error| error.into_error()).with_context(context)?;
    file.as_file().sync_all().with_context(context)?;
    set_usual_permissions(file.as_file()).with_context(context)?;
    file.persist(path).with_context(context)?;
    Ok(())
}

/// Temporary files are for their owner alone; a run file is like any other file of a user.
pub fn set_usual_permissions(file: &File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(fs::Permissions::from_mode(0o644))
}

/// Reads a run.
pub fn load(path: &Path) -> Result<Run> {
    /// The part of a run file that tells whether the rest can be read.
    #[derive(Deserialize)]
    struct Head {
        schema: Option<String>,
    }
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read the run file {}", path.display()))?;
    let head: Head = serde_json::from_str(&text)
        .with_context(|| format!("{} is not a run file: it is not JSON", path.display()))?;
    match head.schema.as_deref() {
        Some(SCHEMA) => {}
        Some(other) => bail!(
            "{} has the schema '{other}', and this dyno reads {SCHEMA}; use the dyno that wrote it",
            path.display()
        ),
        None => bail!("{} is not a run file: it names no schema", path.display()),
    }
    let mut run: Run = serde_json::from_str(&text)
        .map_err(|error| anyhow::anyhow!("{}:{}: {error}", path.display(), error.line()))?;
    check(&run).with_context(|| format!("{} contradicts itself", path.display()))?;
    run.suite.fill_in();
    Ok(run)
}

/// Checks that what refers to something refers to something that is there.
fn check(run: &Run) -> Result<()> {
    if !run.contenders.iter().any(|contender| contender.label == run.baseline) {
        bail!("the baseline {} is none of the contenders", run.baseline);
    }
    for (number, trial) in run.trials.iter().enumerate() {
        if trial.contender >= run.contenders.len() {
            bail!("trial {number} names contender {}, which is not there", trial.contender);
        }
        for sample in &trial.samples {
            if sample.answer >= run.answers.len() {
                bail!("trial {number} names answer {}, which is not there", sample.answer);
            }
            if !run.tests.iter().any(|test| test.id == sample.sample.test) {
                bail!("trial {number} has a sample of test {}, which is not there", sample.sample.test);
            }
        }
    }
    Ok(())
}
