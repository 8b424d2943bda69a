//! Records before the first trial what transactions of each contender see of one another, where many clients are at work.

use anyhow::Result;
use dyno_engine::Contender;
use dyno_lab::probe::Prober;
use dyno_lab::run::Observer;
use dyno_lab::scratch::Scratch;
use dyno_lab::trial::{Servers, TrialOptions};
use dyno_plan::Plan;
use dyno_plan::probes::{self, Probes, probes_of};
use dyno_record::{ProbeRecord, Run};

/// The means by which probes are run.
pub struct Probing<'a> {
    pub conduct: &'a TrialOptions,
    pub scratch: &'a Scratch,
    pub servers: &'a mut Servers,
}

/// Adds to the record what the probes of each contender brought back. The record and the trials show failures.
///
/// # Errors
/// The inputs of the probes cannot be written.
pub fn probe(run: &mut Run, plan: &Plan, with: Probing, observer: &mut dyn Observer) -> Result<()> {
    if !plan.has_clients() {
        return Ok(());
    }
    let Probing { conduct, scratch, servers } = with;
    for (probes, folder) in [(Probes::Sql, "probes"), (Probes::Store, "store-probes")] {
        let is_probed = |(index, contender): &(usize, &Contender)| {
            run.contenders[*index].named && probes_of(contender) == Some(probes)
        };
        let (places, contenders): (Vec<usize>, Vec<Contender>) = plan
            .contenders
            .iter()
            .enumerate()
            .filter(is_probed)
            .map(|(index, contender)| (index, contender.clone()))
            .unzip();
        if places.is_empty() {
            continue;
        }
        let plan = probes::plan(probes, contenders, &scratch.inputs().join(folder))?;
        let mut prober = Prober { plan: &plan, conduct, scratch, servers: &mut *servers };
        for (place, &index) in places.iter().enumerate() {
            if conduct.interrupts.signal().is_some() {
                break;
            }
            observer.probe_begins(index, run);
            let failed = |error| ProbeRecord {
                probe: "tables".into(),
                failed: Some(format!("{error:#}")),
                ..ProbeRecord::default()
            };
            run.contenders[index].probes = match prober.probe(place, observer) {
                // As where it is interrupted later, which is no failure.
                Err(_) if conduct.interrupts.signal().is_some() => break,
                found => found.unwrap_or_else(|error| vec![failed(error)]),
            };
        }
    }
    Ok(())
}
