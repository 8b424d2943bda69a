//! `dyno calibrate`: runs contenders with copies of themselves, and concludes which differences this machine can show.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};
use dyno_engine::{Contender, Home};
use dyno_lab::machine::keep_calibration;
use dyno_lab::scratch::{Scratch, default_parent};
use dyno_launch::Interrupts;
use dyno_record::{CALIBRATION_SCHEMA, FoundSlower, KnownOffsets, MachineCalibration, Run};
use dyno_show::calibration;
use dyno_verdict::statistics::MIN_BLOCKS;
use dyno_verdict::{Calibration, RunLength, calibrate};

use super::outcome::{AsInput, Exit, print};
use super::registry;
use super::run::{Outputs, RunStep, perform, typed};
use crate::cli::{CalibrateArgs, OutputFormat, RunArgs};
use crate::terminal::say;

/// The suite that is used where the command line names none.
const SUITE: &str = "speedtest";
const CONTENDER: &str = "sqlite:nosync";
/// The time budget where the command line sets none.
const BUDGET: Duration = Duration::from_secs(120);
/// By how much copies are slower.
const SLOWDOWNS: [&str; 5] = ["0%", "1%", "3%", "5%", "10%"];

/// Calibrates, or shows the calibration of an earlier run.
pub fn execute(arguments: CalibrateArgs) -> Result<Exit> {
    let CalibrateArgs { again, copies, mut run } = arguments;
    check_options(&run).input()?;
    if let Some(path) = again {
        let run = dyno_record::load(&path).input()?;
        check(run.schedule.sustain.is_some()).input()?;
        return shown(&calibrate(&run));
    }
    check(run.sustain.is_some()).input()?;
    let registry = registry(&Home::find()?)?;
    run.suite.get_or_insert_with(|| SUITE.into());
    if run.with.is_empty() && run.urls.is_empty() {
        run.with.push(CONTENDER.into());
    }
    if run.trials.is_none() {
        run.budget.get_or_insert(BUDGET);
        // Until the budget ends: what is asked is how far the blocks scatter.
        run.target = 0.0;
    }
    let delay = match run.delay[..] {
        [] => None,
        [delay] => Some(delay),
        _ => return Err(anyhow!("dyno calibrate is of one network: name one --delay")).input(),
    };
    let mut request = typed(&run, RunStep { size: None, delay }, &Home::find()?, &registry).input()?;
    let originals = std::mem::take(&mut request.contenders);
    // The folder is there before the run is.
    Interrupts::listen()?;
    let scratch = Scratch::create(&run.place.dir.clone().unwrap_or_else(default_parent))?;
    for original in originals {
        let slowed = SLOWDOWNS.map(|share| format!("{},slowdown={share}", original.label));
        let copied = (1..=copies).filter_map(|number| original.library().map(|library| (number, library)));
        let copied = copied.map(|(number, library)| {
            let folder = scratch.folder().join(format!("{}-copy-{number}", request.contenders.len()));
            let copy = copy_of(&library, &folder)?;
            Ok(original.with_library(copy))
        });
        let copied = copied.collect::<Result<Vec<Contender>>>()?;
        request.contenders.push(original);
        for copy in slowed {
            request.contenders.push(Contender::parse(&copy, &registry).input()?);
        }
        request.contenders.extend(copied);
    }
    let outputs = Outputs::open(&run.place, &run.inputs())?;
    perform(request, &registry, &run.place, outputs, |run, _| {
        let calibration = calibrate(run);
        let exit = shown(&calibration)?;
        if exit == Exit::Done {
            keep(run, &calibration)?;
        }
        Ok(exit)
    })
}

/// Copies a library into a new folder, which gives it another name.
fn copy_of(library: &Path, folder: &Path) -> Result<PathBuf> {
    let copy = folder.join(library.file_name().unwrap_or(library.as_os_str()));
    let copied = fs::create_dir_all(folder).and_then(|()| fs::copy(library, &copy));
    copied.with_context(|| format!("cannot copy {} to {}", library.display(), copy.display()))?;
    Ok(copy)
}

/// Refuses options that would have no effect here.
fn check_options(run: &RunArgs) -> Result<()> {
    ensure!(
        run.gate.is_empty(),
        "calibrate compares a contender with its own copies, so --gate has nothing to judge: use it with `dyno run`"
    );
    ensure!(
        run.show.format == OutputFormat::Table,
        "calibrate prints one table: leave --format out; `dyno show` prints the run that it keeps in every format"
    );
    Ok(())
}

/// Refuses a search for a rate: its trials have no figures that slower copies could show in.
fn check(is_search: bool) -> Result<()> {
    if is_search {
        bail!(
            "calibrate measures which differences a run can show, and a run of --sustain searches for a rate: take a run without it"
        );
    }
    Ok(())
}

/// Keeps what was found, so that later runs can quote it. Too few blocks support no conclusion, so nothing is kept of them.
fn keep(run: &Run, calibration: &Calibration) -> Result<()> {
    let Some((contender, span)) = calibration.contenders.first().and_then(|contender| {
        let is_known = |span: &&RunLength| span.blocks >= MIN_BLOCKS && calibration.blocks >= MIN_BLOCKS;
        Some((contender, contender.spans.iter().rfind(is_known)?))
    }) else {
        return Ok(());
    };
    let found = span.found.iter().map(|found| FoundSlower { slowdown: found.slowdown, share: found.by_mean });
    let path = keep_calibration(&MachineCalibration {
        schema: CALIBRATION_SCHEMA.to_owned(),
        dyno: run.dyno.clone(),
        started: run.started.clone(),
        cpu: run.machine.cpu.clone(),
        suite: calibration.suite.clone(),
        contender: contender.label.clone(),
        seconds: span.seconds,
        alarms: span.alarms.in_table,
        found: found.collect(),
        offsets: contender.copies.map(|found| KnownOffsets {
            copies: found.copies,
            by_mean: if found.by_mean.shown { found.by_mean.between } else { 0.0 },
            by_test: if found.by_test.shown { found.by_test.between } else { 0.0 },
        }),
    })?;
    say(&format!("Later tables of this machine quote it: it is kept in {}.", path.display()));
    Ok(())
}

fn shown(calibration: &Calibration) -> Result<Exit> {
    print(&calibration::render(calibration))?;
    Ok(if calibration.rests_on_disturbed { Exit::Incomplete } else { Exit::Done })
}
