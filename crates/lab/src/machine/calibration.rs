//! The last calibration of this machine, kept in one file in dyno's folder of data.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use dyno_engine::kept_files;
use dyno_record::{CALIBRATION_SCHEMA, Machine, MachineCalibration};

/// Names another file than the usual one.
const VARIABLE: &str = "DYNO_CALIBRATION";
/// The file within dyno's folder of data.
const NAME: &str = "calibration.json";

/// Keeps a calibration in place of an earlier one, and says where.
///
/// # Errors
/// There is no place for it, or it cannot be written.
pub fn keep_calibration(calibration: &MachineCalibration) -> Result<PathBuf> {
    let path = places()
        .into_iter()
        .next()
        .context("there is no folder to keep it in: neither HOME nor XDG_DATA_HOME is set")?;
    // In one step: a run that begins now finds the old one or the new one, and no half of it.
    let new = path.with_extension(std::process::id().to_string());
    let write = || {
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(&new, serde_json::to_string_pretty(calibration)? + "\n")?;
        fs::rename(&new, &path)
    };
    write().with_context(|| format!("cannot keep the calibration in {}", path.display()))?;
    Ok(path)
}

/// The last calibration, this user's or the one that root made for everybody. None of another processor or by another
/// version of dyno, which may judge otherwise.
pub fn kept_calibration(machine: &Machine) -> Option<MachineCalibration> {
    let read = |path: PathBuf| {
        let text = fs::read_to_string(path).ok()?;
        let calibration: MachineCalibration = serde_json::from_str(&text).ok()?;
        let is_of_this = calibration.schema == CALIBRATION_SCHEMA
            && calibration.dyno == env!("CARGO_PKG_VERSION")
            && calibration.cpu == machine.cpu;
        is_of_this.then_some(calibration)
    };
    places().into_iter().find_map(read)
}

/// The files, that of this user first.
fn places() -> Vec<PathBuf> {
    kept_files(VARIABLE, NAME)
}
