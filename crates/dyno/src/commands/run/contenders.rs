//! Completes the list of contenders: adds the harness and the settings that apply to all, and leaves out
//! those of a suite's own contenders that are not available here.

use anyhow::{Context, Result, bail, ensure};
use dyno_engine::{Contender, Registry};
use dyno_lab::scratch::Scratch;
use dyno_lab::trial::{Reply, Servers, TrialOptions};
use dyno_launch::MemoryCap;
use dyno_nearest as nearest;
use dyno_plan::probe;
use dyno_protocol::Hello;
use dyno_record::{LeftOut, Limits};

use crate::terminal::say;

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
            if limits.cache_of_suite && (contender.engine.cache.is_none() || contender.names_cache) {
                continue;
            }
            let knob = contender.engine.cache.as_ref().with_context(|| {
                format!("{} has no setting for the size of a cache; leave --cache or it out", contender.label)
            })?;
            let setting = knob.of(bytes);
            contender.settings.retain(|known| known.name != setting.name);
            contender.settings.push(setting);
        }
    }
    if let Some(bytes) = limits.memory_bytes {
        if let Some(contender) = contenders.iter().find(|contender| contender.engine.has_server()) {
            bail!("--memory limits runners, and the memory of {} is its server's", contender.label);
        }
        // Refused now, with the reason, and not by every trial.
        MemoryCap::create(bytes)?;
    }
    Ok(contenders)
}

/// Asks each contender of the suite's own list for its version, and leaves out those that do not answer or do none of the
/// tests: a library, a language or a server that is not installed leaves the others working.
pub fn available(
    contenders: Vec<Contender>,
    does_tests: impl Fn(&Contender) -> Result<()>,
    conduct: &TrialOptions,
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
                    Reply::Missing(why) | Reply::Broken { why, .. } => Some(why),
                    Reply::Here(_) | Reply::Interrupted(_) => None,
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

/// Asks each contender that was named for its version, and refuses those that are missing here or whose settings do not take, so
/// that a server that is not installed is reported as early as a name that is misspelled. A runner that breaks off without a
/// reason is left to its trials, which report how.
pub fn check_reach(
    contenders: &[Contender],
    conduct: &TrialOptions,
    servers: &mut Servers,
    scratch: &Scratch,
) -> Result<()> {
    let mut troubles = Vec::new();
    for contender in contenders.iter().filter(|contender| !contender.engine.harness) {
        let directory = scratch.trial()?;
        let trouble = match conduct.ask(contender, probe(contender, directory.path()), servers) {
            Reply::Missing(why) => Some(format!("{why}{}", unknown_setting(contender))),
            Reply::Here(hello) => refused_settings(contender, &hello),
            Reply::Broken { left, .. } => {
                warn_of(left);
                None
            }
            Reply::Interrupted(left) => {
                warn_of(left);
                return Ok(());
            }
        };
        troubles.extend(trouble.map(|why| format!("the contender {} cannot be run: {why}", contender.label)));
    }
    ensure!(troubles.is_empty(), "{}", troubles.join("\n"));
    Ok(())
}

/// Prints which database may be left.
fn warn_of(left: Option<String>) {
    left.iter().for_each(|left| say(&format!("dyno: {left}")));
}

/// A phrase that lists the settings that are not in force as they were asked for.
fn refused_settings(contender: &Contender, hello: &Hello) -> Option<String> {
    let differences = contender.engine.differences(&contender.settings, &hello.settings);
    let words: Vec<String> = differences.iter().map(ToString::to_string).collect();
    (!words.is_empty()).then(|| format!("{}{}", words.join("; "), unknown_setting(contender)))
}

/// The nearest known name to a setting that stands in no file of dyno's.
fn unknown_setting(contender: &Contender) -> String {
    let known = contender.engine.known_settings();
    let is_cipher = |name: &str| contender.engine.encryption().is_some_and(|cipher| cipher.concerns(name));
    let names: Vec<&str> = known.iter().map(String::as_str).collect();
    let strange = contender.settings.iter().map(|setting| setting.name.as_str());
    let mut strange = strange.filter(|name| !known.contains(*name) && !is_cipher(name));
    strange
        .find_map(|name| nearest::offer(name, &names))
        .map_or_else(String::new, |offer| format!("; {offer}"))
}
