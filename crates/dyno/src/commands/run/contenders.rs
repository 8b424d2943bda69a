//! What contenders get beyond their names: the harness at their side, what all are given or denied, and
//! which of a suite's own are not to be had here.

use anyhow::{Context, Result, bail};

use crate::engine::{Contender, Registry};
use crate::nearest;
use crate::plan::probe;
use crate::record::{LeftOut, Limits};
use crate::scratch::Scratch;
use crate::trial::{Conduct, MemoryCap, Outcome, Reply, Servers, Trial};

/// The contender that measures dyno itself and is part of every run.
const HARNESS: &str = "null";

/// The contenders with the harness at their end, unless it was named.
pub fn with_harness(named: &[Contender], registry: &Registry) -> Result<Vec<Contender>> {
    let mut contenders = named.to_vec();
    if !contenders.iter().any(|contender| contender.engine.harness) {
        contenders.push(Contender::parse(HARNESS, registry)?);
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
        if let Some(contender) = contenders.iter().find(|contender| contender.engine.server) {
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

/// Asks contenders with settings of their own whether their engine knows these, so that one mistyped is told before
/// anything is measured.
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
    for contender in contenders.iter().filter(|contender| !contender.own_settings().is_empty()) {
        let trial = answer(contender);
        let hello = trial.as_ref().ok().and_then(|trial| trial.hello.as_ref());
        let unknown = hello.and_then(|hello| {
            let differences = contender.engine.differences(&contender.settings, &hello.settings);
            differences.into_iter().find(|difference| difference.in_force.is_none())
        });
        if let Some(unknown) = unknown {
            bail!(
                "the contender {} cannot be run: {} knows no setting '{}'{}",
                contender.label,
                contender.engine.name,
                unknown.name,
                offer(contender)
            );
        }
        let trouble = match trial {
            Ok(Trial { outcome: Outcome::Failed { message, .. }, .. }) => message,
            Ok(_) => continue,
            Err(error) => format!("{error:#}"),
        };
        // Perhaps it is missing altogether, which its trials tell and which costs the others nothing.
        let own: Vec<_> = contender.own_settings().into_iter().cloned().collect();
        let mut plain = contender.clone();
        plain.settings.retain(|setting| !own.contains(setting));
        if answer(&plain).is_ok_and(|trial| trial.outcome == Outcome::Finished) {
            bail!("the contender {} cannot be run: {trouble}{}", contender.label, offer(contender));
        }
    }
    Ok(())
}

/// What may have been meant by the first of its own settings that stands in no file of dyno's.
fn offer(contender: &Contender) -> String {
    let known = contender.engine.known_settings();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let own = contender.own_settings();
    let mut unknown = own.iter().filter(|setting| !known.contains(&setting.name.as_str()));
    let offer = unknown.find_map(|setting| nearest::offer(&setting.name, &known));
    offer.map(|offer| format!("; {offer}")).unwrap_or_default()
}
