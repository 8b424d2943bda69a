//! What contenders get beyond their names: the harness at their side, what all are given or denied, and
//! which of a suite's own are not to be had here.

use anyhow::{Context, Result, bail};
use dyno_engine::{Contender, Registry};
use dyno_lab::scratch::Scratch;
use dyno_lab::trial::{Conduct, MemoryCap, Outcome, Reply, Servers, Trial};
use dyno_nearest as nearest;
use dyno_plan::probe;
use dyno_record::{LeftOut, Limits};

/// The contender that measures dyno itself and is part of every run.
const HARNESS: &str = "null";

/// The contenders with the harness at their end, unless it was named.
pub fn with_harness(named: &[Contender], registry: &Registry) -> Result<Vec<Contender>> {
    let mut contenders = named.to_vec();
    if !contenders.iter().any(|contender| contender.engine.harness) {
        let mut harness = Contender::parse(HARNESS, registry)?;
        // It costs what theirs does.
        harness.processes = contenders.iter().all(|contender| contender.processes);
        contenders.push(harness);
    }
    Ok(contenders)
}

/// The contenders with what they are all given.
pub fn with_limits(mut contenders: Vec<Contender>, limits: &Limits) -> Result<Vec<Contender>> {
    if let Some(bytes) = limits.cache_bytes {
        for contender in contenders.iter_mut().filter(|contender| !contender.engine.harness) {
            let knob = contender.engine.cache.as_ref().with_context(|| {
                format!("{} has no setting for the size of a cache; leave --cache or it out", contender.label)
            })?;
            let setting = knob.of(bytes);
            contender.settings.retain(|known| known.name != setting.name);
            contender.settings.push(setting);
        }
    }
    if let Some(bytes) = limits.memory_bytes {
        if let Some(contender) = contenders.iter().find(|contender| contender.engine.is_server()) {
            bail!("--memory limits runners, and the memory of {} is its server's", contender.label);
        }
        // Refused now, with the reason, and not by every trial.
        MemoryCap::create(bytes)?;
    }
    Ok(contenders)
}

/// Asks each contender of the suite's own list who it is, and leaves out those that do not answer or do none of the
/// tests: a library, a language or a server that is not installed leaves the others working.
pub fn at_hand(
    contenders: Vec<Contender>,
    does_tests: impl Fn(&Contender) -> Result<()>,
    conduct: &Conduct,
    servers: &mut Servers,
    scratch: &Scratch,
) -> Result<(Vec<Contender>, Vec<LeftOut>)> {
    let mut found = Vec::new();
    let mut left_out = Vec::new();
    for contender in contenders {
        let idle = does_tests(&contender).err().map(|error| format!("{error:#}"));
        let why = match idle {
            None => {
                let directory = scratch.trial()?;
                match conduct.ask(&contender, probe(&contender, directory.path()), servers) {
                    Reply::Missing(why) => Some(why),
                    Reply::Here(_) | Reply::Interrupted => None,
                }
            }
            idle => idle,
        };
        match why {
            None => found.push(contender),
            Some(why) => left_out.push(LeftOut { label: contender.label, why }),
        }
    }
    Ok((found, left_out))
}

/// Asks contenders with settings that stand in no file of dyno's whether their engine knows these, so that one mistyped
/// is told before anything is measured.
pub fn check_settings(
    contenders: &[Contender],
    conduct: &Conduct,
    servers: &mut Servers,
    scratch: &Scratch,
) -> Result<()> {
    let mut answer = |contender: &Contender| -> Result<Trial> {
        let directory = scratch.trial()?;
        let mut job = probe(contender, directory.path());
        job.server = servers.reach(contender)?;
        conduct.run(&contender.runner.command(), &job, |_| {})
    };
    for contender in contenders {
        let known = contender.engine.known_settings();
        let is_cipher =
            |name: &str| contender.engine.encryption().is_some_and(|cipher| cipher.concerns(name));
        let strange = |name: &str| !known.contains(name) && !is_cipher(name);
        if !contender.settings.iter().any(|setting| strange(&setting.name)) {
            continue;
        }
        let trial = answer(contender);
        let hello = trial.as_ref().ok().and_then(|trial| trial.hello.as_ref());
        let trouble = match &trial {
            Ok(Trial { outcome: Outcome::Interrupted, .. }) => return Ok(()),
            Ok(Trial { outcome: Outcome::Failed { message, .. }, .. }) => Some(message.clone()),
            Err(error) => Some(format!("{error:#}")),
            Ok(_) => hello.and_then(|hello| {
                let differences = contender.engine.differences(&contender.settings, &hello.settings);
                let unread = differences.into_iter().find(|difference| difference.in_force.is_none())?;
                Some(unread.to_string())
            }),
        };
        let Some(trouble) = trouble else { continue };
        // Perhaps it is missing altogether, which its trials tell and which costs the others nothing.
        let mut plain = contender.clone();
        plain.settings.retain(|setting| !strange(&setting.name));
        if answer(&plain).is_ok_and(|trial| trial.outcome == Outcome::Finished) {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let mut names = contender.settings.iter().map(|setting| setting.name.as_str());
            let offer = names.find_map(|name| nearest::offer(name, &known).filter(|_| strange(name)));
            let offer = offer.map(|offer| format!("; {offer}")).unwrap_or_default();
            bail!("the contender {} cannot be run: {trouble}{offer}", contender.label);
        }
    }
    Ok(())
}
