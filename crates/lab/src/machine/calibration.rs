//! The last calibration of this machine, kept in one file in dyno's folder of data.

use std::path::PathBuf;

use anyhow::{Context, Result};
use dyno_engine::kept_files;
use dyno_files::Output;
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
    let text = serde_json::to_string_pretty(calibration)? + "\n";
    let kept = Output::open(&path).and_then(|mut output| output.write(text.as_bytes()));
    kept.context("cannot keep the calibration")?;
    Ok(path)
}

/// The last calibration, this user's or the one that root made for everybody. None of another processor or by another
/// version of dyno, which may judge otherwise.
pub fn kept_calibration(machine: &Machine) -> Option<MachineCalibration> {
    let read = |path: PathBuf| {
        let text = dyno_files::read_found(&path).ok()?;
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
