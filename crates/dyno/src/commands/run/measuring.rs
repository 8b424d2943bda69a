//! The measured part of a run: proofs of encryption, isolation probes, then the trials.

use std::time::Duration;

use anyhow::Result;
use dyno_engine::Contender;
use dyno_engine::proofs::Proofs;
use dyno_lab::proof::Prover;
use dyno_lab::run::{KeptDatabases, Observer, Runner};
use dyno_lab::traffic::TrafficCounter;
use dyno_lab::trial::Servers;
use dyno_plan::Plan;
use dyno_record::{EncryptionProof, Run, Writer};

use super::probing::{self, Probing};
use super::site::Site;
use super::traffic;
use crate::progress::Progress;
use crate::terminal::say;

/// The means of a run.
pub struct Measuring<'a> {
    pub plan: &'a Plan,
    pub site: &'a Site,
    pub servers: &'a mut Servers,
    pub file: &'a mut Writer,
    /// The databases of the newest trials, where they are kept.
    pub kept: Option<&'a mut KeptDatabases>,
    /// The interval at which runners report what clients do.
    pub every: Option<Duration>,
    pub progress: &'a mut Progress,
}

impl Measuring<'_> {
    /// Measures; the record holds all trials that finished, also where this fails.
    pub fn perform(self, run: &mut Run) -> Result<()> {
        let Measuring { plan, site, servers, file, kept, every, progress } = self;
        let (conduct, scratch) = (&site.options, &site.scratch);
        prove(run, plan, Prover { conduct, scratch, servers: &mut *servers }, progress)?;
        probing::probe(run, plan, Probing { conduct, scratch, servers: &mut *servers }, progress)?;
        traffic::count(run, TrafficCounter { plan, conduct, scratch, servers: &mut *servers }, progress);
        let (proofs, troubles) = Proofs::load();
        troubles.iter().for_each(|trouble| say(&format!("dyno: {trouble}")));
        let mut runner = Runner {
            proofs: &proofs,
            plan,
            scratch,
            conduct,
            servers,
            file,
            is_precise: &dyno_verdict::is_precise,
            next_rate: &dyno_verdict::next_rate,
            left: kept,
            every,
            observer: progress,
        };
        runner.execute(run)
    }
}

/// Checks that contenders that encrypt do so and that the others do not; does nothing if no contender encrypts.
fn prove(run: &mut Run, plan: &Plan, mut prover: Prover, observer: &mut dyn Observer) -> Result<()> {
    if !plan.contenders.iter().any(Contender::encrypts) {
        return Ok(());
    }
    for (index, contender) in plan.contenders.iter().enumerate() {
        // Missing contenders and failures are reported by their trials; a server that runs already has
        // no files that dyno could search.
        if contender.engine.harness || contender.url.is_some() || prover.conduct.interrupts.signal().is_some()
        {
            continue;
        }
        observer.proof_begins(index, run);
        let proof = match prover.prove(contender) {
            // An interrupted proof says nothing, and is no failure.
            Err(_) if prover.conduct.interrupts.signal().is_some() => return Ok(()),
            Err(error) => EncryptionProof::failed(contender.encrypts(), &error),
            Ok(proof) => proof,
        };
        run.contenders[index].proof = Some(proof);
    }
    Ok(())
}
