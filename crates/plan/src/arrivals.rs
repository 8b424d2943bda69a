//! The operations that arrive in one trial at a rate which is not known before the trials. Their steps are written
//! between trials and, like all inputs, before the runner starts.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use dyno_protocol::{StepFile, TimeWindow};
use dyno_record::Parameters;
use dyno_suite::{Course, Mix, Model, Suite, Test};

use super::contents::stream;
use super::draws::{Arrived, Draws};
use super::step_layout::width;

/// The most that arrives in a trial, in bytes: a second's work of dyno.
const MOST_BYTES: u64 = 256 << 20;

/// The mixes of a plan that last a time, by the ids of their tests.
#[derive(Debug)]
pub struct Arrivals {
    mixes: BTreeMap<String, (Mix, TimeWindow)>,
    seed: u64,
    folder: PathBuf,
}

/// The operations that arrive in a trial.
#[derive(Debug)]
pub struct Arriving {
    /// The steps, each with its time.
    pub steps: StepFile,
    /// The mean number of operations that arrive per second.
    pub rate: f64,
    /// The number of operations that are due while the trial is measured.
    pub due: u64,
}

impl Arrivals {
    /// Those of some tests; files go to `folder`.
    pub fn new<'t>(
        suite: &Suite,
        parameters: &Parameters,
        tests: impl Iterator<Item = &'t Test>,
        folder: &Path,
    ) -> Result<Arrivals> {
        let mixes = tests.filter(|test| test.model == Model::Mix).map(|test| {
            let mix = suite.mix(test, parameters)?;
            Ok(mix.lasts.map(|lasts| (test.id.clone(), (mix, lasts))))
        });
        let mixes: Vec<Option<_>> = mixes.collect::<Result<_>>()?;
        let mixes = mixes.into_iter().flatten().collect();
        Ok(Arrivals { mixes, seed: parameters.seed(), folder: folder.to_owned() })
    }

    /// Writes what arrives in a test (by id) at a rate, or at the highest that can be planned. Each block has arrivals
    /// of its own, the same for every contender at the same rate. They replace those written before.
    ///
    /// # Errors
    /// The test is no mix that lasts a time, nothing arrives in that time, or it cannot be written.
    pub fn write(&self, test: &str, rate: f64, block: u32) -> Result<Arriving> {
        let found = self.mixes.get(test);
        let (mix, lasts) = found.with_context(|| format!("test {test} does not last a time"))?;
        let [from, until] =
            [lasts.warm_up_ns, lasts.warm_up_ns + lasts.duration_ns].map(|ns| ns as f64 / 1e9);
        let rate = rate.min((MOST_BYTES / width(mix)) as f64 / until);
        let file = self.folder.join(format!("{test}.sought.steps"));
        let written = || -> Result<Arrived> {
            let mut output = BufWriter::with_capacity(1 << 20, File::create(&file)?);
            let mut rng = stream(self.seed, &format!("{test}.{block}"));
            let mut draws = Draws::new(mix, self.seed, (0, 1))?;
            let arrived =
                draws.arrivals(&Course::steady(rate), mix.session, from..until, &mut rng, &mut output)?;
            // So that nothing of it is written to the device during the trial.
            output.into_inner()?.sync_all()?;
            Ok(arrived)
        };
        let arrived = written().with_context(|| format!("cannot write the input {}", file.display()))?;
        ensure!(
            arrived.within > 0,
            "in test {test} no operation arrives in {} s at {rate:.3} a second: take a longer --duration",
            until - from
        );
        Ok(Arriving { steps: StepFile { file, count: arrived.all }, rate, due: arrived.within })
    }
}
